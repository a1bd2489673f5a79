import MatchProtocol
import TicTacToe

/// Decides what a bot does next on a match server.
///
/// A request that was refused for a passing cause (the server is busy) is repeated after a pause. After any other refusal the bot chooses
/// another move, resigns or stops, so that it never waits for something that does not come.
package struct BotModel: Sendable {
  package enum Action: Sendable, Hashable {
    /// Look for an opponent, or enter the room with the given code.
    case seek, join(String)
    /// In a tournament with the given code: become a player, or end the bot's pause. `nextGame` asks the server for the tournament's next
    /// game.
    case enter(String), play(String), nextGame
    case begin(MatchID)
    /// Choose a move and make it.
    case think(MatchID)
    case decline(MatchID), resign(MatchID)
    case report(MatchID)
  }

  /// The reason why the bot cannot go on, in one line.
  package struct Stopped: Error, Sendable, Hashable {
    package let reason: String
  }

  private struct Play: Sendable {
    /// The number of the match's moves when `next` last asked for a move or a resignation; −1 if `next` must ask again.
    var answered = -1
    /// When a refused move or resignation is tried again, in milliseconds of the clock of the argument `now`.
    var retryAt: Int64 = 0
    /// The number of moves and resignations refused for a reason that does not pass (not `ErrorCode.isPassing`). The third stops the bot.
    var refusals = 0
    var isReported = false
  }

  /// The number of games that the bot has still to play to a result; an aborted game does not count.
  package private(set) var remaining = 0
  private var room: String?
  /// The code of the tournament in which the bot plays all its games. `view` is the tournament as the server last described it.
  private let tournament: String?
  private var view: TournamentView?
  private var isSeeking = false
  /// The time at which the bot may next ask for a game, and the pause after the next refused seek, both in milliseconds.
  private var (retryAt, pause): (Int64, Int64) = (0, BotModel.firstPause)
  private var plays: [MatchID: Play] = [:]
  private var offers: [MatchID] = []

  /// In milliseconds. The pause doubles with each refused seek.
  package static let (firstPause, longestPause): (Int64, Int64) = (1_000, 30_000)

  /// If `tournament` is given, the bot plays all its games there. Otherwise it plays its first game in `room`, if given, and the other
  /// games against opponents that it seeks.
  package init(room: String? = nil, tournament: String? = nil) { (self.room, self.tournament) = (room, tournament) }

  /// Whether the tournament has ended or is ending, so that no new game begins.
  package var isTournamentOver: Bool { view?.notice.phase == .over || view?.notice.phase == .ending }

  package mutating func play(_ games: Int) { remaining += games }

  /// `you` is the bot's side in the event's match.
  package mutating func receive(_ event: ClientEvent, you: Player?, at now: Int64) throws(Stopped) {
    switch event {
    case .status(.failed(let failure)): throw Stopped(reason: failure.advice)
    case .paired: (isSeeking, room, pause) = (false, nil, BotModel.firstPause)
    case .event(let m, _, let event):
      if case .draw(.offer, _) = event.kind, event.side != you { offers.append(m) }
    case .lost(let m): plays[m] = nil
    case .tournament(let view): self.view = view
    // `over` means that the tournament has ended or that the bot is paused. After `firstPause` a notice has shown which.
    case .refused(.over, _, .seek?) where tournament != nil, .refused(.over, _, .tournament?) where view?.mine != nil:
      (isSeeking, retryAt) = (false, now + BotModel.firstPause)
    case .refused(let code, let text, .tournament(let order)?) where !code.isPassing:
      throw Stopped(reason: "no player of the tournament \(order.code): \(text)")
    case .moveRejected(let m, _, let code, let text): try refused(m, code, text, now)
    case .refused(let code, let text, .act(let m?, .resign, _)): try refused(m, code, text, now)
    case .refused(let code, let text, .seek?), .refused(let code, let text, .join?):
      guard code.isPassing || code == .occupied || code == .midReused else {
        throw Stopped(reason: "not paired: \(text)")
      }
      (isSeeking, retryAt) = (false, now + pause)
      pause = min(2 * pause, BotModel.longestPause)
    default: break
    }
  }

  private mutating func refused(_ m: MatchID, _ code: ErrorCode, _ text: String, _ now: Int64) throws(Stopped) {
    var play = plays[m] ?? Play()
    if !code.isPassing { play.refusals += 1 }
    guard play.refusals < 3 else { throw Stopped(reason: "match \(m.rawValue) cannot go on: \(text)") }
    (play.answered, play.retryAt) = (-1, now + BotModel.firstPause)
    plays[m] = play
  }

  /// The chosen move was not sent, because the board changed or the connection was lost, so `next` must ask for a move again.
  package mutating func moveDropped(in m: MatchID) { plays[m]?.answered = -1 }

  /// The actions to take now, while the client is connected.
  package mutating func next(_ matches: some Sequence<MatchView>, at now: Int64) -> [Action] {
    var actions = offers.map { Action.decline($0) }
    offers = []
    var isPlaying = false
    for view in matches where view.you != nil {
      let m = view.state.id
      if plays[m] == nil, view.state.phase != .over { actions.append(.begin(m)) }
      var play = plays[m] ?? Play()
      if view.state.phase == .over {
        if !play.isReported {
          actions.append(.report(m))
          // Counts the game before `remaining` is checked below: otherwise the bot would seek an opponent after its last game.
          if view.state.end?.outcome != nil { remaining = max(0, remaining - 1) }
        }
        play.isReported = true
      } else {
        isPlaying = true
        if view.canMove, play.answered != view.state.moves.count, now >= play.retryAt {
          play.answered = view.state.moves.count
          // After one refused move the client has the server's board, so the bot chooses again. After two refused moves it resigns.
          actions.append(play.refusals < 2 ? .think(m) : .resign(m))
        }
      }
      plays[m] = play
    }
    if isPlaying {
      isSeeking = false
    } else if remaining > 0, !isSeeking, now >= retryAt {
      if let tournament { return actions + takePart(tournament, at: now) }
      isSeeking = true
      actions.append(room.map { .join($0) } ?? .seek)
    }
    return actions
  }

  /// Repeats entering the tournament and ending the bot's pause every `firstPause` until a notice shows their effect.
  private mutating func takePart(_ code: String, at now: Int64) -> [Action] {
    guard !isTournamentOver else { return [] }
    retryAt = now + BotModel.firstPause
    guard let view, let mine = view.mine else { return [.enter(code)] }
    if mine.status == .removed { return [] }
    if mine.status != .playing { return [mine.status == .left ? .enter(code) : .play(code)] }
    guard view.mayPlay else { return [] }
    isSeeking = true
    return [.nextGame]
  }
}
