import Arena
import ArgumentParser
import Foundation
import Locks
import MatchClient
import MatchProtocol
import Processes
import TicTacToe

struct BotCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bot", abstract: "Plays any arena player on a match server, several games at once.",
    discussion: """
      Prints a line for each game: its id, our side, the opponent, the result and why it ended. Gives up if no server \
      answers in the first 20 s; waits for one that did as long as it takes.
      """)

  @Option(help: ArgumentHelp("The server, or nodes of it to try in turn.", valueName: "host[:port],…")) var connect:
    String
  @Option(help: ArgumentHelp("The player: \(PlayerSpec.allowed).", valueName: "player")) var player = "trap"
  @Option(help: "Games to play, 1–1000000.") var games = 1
  @Option(help: "Games at once, each on a session of its own, 1–100.") var concurrency = 1
  @Option(help: ArgumentHelp("The game: \(Variant.names).", valueName: "game")) var rules = Variant.classic.rawValue
  @Option(help: ArgumentHelp("SECONDS+SECONDS, or none (default: the usual one of the game).", valueName: "clock"))
  var clock: String?
  @Option(help: ArgumentHelp("Join the room of a code instead of the queue.", valueName: "code")) var room: String?
  @Option(help: ArgumentHelp("Play in a tournament until it ends.", valueName: "code")) var event: String?
  @Option(help: "The name to ask for, 3–13 characters.") var name = "bot"
  @Option(help: "The seed of its choices.") var seed: UInt64 = 1
  @Option(help: "Milliseconds an engine has for a move (default: it is told the game's clock).") var movetime: Int?
  @Flag(help: "Use TLS even on this machine.") var tls = false
  @Flag(help: "Use no TLS even to another machine.") var plain = false

  /// The program gives up if no session has connected within this number of milliseconds.
  private static let timeout: Int64 = 20_000

  func run() throws {
    let spec = try PlayerSpec(player)
    guard (1...1_000_000).contains(games) else { throw ArenaError("--games is 1–1000000, not \(games)") }
    guard room == nil || (games == 1 && concurrency == 1) else {
      throw ArenaError("--room is one game of one session: --games and --concurrency cannot be more than 1 with it")
    }
    guard event == nil || room == nil else { throw ArenaError("--event and --room exclude each other") }
    guard event == nil || games == 1 else {
      throw ArenaError("--event plays until the tournament ends, without --games")
    }
    guard (1...100).contains(concurrency) else { throw ArenaError("--concurrency is 1–100, not \(concurrency)") }
    guard !(tls && plain) else { throw ArenaError("--tls and --plain exclude each other") }
    let variant = try Variant(option: rules)
    var terms = MatchTerms(rules: variant)
    if let clock { terms.clock = TimeControl(clock) }
    if let clock, clock != "none", terms.clock == nil {
      throw ArenaError("--clock is none or SECONDS+SECONDS, 10–3600 and 0–60, not '\(clock)'")
    }
    guard let server = ServerAddress(connect) else {
      throw ArenaError("--connect is \(ServerAddress.form), not '\(connect)'")
    }
    let wake = DispatchSemaphore(value: 0)
    var time = TimeLimit()
    if let movetime {
      try time.apply("movetime", "\(movetime)")
    } else if let control = terms.clock {
      (time.moveTime, time.clock, time.increment) = (0, control.base, control.increment)
    }
    let sessions = try (0..<(event == nil ? min(concurrency, games) : concurrency)).map { i in
      let client = MatchClient(
        .init(
          server, security: tls ? .tls : plain ? .plain : .automatic,
          identity: .init(client: "alina-arena bot", guest: name, isBot: true)))
      client.onWake { wake.signal() }
      let player = try StandalonePlayer(
        spec, variant: variant, seed: seed &+ UInt64(i), guardExecutable: Installation.program, time: time)
      client.connect()
      return BotSession(client, player, terms, room: room, tournament: event, wake: wake)
    }
    // A timer goes by the monotonic clock; a semaphore's limit is a time of the system's clock, which may be set back.
    let timer = DispatchSource.makeTimerSource()
    timer.schedule(deadline: .now(), repeating: 0.2)
    timer.setEventHandler { wake.signal() }
    timer.resume()
    defer { timer.cancel() }
    var left = event == nil ? games : 1_000_000
    let begun = MatchClient.now
    while left > 0 || sessions.contains(where: { $0.remaining > 0 }) {
      if event != nil, sessions.allSatisfy(\.isTournamentOver) { break }
      // A session that was connected before waits for the server without limit.
      if MatchClient.now - begun > BotCommand.timeout, !sessions.contains(where: \.hasBeenOnline) {
        throw ArenaError("no server at \(connect): \(sessions.lazy.compactMap(\.problem).first ?? "no answer")")
      }
      wake.wait()
      for session in sessions { try session.step(left: &left) }
    }
    for session in sessions { session.client.disconnect() }
    usleep(100_000)  // waits for the `bye` messages to be sent
  }
}

