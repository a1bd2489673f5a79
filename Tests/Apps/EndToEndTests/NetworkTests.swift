import Base
import Foundation
import Records
import TestSupport
import Testing
import TicTacToe

@Suite(.serialized, .tidy, .enabled(if: WindowProgram.hasDisplay, "needs an X display; ./test brings one"))
struct NetworkTests {
  private final class Server {
    let address: String
    private let process: Child
    private let folder: URL

    init(in folder: URL, at address: String = "127.0.0.1:0") throws {
      self.folder = folder
      let output = folder.appendingPathComponent("server-\(UUID().uuidString)")
      let errors = folder.appendingPathComponent("server-errors")
      process = try Child(
        [
          WindowProgram.program.deletingLastPathComponent().appendingPathComponent("alina-server").path, "serve",
          "--listen", address, "--no-page", "--no-admin",
          "--data", folder.appendingPathComponent("server").path,
        ], output: .file(output.path), errors: .file(errors.path))
      self.address = try waitFor(
        seconds: 20, "the server to listen; \((try? String(contentsOf: errors, encoding: .utf8)) ?? "")"
      ) {
        let said = try? String(contentsOf: output, encoding: .utf8)
        return said?.split(separator: "\n").first { $0.hasPrefix("listening ") }.map { String($0.dropFirst(10)) }
      }
    }

    func kill() { process.kill() }
  }

  /// Without a server's address the window must find its running match by itself.
  private func desk(
    _ server: Server?, place: Int, folder: URL, recording: URL? = nil, _ more: [String] = []
  ) throws -> WindowProgram {
    var environment: [String: String] = [:]
    if let recording { environment = ["SDL_AUDIODRIVER": "disk", "SDL_DISKAUDIOFILE": recording.path] }
    let desk = try WindowProgram(
      (server.map { ["--connect", $0.address] } ?? []) + ["--piano", "modal"] + more, environment: environment,
      folder: folder)
    try desk.stand(at: place)
    return desk
  }

  @Test("Two windows play a match; one is killed and reconnects by itself; both show, save and sound the same game")
  func match() throws {
    let folder = try WindowProgram.newFolder()
    let folders = try [WindowProgram.newFolder(), WindowProgram.newFolder()]
    let server = try Server(in: folder)
    defer { server.kill() }
    var recordings = folders.map { $0.appendingPathComponent("sound.raw") }
    var desks = try (0..<2).map { try desk(server, place: $0, folder: folders[$0], recording: recordings[$0]) }
    let x = try WindowProgram.quickMatch(desks)
    for desk in desks { try desk.wait(page: "board") }
    let moves = [4, 0, 2, 6, 3, 5, 1]  // every threat is parried, so that the board fills
    var game = Game()
    for (ply, cell) in moves.enumerated() {
      if ply == 3 {
        let mover = ply % 2 == 0 ? x : 1 - x
        let heard = desks[1 - mover].spoken.count
        desks[mover].killHard()
        _ = try waitFor(seconds: 30, "the other one to be told") {
          desks[1 - mover].spoken.dropFirst(heard).contains { $0.contains("opponent disconnected") } ? true : nil
        }
        recordings[mover] = folders[mover].appendingPathComponent("second.raw")
        desks[mover] = try desk(nil, place: mover, folder: folders[mover], recording: recordings[mover])
        try desks[mover].hear("Your move")
      }
      let mover = ply % 2 == 0 ? x : 1 - x
      try desks[mover].click(cell: cell)
      try game.play(Square(cell))
      for desk in desks {
        #expect(try desk.record(moves: ply + 1).game.moves == game.moves)
      }
    }
    #expect(game.position.outcome == nil)
    try desks[1 - x].click(cell: 7)
    // X may move only after O's move has arrived at X's window.
    _ = try desks[x].record(moves: 8)
    try desks[x].click(cell: 8)
    for desk in desks {
      let final = try desk.record(moves: 9)
      #expect(final.game.end == GameEnd(outcome: .draw, termination: .normal))
      try desk.park()
      _ = try waitFor(seconds: 30, "all nine marks") {
        let picture = try desk.picture()
        return Square.all.allSatisfy { picture.ink(cell: $0.index) > 0.02 } ? true : nil
      }
    }
    for (index, desk) in desks.enumerated() {
      let frames = try desk.record(moves: 9).times.compactMap(\.frame)
      #expect(try desk.quit() == 0)
      #expect(desk.complaints == "")
      // The killed window has recorded to a new file since its restart.
      let heard = try Recording(rawFloat: recordings[index])
      #expect(heard.level > -60 && heard.peak < 0.99)
      for frame in frames.suffix(5) {
        let click = heard.click(at: Int(frame))
        #expect(click < 6, "a click of \(click) dB at frame \(frame)")
      }
    }
  }

