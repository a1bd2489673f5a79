import Base
import ClientModel
import Interface
import MatchProtocol
import Records
import ScoreIO
import ScoreModel
import Screen
import Session
import Testing
import TicTacToe
import Tintinnabuli

@testable import ClientModel
@testable import WindowLogic
@testable import Play

/// A fake platform: files in memory, recorded sound, and a server whose events the test supplies.
final class Bench: @unchecked Sendable {
  var now = 0.0
  var files: [String: [UInt8]] = [:]
  var fault: WriteFault?
  var faultyFolder = "data"
  var dataFolder = "data"
  /// Another window has locked these paths.
  var takenElsewhere: Set<String> = []
  var zone = 0
  var stamp = "2026-11-22-190000"
  var locks: FileLocks { FileLocks(take: { !self.takenElsewhere.contains($0) }, release: { _ in }) }
  var posted: [ScoreEvent] = []
  var commands: [ClientModel.Command] = []
  var events: [ClientEvent] = []
  var view: MatchView?
  /// The number of connections that windows have made. Only the last one knows the match.
  private(set) var connections = 0
  var notices: [String] = []
  var attention = 0
  var shared: [String] = []
  var clipboard = ""
  var refusesClipboard = false
  /// The platform's report whether the daily puzzle's picture was written; `nil` if it reports nothing.
  var cardIsWritten: Bool? = nil
  var cards: [(card: DayCard, png: [UInt8])] = []

  var services: PlatformServices {
    var services = PlatformServices(locks: locks)
    services.now = { self.now }
    services.dataFolder = { self.dataFolder }
    services.configFolder = { "config" }
    services.requestAttention = { self.attention += 1 }
    services.share = { path, told in
      self.shared.append(path)
      told(self.refusesClipboard ? .failed : .copied)
    }
    services.clipboard = { self.clipboard }
    services.setClipboard = { text, told in
      if !self.refusesClipboard { self.clipboard = text }
      told(!self.refusesClipboard)
    }
    services.zoneMinutes = { self.zone }
    services.timeStamp = { self.stamp }
    services.files.read = { self.files[$0] }
    services.files.write = { (path, bytes) throws(WriteFault) in
      if let fault = self.fault, path.hasPrefix(self.faultyFolder) { throw fault }
      self.files[path] = bytes
    }
    services.files.delete = { self.files.removeValue(forKey: $0) != nil }
    services.files.list = { folder in
      self.files.keys.filter { $0.hasPrefix(folder + "/") }.map { String($0.dropFirst(folder.count + 1)) }
    }
    return services
  }

  /// Pieces for the platform to export or to film.
  var given: [Piece] = []
  /// `told` takes the platform's reports of a film's progress.
  var films: [(shape: FilmShape, told: @Sendable (MakingNews) -> Void)] = []
  var pieces: [@Sendable (MakingNews) -> Void] = []
  var stoppedFilms = 0

  func savedGame() throws -> (app: App, path: String) {
    let app = try app()
    pass(app)
    app.want(.play(Cell(4)))
    pass(app)
    return (app, try #require(files.keys.first { $0.hasSuffix(".pgn") }))
  }

  /// The player, whose name in the network is `name`, has marked b2 against level 3.
  func begunGame(name: String) throws -> App {
    let app = try app()
    pass(app)
    app.screen.settings.name = name
    app.want(.newGame(GameSetup(x: .human, o: .level(3))))
    app.want(.play(Cell(4)))
    return app
  }

  private func connection() -> Connection {
    connections += 1
    let number = connections
    return Connection(
      poll: {
        defer { self.events = [] }
        return self.events.map { ($0, self.view) }
      }, match: { _ in number == self.connections ? self.view : nil }, perform: { self.commands.append($0) },
      disconnect: {})
  }

  func app() throws -> App {
    let loaded = try RuleLibrary.load()
    let port = SoundPort(
      now: { Tick(rawValue: Int64(self.now * 48_000)) }, post: { self.posted += $0 }, takeLate: { [] },
      lead: .milliseconds(50))
    let rules: ScoreRulesProvider.Loaded = (loaded.rules, loaded.reference)
    var provider = ScoreRulesProvider { _ throws(ScoreRulesProvider.Refusal) in rules }
    (provider.names, provider.tree) = (RuleLibrary.names, { RuleLibrary.tree($0) })
    var machine = AppEnvironment(
      services: services, sound: SoundOutput(port), rules: provider,
      connect: { _, _, _ in self.connection() }, milliseconds: { Int64(self.now * 1_000) },
      keep: { piece, told in
        self.given.append(piece)
        self.pieces.append(told)
      })
    machine.film = { piece, shape, told in
      self.given.append(piece)
      self.films.append((shape, told))
      return { self.stoppedFilms += 1 }
    }
    machine.giveCard = { card, draw in
      let buffer = PixelBuffer(width: 90, height: 90)
      draw(buffer.bitmap)
      self.cards.append((card, buffer.png()))
      return self.cardIsWritten.map { ("pictures/card.png", $0) }
    }
    var opening = LaunchOptions(seed: 1, rulesName: "score", rules: rules)
    opening.opponent = .human
    return App(machine, opening)
  }

  /// Vera (this player) has X, Ida has O.
  func join(_ app: App, _ rules: Variant = .classic) throws {
    pass(app)
    app.connect(to: try #require(ServerAddress("127.0.0.1:4664")), destination: nil)
    let you = PlayerInfo(name: "Vera", rating: 1_500, guest: false)
    let other = PlayerInfo(name: "Ida", rating: 1_518, guest: false)
    events = [
      .status(
        .online(
          .init(session: "s", resume: "r", you: you, deviation: 350, token: nil, rate: [10, 20], matches: [], now: 0)))
    ]
    try log(
      .start(
        Sides(x: you, o: other), MatchTerms(rules: rules, clock: .standard), confirm: false, previous: nil, keys: []))
    pass(app, 8)
  }

  func pass(_ app: App, _ seconds: Double = 0.1) {
    let end = now + seconds
    while now < end {
      app.update(input: [], at: now)
      if let notice = app.screen.notice?.text(in: app.screen.settings.language), notices.last != notice {
        notices.append(notice)
      }
      now += 0.1
    }
  }

  /// Logs an event of a match in which this player is X, and queues the event for the window.
  func log(_ kind: MatchEvent.Kind, _ side: Player? = nil) throws {
    let m = try #require(MatchID(rawValue: "0123456789ab"))
    var next = view ?? MatchView(state: MatchState(id: m), you: .x)
    let event = MatchEvent(at: 0, side: side, mid: nil, kind)
    try next.state.append(event, body: event.body)
    view = next
    events.append(.event(m, seq: next.state.seq, event))
  }
}
