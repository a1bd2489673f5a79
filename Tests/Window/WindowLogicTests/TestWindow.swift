import ClientModel
import Interface
import MatchProtocol
import Testing
import TicTacToe

@testable import ClientModel
@testable import WindowLogic

/// A window's state with its board and the server's messages, without a real window.
struct TestWindow {
  var state = WindowState(GameSetup(x: .human, o: .level(3)))
  var board = WindowState.Board()
  var now = 100.0
  var effects: [Effect] = []
  /// Made from events as a server would log them.
  var views: [MatchID: MatchView] = [:]
  static let m = MatchID(rawValue: "0123456789ab").unsafelyUnwrapped

  /// The effects change the board as the session would.
  @discardableResult
  mutating func step(_ event: WindowState.Event) -> [Effect] {
    let effects = state.step(event, board, at: now)
    self.effects += effects
    for effect in effects { apply(effect) }
    return effects
  }

  @discardableResult
  mutating func want(_ intent: Intent) -> [Effect] { step(.intent(intent)) }

  mutating func connect(destination: Destination) throws {
    effects += state.connect(to: try #require(ServerAddress("127.0.0.1:4664")), destination: destination)
  }

  private mutating func apply(_ effect: Effect) {
    switch effect {
    case .play(let square): try? board.game.play(square)
    case .begin(_, let start): board.game = Game(from: start)
    case .beginFreePlay: board.game = Game()
    case .join(let joined):
      board.game = Game(from: VariantState(startOf: joined.rules))
      for square in joined.moves { try? board.game.play(square) }
    case .syncBoard(let moves, _):
      board.game = Game(from: board.game.startState)
      for square in moves { try? board.game.play(square) }
    case .end(let end):
      if case .win(let winner) = end.outcome {
        try? board.game.lose(winner.opponent, by: end.termination)
      } else if end.outcome == nil, !board.game.isOver {
        board.game.finish(end)
      }
    case .undo: _ = board.game.undo()
    default: break
    }
    let turn = board.game.turn == .x ? state.setup.x : state.setup.o
    board.acceptsMove = !board.game.isOver && turn == .human
    board.canUndo = !board.game.cells.isEmpty && state.match == nil
  }

  // MARK: - The server

  mutating func online(_ matches: [MatchID] = [], guest: Bool = false) {
    let you = PlayerInfo(name: "Vera", rating: 1_500, guest: guest)
    step(
      .network(
        .status(
          .online(
            .init(
              session: "s", resume: "r", you: you, deviation: 350, token: nil, rate: [10, 20], matches: matches, now: 0)
          )),
        nil))
  }

  @discardableResult
  mutating func log(_ kind: MatchEvent.Kind, _ side: Player? = nil, you: Player? = .x) -> [Effect] {
    let m = TestWindow.m
    var view = views[m] ?? MatchView(state: MatchState(id: m), you: you)
    let event = MatchEvent(at: 0, side: side, mid: nil, kind)
    do throws(ProtocolError) { try view.state.append(event, body: event.body) } catch {
      Issue.record("\(kind): \(error)")
    }
    if case .move = kind { view.pending = nil }
    views[m] = view
    return step(.network(.event(m, seq: view.state.seq, event), view))
  }

  mutating func start(you: Player? = .x, rated: Bool = false) {
    let players = Sides(
      x: PlayerInfo(name: "Vera", rating: 1_500, guest: false), o: PlayerInfo(name: "Ida", rating: 1_518, guest: false))
    log(
      .start(players, MatchTerms(clock: .standard, rated: rated), confirm: false, previous: nil, keys: []), you: you)
  }

  mutating func move(_ cell: Int) {
    let ply = views[TestWindow.m]?.state.moves.count ?? 0
    log(.move(ply: ply, cell: CellName(Cell(cell), in: .classic), spent: 100), ply % 2 == 0 ? .x : .o)
  }

  @discardableResult
  mutating func turn(to page: SceneName) -> [Effect] {
    board.page = page
    return step(.pageChanged)
  }

  static func words(_ effects: [Effect]) -> [Message] {
    effects.compactMap { if case .say(let message) = $0 { message } else { nil } }
  }
}
