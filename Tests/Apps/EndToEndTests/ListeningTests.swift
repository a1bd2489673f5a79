import Foundation
import GameScore
import Records
import ScoreIO
import ScoreModel
import TestSupport
import Testing
import TicTacToe
import Tintinnabuli

@Suite(.serialized, .long, .tidy, .enabled(if: WindowProgram.hasDisplay, "needs an X display; ./test brings one"))
struct ListeningTests {
  /// Runs the program faster than real time with a script of inputs. SDL's disk driver records its sound.
  private func hear(_ lines: [String], _ arguments: [String], settings: String = "") throws -> Recording {
    let folder = try WindowProgram.newFolder()
    let config = folder.appendingPathComponent("config/alina")
    try FileManager.default.createDirectory(at: config, withIntermediateDirectories: true)
    try Data(settings.utf8).write(to: config.appendingPathComponent("settings"))
    let script = folder.appendingPathComponent("script")
    let raw = folder.appendingPathComponent("sound.raw")
    try Data(lines.joined(separator: "\n").utf8).write(to: script)
    let desk = try WindowProgram(
      ["--script", script.path, "--seed", "3", "--piano", "modal"] + arguments,
      environment: ["SDL_AUDIODRIVER": "disk", "SDL_DISKAUDIOFILE": raw.path, "SDL_DISKAUDIODELAY": "0"],
      folder: folder, isAlone: true)
    #expect(try desk.waitForExit(seconds: 120) == 0)
    #expect(desk.complaints == "")
    return try Recording(rawFloat: raw)
  }

  @Test("Every sign of the help page sounds when its line is pressed, and no two sound alike")
  func signs() throws {
    let (count, every) = (16, 6)
    var lines: [String] = []
    for sign in 0..<count {
      let second = 10 + sign * every
      lines += ["\(second)s key enter", "\(second + every - 1)s key down"]
    }
    lines.append("\(10 + count * every)s quit")
    // The drone and the focus preview would sound between the signs.
    let heard = try hear(lines, ["--scene", "help"], settings: "drone = 0\npreview = 0\n")
    var windows: [[Float]] = []
    for sign in 0..<count {
      let from = (10 + sign * every) * 96_000
      windows.append(Array(heard.samples[from + 9_600..<from + (every - 1) * 96_000]))
      #expect(Recording(windows[sign]).level > -62, "sign \(sign) is silent: \(Recording(windows[sign]).level) dBFS")
    }
    for a in 0..<count {
      for b in a + 1..<count { #expect(windows[a] != windows[b], "signs \(a) and \(b) sound the same") }
    }
    #expect(heard.peak < 0.99)
  }

  @Test("A replay from the middle of a game sounds like the game from that bar on")
  func replay() throws {
    var record = Record()
    for cell in [4, 1, 0, 8, 6, 2, 3] { try record.game.play(Square(cell)) }
    let file = try WindowProgram.newFolder().appendingPathComponent("game.pgn")
    try Data(record.text.utf8).write(to: file)
    let heard = try hear(
      ["12s key home", "12.1s key right", "12.2s key right", "12.3s key right", "13s key space", "26s quit"],
      [file.path], settings: "drone = 0\n")
    let rules = try RuleLibrary.load().rules
    let music = Rendition(of: record, rules: rules)
    let bar = try #require(music.bars.first { $0.kind == .move && $0.ply == 3 })
    let start = Int(bar.start.rawValue)
    let offline = try Recording(rendering: record, human: nil, frames: start + 12 * 48_000)
    // The replay starts up to 1 s after the key Space at 13 s. `lags` are in windows of 20 ms.
    let played = Array(Recording(Array(heard.samples[(13 * 96_000)..<(26 * 96_000)])).envelope().prefix(600))
    let written = Array(Recording(Array(offline.samples[(start * 2)...])).envelope().prefix(550))
    let (correlation, lag) = Recording.match(written, played, lags: 0...50)
    #expect(correlation > 0.9, "correlation \(correlation) at \(lag * 20) ms")
    print("replay against offline: correlation \(correlation) at \(lag * 20) ms")
  }
}