  @Test(
    "Two windows play a whole match of another game; each is killed once and resumes the match by itself",
    arguments: Variant.allCases.filter { !$0.isImplied })
  func otherGame(rules: Variant) throws {
    let folder = try WindowProgram.newFolder()
    let folders = try [WindowProgram.newFolder(), WindowProgram.newFolder()]
    let server = try Server(in: folder)
    defer { server.kill() }
    var desks = try (0..<2).map { try desk(server, place: $0, folder: folders[$0], ["--game", rules.rawValue]) }
    let x = try WindowProgram.quickMatch(desks)
    var state = VariantState(startOf: rules)
    var random = SplitMix64(seed: 3)
    while state.outcome == nil {
      let mover = state.turn == .x ? x : 1 - x
      if state.plies == 4 || state.plies == 5 {
        desks[mover].killHard()
        desks[mover] = try desk(nil, place: mover, folder: folders[mover])
        try desks[mover].hear("Your move")
      }
      let cell = state.moves.randomCell(using: &random)
      try desks[mover].click(cell, of: rules)
      state.play(cell)
      for desk in desks {
        let record = try desk.record(moves: state.plies)
        #expect(record.game.variant == rules && record.game.state == state)
      }
    }
    #expect(state.plies > 5, "\(state.plies) plies")
    for desk in desks {
      #expect(try desk.quit() == 0)
      #expect(desk.complaints == "")
    }
  }

  @Test("When the server dies the board shows that the window is reconnecting, and the match continues afterwards")
  func serverDies() throws {
    let folder = try WindowProgram.newFolder()
    let folders = try [WindowProgram.newFolder(), WindowProgram.newFolder()]
    let first = try Server(in: folder)
    let desks = try (0..<2).map { try desk(first, place: $0, folder: folders[$0]) }
    let x = try WindowProgram.quickMatch(desks)
    try desks[x].click(cell: 4)
    for desk in desks { _ = try desk.record(moves: 1) }
    // The third player's local game must not disturb the match that the player has watched.
    let watcher = try desk(first, place: 2, folder: WindowProgram.newFolder())
    try watcher.wait(page: "network")
    try watcher.click("guest-")
    try watcher.hear("O to move, you are watching")
    try watcher.press("n")
    try watcher.wait(page: "new-game")
    try watcher.click("Start")
    try watcher.wait(page: "board")
    let alone = try watcher.hear("Your move")
    try desks[1 - x].click(cell: 0)
    for desk in desks { _ = try desk.record(moves: 2) }
    usleep(500_000)  // time in which the watched match's move would wrongly replace the own game
    #expect(try watcher.quit() == 0)
    #expect(!watcher.spoken.dropFirst(alone).contains { $0.contains("watching") })
    first.kill()
    try desks[x].hear("Connection lost")
    // A move made while disconnected is sent after the reconnect.
    try desks[x].click(cell: 8)
    _ = try desks[x].record(moves: 3)
    let second = try Server(in: folder, at: first.address)
    defer { second.kill() }
    #expect(try desks[1 - x].record(moves: 3).game.moves == [Square(4), Square(0), Square(8)])
    for desk in desks { #expect(try desk.quit() == 0) }
  }

  @Test("A window's server ends with the window, even if the window is killed")
  func hosting() throws {
    let desk = try WindowProgram(["--scene", "network"])
    try desk.click("Host on this network")
    try waitFor(seconds: 20, "a room: \(desk.page?.controls.map(\.words) ?? [])") {
      desk.page?.controls.contains { $0.words.contains("Copy") } == true ? () : nil
    }
    let server = try WindowProgram.shell("pgrep", "--parent", "\(desk.processIdentifier)", "alina-server")
    #expect(!desk.settings.contains(":"))
    desk.killHard()
    try waitFor(seconds: 10, "the server to end") { kill(Int32(server) ?? 0, 0) != 0 && errno == ESRCH ? () : nil }
  }

  @Test("Network messages are shown in the player's language")
  func german() throws {
    let folder = try WindowProgram.newFolder()
    try WindowProgram.set("language = de\n", in: folder)
    let desk = try WindowProgram(["--connect", "127.0.0.1:1"], folder: folder)
    try desk.hear("127.0.0.1:1 ist nicht zu erreichen; neuer Versuch in ")
    #expect(try desk.quit() == 0)
    let server = try Server(in: folder)
    defer { server.kill() }
    let second = try WindowProgram(["--connect", server.address, "--room", "ABC234"], folder: folder)
    try second.hear("Ungültiger oder abgelaufener Code")
    #expect(try second.quit() == 0)
    #expect(desk.complaints == "" && second.complaints == "")
  }
}