private final class BotSession {
  let client: MatchClient
  var remaining: Int { model.remaining }
  var isTournamentOver: Bool {
    model.isTournamentOver && !client.matches.values.contains { $0.you != nil && $0.state.phase != .over }
  }
  private(set) var hasBeenOnline = false
  private(set) var problem: String?
  private var model: BotModel
  /// Used only on the queue `thinking`.
  private let player: StandalonePlayer
  /// One queue per session, so that a session does not wait while another session computes a move.
  private let thinking = DispatchQueue(label: "alina-arena.bot")
  private let terms: MatchTerms
  private let wake: DispatchSemaphore
  /// Moves to send. `after` has the game's earlier moves; `cell` is `nil` to resign.
  private let chosen = ResultQueue<(m: MatchID, after: [Cell], cell: Cell?)>()

  init(
    _ client: MatchClient, _ player: StandalonePlayer, _ terms: MatchTerms, room: String?, tournament: String?,
    wake: DispatchSemaphore
  ) {
    (self.client, self.player, self.terms, self.wake) = (client, player, terms, wake)
    model = BotModel(room: room, tournament: tournament)
  }

  /// `left` is the number of games that no session has taken yet.
  func step(left: inout Int) throws {
    for (event, match) in client.poll() {
      if case .status(.waiting(_, let reason)) = event { problem = reason.text }
      if case .status(.online) = event { hasBeenOnline = true }
      if case .tournament(let view) = event, view.notice.terms.rules != terms.rules {
        throw ArenaError("the tournament is one of \(view.notice.terms.rules.rawValue): name it with --rules")
      }
      do throws(BotModel.Stopped) {
        try model.receive(event, you: match?.you, at: MatchClient.now)
      } catch { throw ArenaError(error.reason) }
    }
    sendChosen()
    guard case .online = client.status else { return }
    var actions = model.next(client.matches.values, at: MatchClient.now)
    if remaining == 0, left > 0 {
      left -= 1
      model.play(1)
      actions += model.next(client.matches.values, at: MatchClient.now)
    }
    for action in actions {
      switch action {
      case .seek: client.ask(.seek(.init(terms, bots: true, key: nil)))
      case .join(let code): client.perform(.join(code))
      case .enter(let code): client.perform(.tournament(.init(.enter, code)))
      case .play(let code): client.perform(.tournament(.init(.play, code)))
      case .nextGame: client.perform(.nextGame)
      case .begin: thinking.async { [player] in player.beginGame() }
      case .think(let m): think(m)
      case .decline(let m): client.perform(.answerDraw(m, accept: false))
      case .resign(let m): client.perform(.resign(m))
      case .report(let m): report(m)
      }
    }
  }

  private func think(_ m: MatchID) {
    guard let view = client.match(m), let side = view.you else { return }
    let (state, moves, now) = (view.state.position, view.state.moves, MatchClient.now)
    let clocks = view.remaining(side, at: now).flatMap { own in
      view.remaining(side.opponent, at: now).map { (own: own, other: $0) }
    }
    thinking.async { [player, chosen, wake] in
      let cell = player.move(in: state, after: moves, clocks: clocks)
      chosen.add((m, moves, cell))
      wake.signal()
    }
  }

  /// Drops a move if the match has changed since the player began to think.
  private func sendChosen() {
    for (m, moves, cell) in chosen.takeAll() {
      guard let view = client.match(m), view.canMove, view.state.moves == moves else {
        model.moveDropped(in: m)
        continue
      }
      if let cell { client.perform(.move(m, cell)) } else { client.perform(.resign(m)) }
    }
  }

  private func report(_ m: MatchID) {
    guard let view = client.match(m), let end = view.state.end, let side = view.you, let players = view.state.players
    else { return }
    thinking.async { [player, moves = view.state.moves] in
      player.endGame(moves, as: side, outcome: end.outcome)
    }
    let result = end.outcome.map { $0 == .draw ? "draw" : $0 == .win(side) ? "won" : "lost" } ?? "none"
    print(m, side.text, "against", players[side.opponent].name, result, end.reason.rawValue)
    client.perform(.forget(m))
  }
}
