import Base
import Foundation
import Records
import TestSupport
import Testing
import TicTacToe

/// Each test makes 10,000 random inputs with `ALINA_MONKEY=1`, and 400 or 500 by default.
@Suite(.serialized, .long, .tidy, .enabled(if: WindowProgram.hasDisplay, "needs an X display; ./test brings one"))
struct MonkeyTests {
  private static let isLong = ProcessInfo.processInfo.environment["ALINA_MONKEY"] == "1"
  private static let keepsake = "# a word of mine\nkeepsake = 42\n"

  private static let keys =
    [
      "up", "down", "left", "right", "enter", "escape", "tab", "shift+tab", "home", "end", "pageup", "pagedown",
      "space",
    ]
    + (1...12).map { "f\($0)" } + "123456789hjklmnrs+-".map { "\($0)" }
    + ["ctrl+z", "ctrl+y", "ctrl+s", "ctrl+o", "ctrl+c", "ctrl+v", "backspace", "delete"]

  /// Texts with combining marks, right-to-left letters, a joined emoji or half of a flag.
  private static let texts = [
    "äx ", "e\u{301}", "\u{301}\u{308}", "กิ", "ש\u{5B0}ל", "ص\u{64E}ب ", "👩\u{200D}👩\u{200D}👧", "🇩", "字",
  ]

  /// The settings file of the new folder begins with the line `keepsake`, which no input can change.
  private func newFolder() throws -> URL {
    let folder = try WindowProgram.newFolder()
    let config = folder.appendingPathComponent("config/alina")
    try FileManager.default.createDirectory(at: config, withIntermediateDirectories: true)
    try Data(MonkeyTests.keepsake.utf8).write(to: config.appendingPathComponent("settings"))
    return folder
  }

  private func check(_ desk: WindowProgram) throws {
    #expect(desk.complaints == "")
    #expect(desk.settings.hasPrefix(MonkeyTests.keepsake), "\(desk.settings)")
    for line in desk.settings.split(separator: "\n") {
      #expect(line.hasPrefix("#") || line.split(separator: "=", maxSplits: 1).count == 2, "a setting '\(line)'")
    }
    for game in desk.games { _ = try Record(text: String(contentsOf: game, encoding: .utf8)) }
    #expect(!desk.spoken.contains { $0.hasPrefix("settings") })
  }

  @Test("Random scripted inputs cause no crash, no lost setting and no click in the sound")
  func script() throws {
    let folder = try newFolder()
    var generator = SplitMix64(seed: 20_261_121)
    func random(_ count: Int) -> Int { Int(generator.next() % UInt64(count)) }
    var worst = (click: 0.0, place: "")
    for part in 0..<(MonkeyTests.isLong ? 20 : 1) {
      var frame = 48_000
      var lines: [String] = []
      for _ in 0..<500 {
        frame += random(2_880)
        let (x, y) = (random(520) - 20, random(840) - 20)
        switch random(10) {
        case 0, 1: lines.append("\(frame) move \(x) \(y)")
        case 2, 3: lines.append("\(frame) click \(x) \(y)")
        case 4: lines.append("\(frame) touch \(x) \(y)")
        case 5: lines.append("\(frame) scroll \(random(9) - 4)")
        case 6: lines.append("\(frame) text \(MonkeyTests.texts[random(MonkeyTests.texts.count)])\(random(100))")
        case 7 where random(8) == 0: lines.append("\(frame) \(["hide", "show", "focus off", "focus on"][random(4)])")
        default: lines.append("\(frame) key \(MonkeyTests.keys[random(MonkeyTests.keys.count)])")
        }
      }
      // The inputs may have hidden the window.
      lines += ["\(frame + 1) show", "\(frame + 24_000) quit"]
      let script = folder.appendingPathComponent("script-\(part)")
      let raw = folder.appendingPathComponent("sound-\(part).raw")
      try Data(lines.joined(separator: "\n").utf8).write(to: script)
      let desk = try WindowProgram(
        ["--script", script.path, "--seed", "\(part)", "--size", "480x800", "--piano", "modal"],
        environment: ["SDL_AUDIODRIVER": "disk", "SDL_DISKAUDIOFILE": raw.path, "SDL_DISKAUDIODELAY": "0"],
        folder: folder, isAlone: true)
      #expect(try desk.waitForExit(seconds: MonkeyTests.isLong ? 900 : 120) == 0, "part \(part)")
      try check(desk)
      let heard = try Recording(rawFloat: raw)
      #expect(heard.peak < 0.99, "clipped in part \(part)")
      for line in lines {
        let at = line.prefix { $0.isNumber }
        let click = heard.click(at: Int(at) ?? 0)
        if click > worst.click { worst = (click, "part \(part), \(line)") }
      }
      try FileManager.default.removeItem(at: raw)
    }
    #expect(worst.click < 6, "\(worst.click) dB at \(worst.place)")
    print("scripted monkey: worst click measure \(worst.click) dB at \(worst.place)")
  }

  @Test("Random keys and clicks of a real keyboard and mouse cause no crash and no lost setting")
  func hands() throws {
    let folder = try newFolder()
    var generator = SplitMix64(seed: 4)
    func random(_ count: Int) -> Int { Int(generator.next() % UInt64(count)) }
    let names = [
      "enter": "Return", "up": "Up", "down": "Down", "left": "Left", "right": "Right", "escape": "Escape",
      "tab": "Tab", "shift+tab": "shift+Tab", "home": "Home", "end": "End", "pageup": "Prior", "pagedown": "Next",
      "+": "plus", "-": "minus", "backspace": "BackSpace", "delete": "Delete",
    ]
    var desk = try WindowProgram(["--size", "480x800"], folder: folder)
    for _ in 0..<(MonkeyTests.isLong ? 50 : 2) {
      var script = ""
      for _ in 0..<200 {
        switch random(8) {
        case 0, 1: script += "mousemove --window \(desk.window) \(random(480)) \(random(800)) click 1\n"
        case 2: script += "click \(4 + random(2))\n"
        default:
          let key = MonkeyTests.keys[random(MonkeyTests.keys.count)]
          script += "key --delay 0 \(names[key] ?? (key.hasPrefix("f") ? key.uppercased() : key))\n"
        }
        script += "sleep 0.003\n"
      }
      // xdotool fails if a key of the script ends the program: its window is then gone.
      try? desk.run(script: script)
      guard !desk.isRunning else { continue }
      #expect(try desk.waitForExit() == 0)
      try check(desk)
      desk = try WindowProgram(["--size", "480x800"], folder: folder)
    }
    // The window handles all earlier key presses before it quits, and a busy machine draws large pictures slowly.
    let status = try desk.quit(seconds: MonkeyTests.isLong ? 900 : 90)
    #expect(status == 0)
    try check(desk)
  }
}
