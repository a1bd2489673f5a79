import Foundation
import Records
import TestSupport
import Testing
import TicTacToe

@Suite(.serialized, .tidy, .enabled(if: WindowProgram.hasDisplay, "needs an X display; ./test brings one"))
struct PagesTests {
  /// The menu items that open a page, with the page's name.
  private static let lines = [
    ("New game", "new-game"), ("Play online", "network"), ("Saved games", "games"),
    ("Statistics", "statistics"), ("Help and music guide", "help"), ("Settings", "settings"),
  ]

  @Test(
    "Every page opens and closes by mouse, from 320×480 to 3840×2160", .long,
    arguments: [(320, 480), (480, 800), (1_280, 720), (2_560, 1_440), (3_840, 2_160)])
  func mouse(_ width: Int, _ height: Int) throws {
    let desk = try WindowProgram(["--size", "\(width)x\(height)", "--level", "1", "--reply", "immediate"])
    let geometry = try WindowProgram.shell("xdotool", "getwindowgeometry", "--shell", desk.window)
    #expect(geometry.contains("WIDTH=\(width)\n") && geometry.contains("HEIGHT=\(height)"))
    try desk.click("b2")
    _ = try waitFor(seconds: 10, "two moves") { desk.spoken.filter { $0.contains(" plays ") }.count >= 2 ? true : nil }
    for (line, page) in PagesTests.lines {
      try desk.click("Menu")
      try desk.wait(page: "contents")
      try desk.click(line)
      try desk.wait(page: page)
      try desk.click("Back")
      try desk.wait(page: "contents")
      try desk.click("Back")
      try desk.wait(page: "board")
    }
    try desk.click("Menu")
    try desk.click("Resign")
    try desk.wait(page: "board")
    let controls = try waitFor(seconds: 10, "the end") { () -> [String]? in
      let words = desk.page?.controls.map(\.words) ?? []
      return words.contains("Rematch") ? words : nil
    }
    let isBeside = controls.contains("See why")
    if !isBeside { try desk.click("Menu") }
    try desk.click(isBeside ? "See why" : "Review")
    try desk.wait(page: "review")
    try desk.click("Play the music")
    try desk.click("Stop")
    try desk.click("Back")
    if !isBeside { try desk.click("Back") }
    try desk.wait(page: "board")
    #expect(try desk.quit() == 0)
    #expect(desk.complaints == "")
  }

