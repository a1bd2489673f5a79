import Foundation
import Records
import ScoreIO
import TestSupport
import Testing
import TicTacToe

@Suite(.serialized, .long, .tidy, .enabled(if: WindowProgram.hasDisplay, "needs an X display; ./test brings one"))
struct RulesTests {
  @Test("A rule file saved during play applies without gap or click; an invalid edit is reported and ignored")
  func reload() throws {
    let folder = try WindowProgram.newFolder()
    let standard = try RuleLibrary.load()
    let text = try String(contentsOfFile: standard.path, encoding: .utf8)
    let rules = folder.appendingPathComponent("mine.yaml")
    func save(_ changes: (String, String)...) throws {
      var text = text
      for (old, new) in changes {
        #expect(text.contains(old))
        text = text.replacingOccurrences(of: old, with: new)
      }
      try text.write(to: rules, atomically: false, encoding: .utf8)
    }
    try save()
    try WindowProgram.set("preview = 0\n", in: folder)
    let raw = folder.appendingPathComponent("sound.raw")
    let desk = try WindowProgram(
      ["--score-rules", rules.path, "--seed", "5", "--level", "person", "--piano", "modal"],
      environment: ["SDL_AUDIODRIVER": "disk", "SDL_DISKAUDIOFILE": raw.path], folder: folder)
    func hears(_ line: String) throws {
      try waitFor(seconds: 10, "'\(line)' to be told; last: \(desk.spoken.suffix(3))") {
        desk.spoken.contains { $0.contains(line) } ? () : nil
      }
    }
    func frames() -> Int {
      let size = (try? FileManager.default.attributesOfItem(atPath: raw.path))?[.size] as? Int
      return (size ?? 0) / 8
    }
    func listen(seconds: Double) throws {
      let end = frames() + Int(seconds * 48_000)
      try waitFor(seconds: 60, "\(seconds) s of sound") { frames() >= end ? () : nil }
    }
    try desk.park()
    try desk.press("5")
    try listen(seconds: 1.5)
    // The shorter notes apply from the next bar on, the softer reverb at once.
    try save(("short: 1.05 ", "short: 0.62 "), ("reverb-send: -7.5", "reverb-send: -12"))
    let good = try RuleLibrary.load(rules.path)
    #expect(good.hash != standard.hash)
    try hears("Music: alina")
    let changed = frames()
    try listen(seconds: 1)
    try save(("short: 1.05 ", "short: quick "))
    try hears("bars.short: must be a number")
    let refused = frames()
    try desk.press("1")
    try listen(seconds: 5)
    #expect(try desk.quit() == 0)
    let record = try Record(text: String(contentsOf: #require(desk.games.last), encoding: .utf8))
    #expect(record.game.moves.count == 2)
    #expect(record.scoreRules == Record.ScoreRules(name: "mine.yaml", hash: good.hash))
    let heard = try Recording(rawFloat: raw)
    for moment in [changed, refused] {
      for frame in stride(from: max(4_800, moment - 72_000), to: min(moment + 72_000, heard.frames - 4_800), by: 2_400)
      {
        let click = heard.click(at: frame)
        #expect(click < 6, "a click of \(click) dB at frame \(frame), rules changed about \(moment)")
      }
    }
    // Leaves out the last block (2,048 samples): SDL may request it while the window closes the device, and it may then be empty.
    let silent = heard.samples.dropFirst(96_000).dropLast(2_048).split { $0 != 0 }.map(\.count).max() ?? 0
    #expect(silent < 128, "a gap of \(silent / 2) frames")
    // Saves the changed rules again, because the file is invalid now. From the second move on the recording must be nearer to a render by
    // these rules than to a render by the standard rules.
    try save(("short: 1.05 ", "short: 0.62 "), ("reverb-send: -7.5", "reverb-send: -12"))
    let second = Int(try #require(record.times[1].frame))
    let count = min(heard.frames, second + 3 * 48_000)
    func differs(_ rules: String?) throws -> Double {
      let rendered = try Recording(rendering: record, rules: rules, frames: count)
      let part = { (sound: Recording) in Recording(Array(sound.samples[2 * second..<2 * count])) }
      let error = zip(part(heard).samples, part(rendered).samples).map { $0 - $1 }
      return part(rendered).level - Recording(error).level
    }
    let (now, before) = (try differs(rules.path), try differs(nil))
    print("after the reload: \(now) dB from the new rules, \(before) dB from the old")
    #expect(now > before + 4)
  }

  @Test(
    "The record of a game that the player lost (seed, rules, pace, side) suffices to render the game as it was heard")
  func record() throws {
    let folder = try WindowProgram.newFolder()
    let script = folder.appendingPathComponent("script")
    let raw = folder.appendingPathComponent("sound.raw")
    try Data("3s play b1\n12s play a2\n21s play c2\n30s play a3\n60s quit\n".utf8).write(to: script)
    let desk = try WindowProgram(
      [
        "--script", script.path, "--seed", "8", "--level", "perfect", "--piano", "modal", "--score-rules", "night",
        "--pace", "1.2",
      ],
      environment: ["SDL_AUDIODRIVER": "disk", "SDL_DISKAUDIOFILE": raw.path, "SDL_DISKAUDIODELAY": "0"],
      folder: folder, isAlone: true)
    #expect(try desk.waitForExit(seconds: 90) == 0)
    let file = try #require(desk.games.last)
    let record = try Record(text: String(contentsOf: file, encoding: .utf8))
    #expect(record.game.end?.outcome == .win(.o), "the game did not end in a loss: \(record.text)")
    #expect(record.human == .x && record.pace == 1.2 && record.scoreRules?.name == "night")
    let wav = folder.appendingPathComponent("sound.wav")
    let score = WindowProgram.program.deletingLastPathComponent().appendingPathComponent("alina-score").path
    try WindowProgram.shell(score, "render", file.path, "--wav", wav.path)
    let rendered = try Sound(path: wav.path)
    let heard = try Recording(rawFloat: raw)
    let count = min(heard.frames, rendered.frames.count)
    #expect(count > 45 * 48_000)
    // The rendered file is rounded to 24 bits per sample.
    var worst: Float = 0
    for frame in 0..<count {
      let left = abs(heard.samples[2 * frame] - rendered.frames[frame].x)
      let right = abs(heard.samples[2 * frame + 1] - rendered.frames[frame].y)
      worst = max(worst, left, right)
    }
    #expect(worst < 2.5e-7, "differs by \(worst)")
  }
}
