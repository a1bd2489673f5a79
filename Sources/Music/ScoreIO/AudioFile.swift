import CSndfile
@_exported import ScoreFormats

/// A sound file being written: WAV in 24 bits or FLAC in 24 bits, stereo.
package final class AudioFile {
  package enum Format: Sendable {
    case wav, flac
  }

  private let file: OpaquePointer
  private let path: String

  /// Creates the file; throws `ScoreFileError` if it cannot.
  package init(path: String, format: Format, sampleRate: Int = 48_000) throws(ScoreFileError) {
    var info = SF_INFO()
    info.samplerate = Int32(sampleRate)
    info.channels = 2
    let major = format == .wav ? SF_FORMAT_WAV : SF_FORMAT_FLAC
    info.format = Int32(major | SF_FORMAT_PCM_24)
    guard let file = sf_open(path, Int32(SFM_WRITE), &info) else {
      throw ScoreFileError("\(path): cannot be written (\(String(cString: sf_strerror(nil))))")
    }
    alina_sf_set_clipping(file)
    self.file = file
    self.path = path
  }

  /// Appends interleaved stereo samples, −1…1.
  package func write(_ samples: UnsafeBufferPointer<Float>) throws(ScoreFileError) {
    let frames = sf_count_t(samples.count / 2)
    guard let base = samples.baseAddress else { return }
    guard sf_writef_float(file, base, frames) == frames else {
      throw ScoreFileError("\(path): cannot be written (\(String(cString: sf_strerror(file))))")
    }
  }

  deinit { sf_close(file) }
}

/// Something about a file that its user must mend: one line.
package struct ScoreFileError: Error, CustomStringConvertible, Sendable, Hashable {
  package let description: String

  package init(_ description: String) { self.description = description }
}
