import GameScore
import Glibc
import Play
import Processes
import Records
import ScoreIO
import ScoreModel
import Screen
import Synth

/// Makes a film of a game with ffmpeg: board, score and sound.
package struct FilmMaker {
  private let record: Record
  private let rendition: Rendition
  private let names: (x: String, o: String)

  package struct NoFFmpeg: Error, CustomStringConvertible {
    package let description = "a film needs ffmpeg, which is not installed"
  }

  /// Frames a second.
  private static let rate = 30

  package init(_ record: Record, _ rendition: Rendition, names: (x: String, o: String)) {
    (self.record, self.rendition, self.names) = (record, rendition, names)
  }

  /// Writes an MP4 file. `width` and `height` are even numbers of 320…3840 pixels; `engine` has its patch and piano already.
  /// `done` and `all` are seconds of the film; an error that `progress` throws ends the work.
  /// Throws: `NoFFmpeg`, or `ScoreFileError` if ffmpeg fails or a file cannot be written.
  package func write(
    to path: String, width: Int, height: Int, engine: Engine,
    progress: (_ done: Double, _ all: Double) throws -> Void
  ) throws {
    try OutputFile.write(path) { try make($0, width, height, engine, progress) }
  }

  private func make(
    _ path: String, _ width: Int, _ height: Int, _ engine: Engine,
    _ progress: (_ done: Double, _ all: Double) throws -> Void
  ) throws {
    guard let file = fopen(path, "we") else { throw ScoreFileError("\(path): \(String(cString: strerror(errno)))") }
    fclose(file)
    let (sound, errors) = ("\(path).wav", "\(path).errors")
    defer {
      unlink(sound)
      unlink(errors)
    }
    // In the progress, the sound counts as a tenth of the work and the pictures as the rest.
    try OfflineSound(rendition.events, end: rendition.end).write(to: sound, format: .wav, engine: engine) { done, all in
      try progress(done / 10, all)
    }
    let (reading, writing) = try makePipe()
    let ffmpeg: pid_t
    do throws(SpawnError) {
      defer { close(reading) }
      ffmpeg = try spawn(
        Self.command(width, height, sound: sound, to: path), input: .descriptor(reading), errors: .file(errors))
    } catch {
      close(writing)
      if error.code == ENOENT { throw NoFFmpeg() }
      throw ScoreFileError(error.description)
    }
    do {
      defer { close(writing) }
      try shoot(width, height, into: writing, progress: progress)
    } catch {
      kill(ffmpeg, SIGKILL)
      _ = reap(ffmpeg)
      throw error
    }
    guard reap(ffmpeg) == 0 else {
      throw ScoreFileError("\(path): ffmpeg could not make the film: \(Self.lastLine(of: errors))")
    }
  }

  private static func command(_ width: Int, _ height: Int, sound: String, to path: String) -> [String] {
    let picture = ["-f", "rawvideo", "-pixel_format", "bgr0", "-video_size", "\(width)x\(height)"]
    let codecs = ["-c:v", "libx264", "-preset", "veryfast", "-crf", "20", "-pix_fmt", "yuv420p", "-c:a", "aac"]
    return ["ffmpeg", "-y", "-nostdin", "-loglevel", "error"] + picture
      + ["-framerate", "\(rate)", "-i", "pipe:0", "-i", sound] + codecs
      + ["-b:a", "192k", "-movflags", "+faststart", "-shortest", "-f", "mp4", path]
  }

  /// Returns early if ffmpeg has ended; the caller then reports ffmpeg's error.
  private func shoot(
    _ width: Int, _ height: Int, into pipe: Int32, progress: (_ done: Double, _ all: Double) throws -> Void
  ) throws {
    signal(SIGPIPE, SIG_IGN)
    var stage = FilmStage(record, rendition, names: names)
    let length = (rendition.end + OfflineRenderer.tail).seconds
    let buffer = PixelBuffer(width: width, height: height)
    for frame in 0..<Int(length * Double(Self.rate)) {
      let now = Double(frame) / Double(Self.rate)
      _ = stage.draw(into: buffer.bitmap, isNew: frame == 0, at: now)
      for y in 0..<height {
        var row = UnsafeRawBufferPointer(start: buffer.bitmap.pixels + y * buffer.bitmap.stride, count: 4 * width)
        while !row.isEmpty {
          let count = Glibc.write(pipe, row.baseAddress, row.count)
          if count < 0, errno == EINTR { continue }
          guard count > 0 else { return }
          row = UnsafeRawBufferPointer(rebasing: row[count...])
        }
      }
      try progress(length / 10 + 0.9 * now, length)
    }
  }

  private static func lastLine(of path: String) -> String {
    guard let file = fopen(path, "re") else { return "" }
    defer { fclose(file) }
    var text = [UInt8](repeating: 0, count: 4_096)
    let count = fread(&text, 1, text.count, file)
    return String(decoding: text.prefix(count), as: UTF8.self).split(separator: "\n").last.map(String.init) ?? ""
  }
}
