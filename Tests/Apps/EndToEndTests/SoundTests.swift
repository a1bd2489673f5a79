import Foundation
import Records
import TestSupport
import Testing
import TicTacToe

@Suite(.serialized, .long, .tidy, .enabled(if: WindowProgram.hasDisplay, "needs an X display; ./test brings one"))
struct SoundTests {
  private func savedRecord(_ desk: WindowProgram) throws -> Record {
    try Record(text: String(contentsOf: #require(desk.games.last), encoding: .utf8))
  }

  private func size(_ file: URL) throws -> Int {
    try FileManager.default.attributesOfItem(atPath: file.path)[.size] as? Int ?? 0
  }

  /// `bytes` is the size of a frame.
  private func wait(for frames: Int, of bytes: Int, in file: URL) throws {
    _ = try waitFor(seconds: 60, "\(frames) frames in \(file.path)") { try size(file) >= frames * bytes ? true : nil }
  }

  private func checkHealth(_ heard: Recording, _ record: Record) {
    #expect(heard.level > -60, "silent: \(heard.level) dBFS")
    #expect(heard.peak < 0.99, "clipped: \(heard.peak)")
    for frame in record.times.compactMap(\.frame) {
      let click = heard.click(at: Int(frame))
      #expect(click < 6, "a click of \(click) dB at frame \(frame)")
    }
  }

  @Test("A scripted game on the disk driver equals its offline render sample for sample")
  func script() throws {
    let folder = try WindowProgram.newFolder()
    let script = folder.appendingPathComponent("script")
    let raw = folder.appendingPathComponent("sound.raw")
    try Data("3s play b2\n9s play a1\n16s play a3\n22s play c3\n38s quit\n".utf8)
      .write(to: script)
    let begun = Date()
    let desk = try WindowProgram(
      ["--script", script.path, "--seed", "11", "--level", "2", "--piano", "modal"],
      environment: ["SDL_AUDIODRIVER": "disk", "SDL_DISKAUDIOFILE": raw.path, "SDL_DISKAUDIODELAY": "0"],
      folder: folder, isAlone: true)
    #expect(try desk.waitForExit(seconds: 60) == 0)
    let record = try savedRecord(desk)
    let recorded = try Recording(rawFloat: raw)
    let last = Int(record.times.last?.frame ?? 0)
    let rendered = try Recording(rendering: record, frames: last + 40_000)
    let heard = recorded.aligned(to: rendered)
    #expect(heard.frames >= last + 48_000)
    #expect(heard.firstDifference(from: rendered) == nil)
    #expect(record.game.moves.count == 7, "a move was refused: \(record.text)")
    checkHealth(heard, record)
    let seconds = Date().timeIntervalSince(begun)
    print("disk driver: \(heard.frames / 48_000) s of sound in \(String(format: "%.1f", seconds)) s")
  }

  @Test("A script continues while the window is hidden and silent, with the game intact")
  func hiddenScript() throws {
    let folder = try WindowProgram.newFolder()
    let script = folder.appendingPathComponent("script")
    let raw = folder.appendingPathComponent("sound.raw")
    try Data("3s play b2\n4s hide\n9s show\n16s play a3\n22s quit\n".utf8).write(to: script)
    try WindowProgram.set("background = silent\n", in: folder)
    let desk = try WindowProgram(
      ["--script", script.path, "--seed", "11", "--level", "2", "--piano", "modal"],
      environment: ["SDL_AUDIODRIVER": "disk", "SDL_DISKAUDIOFILE": raw.path, "SDL_DISKAUDIODELAY": "0"],
      folder: folder, isAlone: true)
    #expect(try desk.waitForExit(seconds: 60) == 0)
    let heard = try Recording(rawFloat: raw)
    #expect(heard.frames >= 22 * 48_000 && heard.frames < 24 * 48_000, "\(heard.frames) frames")
    for second in [4, 9, 16] {
      let click = heard.click(at: second * 48_000)
      #expect(click < 6, "a click of \(click) dB at \(second) s")
    }
    #expect(try savedRecord(desk).game.moves.count >= 3)
  }

  @Test("A game played in real time has the same notes at the same frames as its offline render")
  func realTime() throws {
    let folder = try WindowProgram.newFolder()
    let raw = folder.appendingPathComponent("sound.raw")
    let log = folder.appendingPathComponent("log")
    // The focus preview sounds only in the window, not in the offline render.
    try WindowProgram.set("preview = 0\n", in: folder)
    let desk = try WindowProgram(
      ["--seed", "4", "--level", "perfect", "--piano", "modal", "--latency-log", log.path],
      environment: ["SDL_AUDIODRIVER": "disk", "SDL_DISKAUDIOFILE": raw.path], folder: folder)
    try desk.park()
    let keypad = ["7", "8", "9", "4", "5", "6", "1", "2", "3"]
    let record = try desk.play(.x, .best) { try desk.press(keypad[$0]) }
    #expect(record.game.isOver)
    try wait(for: 60_000 + Int(record.times.last?.frame ?? 0), of: 8, in: raw)
    #expect(try desk.quit() == 0)
    let final = try savedRecord(desk)
    let heard = try Recording(rawFloat: raw)
    checkHealth(heard, final)
    let count = min(heard.frames, Int(final.times.last?.frame ?? 0) + 48_000)
    let rendered = try Recording(rendering: final, frames: count)
    let error = Recording(zip(heard.samples, rendered.samples).map { $0 - $1 })
    let difference = rendered.level - error.level
    #expect(difference > 30, "live and offline differ at \(difference) dB")
    let (correlation, lag) = Recording.match(rendered.envelope(), heard.envelope(), lags: -10...10)
    #expect(correlation > 0.99 && lag == 0, "correlation \(correlation) at \(lag * 20) ms")
    print("real time against offline: \(difference) dB; envelope correlation \(correlation)")
    print(try String(contentsOf: log, encoding: .utf8))
  }

  @Test("A real PulseAudio server receives the sound of the game", .needs("pulseaudio", "parec"))
  func pulseAudio() throws {
    let folder = try WindowProgram.newFolder()
    let server = try PulseServer(folder)
    defer { server.stop() }
    let raw = folder.appendingPathComponent("monitor.raw")
    let recorder = try Child(
      ["parec", "-d", "nul.monitor", "--format=s16le", "--rate=48000", "--channels=2", "--latency-msec=20"],
      environment: server.environment, output: .file(raw.path))
    let desk = try WindowProgram(
      ["--seed", "6", "--level", "perfect", "--piano", "modal"],
      environment: server.environment.merging(["SDL_AUDIODRIVER": "pulseaudio"]) { $1 }, folder: folder)
    try desk.park()
    let keypad = ["7", "8", "9", "4", "5", "6", "1", "2", "3"]
    let record = try desk.play(.x, .best) { try desk.press(keypad[$0]) }
    // 72,000 frames (1.5 s) more contain the last downbeat.
    try wait(for: 72_000 + size(raw) / 4, of: 4, in: raw)
    #expect(try desk.quit() == 0)
    recorder.kill()
    let heard = try Recording(raw16: raw)
    #expect(heard.level > -70, "silent: \(heard.level) dBFS")
    #expect(heard.peak < 0.99)
    let count = Int(record.times.last?.frame ?? 0) + 48_000
    let rendered = try Recording(rendering: record, frames: count)
    // The recorder started before the program, at an unknown time. Finds the lag in steps of 20 ms, then of 1 ms, because an error of 10 ms
    // lowers the correlation by 0.05.
    let written = rendered.envelope()
    let coarse = Recording.match(written, heard.envelope(), lags: -50...1_000).lag
    let (correlation, milliseconds) =
      (0..<20).map { offset in
        let match = Recording.match(written, heard.envelope(from: offset * 48), lags: coarse - 1...coarse + 1)
        return (match.correlation, match.lag * 20 + offset)
      }.max { $0.0 < $1.0 } ?? (0, 0)
    #expect(correlation > 0.98, "correlation \(correlation) at \(milliseconds) ms")
    print("PulseAudio monitor against offline: envelope correlation \(correlation) at \(milliseconds) ms")
  }
}
