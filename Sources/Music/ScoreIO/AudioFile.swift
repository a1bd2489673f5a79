import CSndfile
import Glibc
@_exported import ScoreFormats

/// Writes a stereo sound file: 24-bit WAV or FLAC.
package final class AudioFile {
  package enum Format: Sendable {
    case wav, flac
  }

  private let descriptor: Int32
  private let path: String
  private var file: OpaquePointer?
  /// The errno of the first write that failed; 0 if none failed. libsndfile does not report a failure of its last writes.
  private var failure: Int32 = 0

  /// The most bytes of a WAV file (4 h 8 min), whose header has 32-bit lengths. Longer files are RF64 (EBU Tech 3306).
  private static let longestWAV = Int(UInt32.max) - 4_096

  /// Creates a file for the given number of frames; throws `ScoreFileError` if that fails.
  package init(path: String, format: Format, frames: Int, sampleRate: Int = 48_000) throws(ScoreFileError) {
    self.path = path
    descriptor = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else { throw ScoreFileError(unwritable: path, errno) }
    var info = SF_INFO()
    info.samplerate = Int32(sampleRate)
    info.channels = 2
    let major = format == .flac ? SF_FORMAT_FLAC : frames * 6 > Self.longestWAV ? SF_FORMAT_RF64 : SF_FORMAT_WAV
    info.format = Int32(major | SF_FORMAT_PCM_24)
    // libsndfile copies the table of functions, so a local variable suffices.
    var access = Self.access
    file = sf_open_virtual(&access, Int32(SFM_WRITE), &info, Unmanaged.passUnretained(self).toOpaque())
    guard file != nil, failure == 0 else { throw refusal }
    alina_sf_set_clipping(file)
  }

  /// Appends interleaved stereo samples −1…1.
  package func write(_ samples: UnsafeBufferPointer<Float>) throws(ScoreFileError) {
    let frames = sf_count_t(samples.count / 2)
    guard let base = samples.baseAddress else { return }
    guard sf_writef_float(file, base, frames) == frames, failure == 0 else { throw refusal }
  }

  /// Writes the remaining samples and the header's lengths. The file is complete only if this function does not throw.
  package func finish() throws(ScoreFileError) {
    sf_close(file)
    file = nil
    guard failure == 0 else { throw refusal }
  }

  deinit {
    if file != nil { sf_close(file) }
    if descriptor >= 0 { close(descriptor) }
  }

  private var refusal: ScoreFileError {
    failure != 0
      ? ScoreFileError(unwritable: path, failure)
      : ScoreFileError("\(path): cannot be written (\(String(cString: sf_strerror(file))))")
  }

  private static func of(_ context: UnsafeMutableRawPointer?) -> AudioFile {
    guard let context else { preconditionFailure("libsndfile lost its file") }
    return Unmanaged<AudioFile>.fromOpaque(context).takeUnretainedValue()
  }

  private static var access: SF_VIRTUAL_IO {
    SF_VIRTUAL_IO(
      get_filelen: { context in
        var status = stat()
        return fstat(AudioFile.of(context).descriptor, &status) == 0 ? sf_count_t(status.st_size) : -1
      },
      seek: { sf_count_t(lseek(AudioFile.of($2).descriptor, off_t($0), $1)) },
      read: { sf_count_t(Glibc.read(AudioFile.of($2).descriptor, $0, Int($1))) },
      write: { bytes, count, context in
        let sound = AudioFile.of(context)
        var done = 0
        while done < Int(count) {
          let written = Glibc.write(sound.descriptor, bytes?.advanced(by: done), Int(count) - done)
          if written > 0 {
            done += written
          } else if errno != EINTR {
            if sound.failure == 0 { sound.failure = errno }
            break
          }
        }
        return sf_count_t(done)
      },
      tell: { sf_count_t(lseek(AudioFile.of($0).descriptor, 0, SEEK_CUR)) })
  }
}

/// An error that the user can correct. `description` has one line, or one line for each error in a rule file.
package struct ScoreFileError: Error, CustomStringConvertible, Sendable, Hashable {
  package let description: String
  /// The system's error number if the system refused to write the file; `nil` for other errors.
  package let number: Int32?

  package init(_ description: String, number: Int32? = nil) { (self.description, self.number) = (description, number) }

  package init(unwritable path: String, _ number: Int32) {
    self.init("\(path): cannot be written (\(String(cString: strerror(number))))", number: number)
  }
}