  @Test("With the keyboard alone every page opens, and a game is set up, reviewed and found again", .long)
  func keyboard() throws {
    let desk = try WindowProgram(["--level", "1", "--reply", "immediate"])
    try desk.park()
    for (line, page) in PagesTests.lines {
      try desk.press("Escape")
      try desk.wait(page: "contents")
      if line != "New game" { try desk.walk(to: line) }
      try desk.press("Return")
      try desk.wait(page: page)
      try desk.press("Escape")
      try desk.wait(page: "contents")
      try desk.press("Escape")
      try desk.wait(page: "board")
    }
    // Chooses a person, one step left of Pip (the opponent set by `--level 1`), and a clock of five minutes a side.
    try desk.press("n")
    try desk.wait(page: "new-game")
    try desk.walk(to: "Opponent (Pip is the easiest, Alina never loses)", by: "Tab")
    try desk.press("Left")
    try desk.walk(to: "Time control", by: "Tab")
    try desk.press("Right", "Right", "Right")
    try desk.walk(to: "Start", by: "Tab")
    try desk.press("Return")
    try desk.wait(page: "board")
    try desk.wait(setting: "opponent = person")
    for digit in ["5", "1", "7", "3", "2"] {
      let count = desk.spoken.count
      try desk.press(digit)
      _ = try waitFor(seconds: 5, "the move") {
        desk.spoken.dropFirst(count).contains { $0.contains(" plays ") } ? true : nil
      }
    }
    try desk.press("Escape")
    try desk.walk(to: "Resign")
    try desk.press("Return")
    try desk.wait(page: "board")
    try desk.press("Escape")
    try desk.walk(to: "Review")
    try desk.press("Return")
    try desk.wait(page: "review")
    let count = desk.spoken.count
    try desk.press("Home")
    try desk.hear("The empty board", after: count)
    try desk.press("Right")
    try desk.hear("1. X b2", after: count)
    try desk.press("ctrl+c", "Escape", "Escape")
    try desk.wait(page: "board")
    try desk.press("ctrl+v")
    try desk.wait(page: "review")
    try desk.press("Escape", "ctrl+o")
    try desk.wait(page: "games")
    try desk.press("Return")
    try desk.wait(page: "review")
    #expect(try desk.quit() == 0)
    let record = try Record(text: String(contentsOf: try #require(desk.games.last), encoding: .utf8))
    #expect(record.timeControl == "300+0")
    #expect(record.game.end == GameEnd(outcome: .win(.x), termination: .resignation))
    #expect(desk.complaints == "")
  }

  @Test("A game can be played to its end by the spoken lines alone")
  func ear() throws {
    let desk = try WindowProgram(["--level", "random", "--reply", "immediate", "--seed", "8"])
    try desk.park()
    let endings = ["You win", "You lose", "A draw"]
    var steps = 0
    while !desk.spoken.contains(where: { line in endings.contains { line.hasPrefix($0) } }) {
      #expect(steps < 100, "the game does not end: \(desk.spoken.suffix(30))")
      guard steps < 100 else { return }
      // At an edge the focus wraps around. So two steps right and one down, repeated, reach all nine cells.
      let before = desk.spoken.count
      try desk.press(["Right", "Right", "Down"][steps % 3])
      steps += 1
      let cell = try waitFor(seconds: 5, "the cell to be said") {
        desk.spoken.dropFirst(before).first { $0.dropFirst(2).hasPrefix(", ") }
      }
      guard cell.hasSuffix("empty") else { continue }
      let played = desk.spoken.count
      try desk.press("Return")
      try desk.hear("X plays \(cell.prefix(2))", after: played)
      _ = try waitFor(seconds: 10, "the turn to come back") {
        desk.spoken.dropFirst(played).contains { line in
          line.hasPrefix("Your move") || endings.contains { line.hasPrefix($0) }
        } ? true : nil
      }
    }
    #expect(try desk.quit() == 0)
  }

  @Test("Settings apply at once, survive kill -9, and switch to German")
  func settings() throws {
    let folder = try WindowProgram.newFolder()
    let first = try WindowProgram(["--scene", "settings"], folder: folder)
    try first.click("Theme: dark")
    try first.wait(setting: "theme = dark")
    let dark = try waitFor(seconds: 5, "dark paper") { () -> WindowProgram.Picture? in
      let picture = try first.picture()
      return picture.bytes[0] < 80 ? picture : nil
    }
    #expect(dark.bytes[0] < 80)
    try first.click("Animations: reduced")
    try first.wait(setting: "reduced-motion = yes")
    try first.click("Sound while the window is hidden: drone only")
    try first.wait(setting: "background = drone")
    try first.click("Language: Deutsch")
    try first.wait(setting: "language = de")
    try first.click("Textgröße: 150 %")
    try first.wait(setting: "text-scale = 1.5")
    first.killHard()
    let second = try WindowProgram(["--scene", "settings"], folder: folder)
    try second.hear("Einstellungen")
    _ = try waitFor(seconds: 10, "the page in German") {
      second.page?.controls.contains { $0.words.hasPrefix("Design: dunkel") } == true ? true : nil
    }
    #expect(try second.picture().bytes[0] < 80)
    #expect(try second.quit() == 0)
  }

  @Test("An invalid settings file is set aside with a notice, and defaults are used")
  func damagedSettings() throws {
    let folder = try WindowProgram.newFolder()
    let config = folder.appendingPathComponent("config/alina")
    try FileManager.default.createDirectory(at: config, withIntermediateDirectories: true)
    let damaged = Data([0x74, 0x68, 0xFF, 0x00, 0x0A, 0x3D])
    try damaged.write(to: config.appendingPathComponent("settings"))
    let desk = try WindowProgram([], folder: folder)
    try desk.hear("\(config.path)/settings was damaged. A copy is in")
    #expect(try Data(contentsOf: config.appendingPathComponent("settings.broken")) == damaged)
    #expect(try desk.quit() == 0)
    #expect(desk.settings.hasPrefix("# Settings of Alina"))
  }

  @Test("A resized window lays out its page again, and cells are clicked at their new places")
  func resize() throws {
    let desk = try WindowProgram(["--level", "person"])
    let before = try waitFor(seconds: 5, "the board") { desk.page?.controls.first { $0.words.hasPrefix("c3") } }
    try WindowProgram.shell("xdotool", "windowsize", desk.window, "480", "800")
    let after = try waitFor(seconds: 5, "another layout") {
      desk.page?.controls.first { $0.words.hasPrefix("c3") && $0.x != before.x }
    }
    #expect(after.x < 480)
    try desk.click("c3")
    try desk.hear("X plays c3")
    #expect(try desk.quit() == 0)
  }

  @Test("A touch marks the cell where it is released, and a dropped file opens for review")
  func touch() throws {
    let folder = try WindowProgram.newFolder()
    let file = folder.appendingPathComponent("dropped.pgn")
    try Data("[White \"Ida\"]\n[Black \"Jan\"]\n\n1. b2 a1 2. c3 *\n".utf8).write(to: file)
    let script = folder.appendingPathComponent("script")
    let (x, y) = WindowProgram.center(of: 4)
    try Data("2s touch \(x) \(y)\n4s drop \(file.path)\n6s key left\n8s quit\n".utf8).write(to: script)
    let desk = try WindowProgram(
      ["--script", script.path, "--level", "person"],
      environment: [
        "SDL_AUDIODRIVER": "disk", "SDL_DISKAUDIOFILE": folder.appendingPathComponent("raw").path,
        "SDL_DISKAUDIODELAY": "0",
      ], folder: folder, isAlone: true)
    #expect(try desk.waitForExit(seconds: 60) == 0)
    try desk.hear("X plays b2", seconds: 1)
    let opened = try desk.hear("Review", seconds: 1)
    try desk.hear("2. O a1", after: opened, seconds: 1)
    let record = try Record(text: String(contentsOf: #require(desk.games.last), encoding: .utf8))
    #expect(record.game.moves.map(\.name) == ["b2"])
  }

  @Test("Exporting the music writes sound, MIDI, notation, a page and the game", .long)
  func keep() throws {
    let desk = try WindowProgram(["--level", "person", "--piano", "modal"])
    for cell in ["a1", "a2", "b2", "b1", "c3"] { try desk.click(cell) }
    try desk.hear("X wins")
    try desk.click("Export the music")
    try desk.hear("Exported to", seconds: 60)
    let pieces = desk.folder.appendingPathComponent("data/alina/pieces")
    let names = try FileManager.default.contentsOfDirectory(atPath: pieces.path)
    let folder = pieces.appendingPathComponent(try #require(names.first))
    let beginnings = [
      "game.pgn": "[Event", "piece.mid": "MThd", "piece.musicxml": "<?xml", "piece.png": "\u{89}PNG",
      "piece.flac": "fLaC",
    ]
    #expect(Set(try FileManager.default.contentsOfDirectory(atPath: folder.path)) == Set(beginnings.keys))
    for (name, beginning) in beginnings {
      let data = try Data(contentsOf: folder.appendingPathComponent(name))
      #expect(data.starts(with: beginning.unicodeScalars.map { UInt8($0.value) }), "\(name)")
      #expect(data.count > 300)
    }
    let seconds = try WindowProgram.shell(
      "ffprobe", "-v", "error", "-show_entries", "format=duration", "-of", "csv=p=0",
      folder.appendingPathComponent("piece.flac").path)
    #expect((Double(seconds) ?? 0) > 20)
    #expect(try desk.quit() == 0)
  }

  @Test("Ctrl-Q while the music is exported leaves no partial file", .long)
  func quitWhileKeeping() throws {
    let desk = try WindowProgram(["--level", "person", "--piano", "modal"])
    for cell in ["a1", "a2", "b2", "b1", "c3"] { try desk.click(cell) }
    try desk.hear("X wins")
    let data = desk.folder.appendingPathComponent("data/alina/pieces").path
    func partial() -> [String] {
      (FileManager.default.subpaths(atPath: data) ?? []).filter { $0.hasSuffix(".part") }
    }
    try desk.click("Export the music")
    try #require(eventually(within: 10) { !partial().isEmpty }, "nothing was being written")
    #expect(try desk.quit() == 0)
    #expect(partial() == [])
  }

  @Test("The listening mode plays games without end until the player starts a game", .long)
  func listen() throws {
    let desk = try WindowProgram([])
    try desk.click("Menu")
    try desk.click("Watch a demo game")
    try desk.wait(page: "board")
    // In the listening mode the program plays both sides at the pace of the music.
    for mark in ["X", "O", "X"] { try desk.hear("\(mark) plays", after: desk.spoken.count, seconds: 30) }
    try desk.click("New game")
    try desk.click("Start")
    try desk.hear("Your move")
    #expect(desk.games.isEmpty)
    #expect(try desk.quit() == 0)
  }
}
