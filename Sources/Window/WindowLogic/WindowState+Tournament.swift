import ClientModel
import Interface
import MatchProtocol
import TicTacToe

extension WindowState {
  /// `nil` without a connection.
  private var followed: OnlineTournament? { lobby.connection == .none ? nil : tournament }

  /// `milliseconds` is the time by `MatchClient.now`.
  package func tournament(client milliseconds: Int64) -> TournamentModel? {
    followed?.model(client: milliseconds)
  }

  /// The player's own row of the tournament, for the board page.
  package var standing: TournamentModel.Standing? { followed?.standing }

  package var linkedTournament: String { tournament.linkedCode }

  /// The default clock and length in minutes of a tournament of the selected variant.
  package var usualTournament: (clock: String, minutes: Int) {
    (preferences.game.tournamentClock.description, preferences.game.tournamentMinutes)
  }

  var tournamentPath: String? {
    lobby.connection == .none && tournament.linkedCode.isEmpty ? nil : tournament.path
  }

  // MARK: - Requests of the player

  mutating func answer(_ intent: TournamentIntent) -> [Effect] {
    switch intent {
    case .make(let name, let clock, let minutes, let hasBots, let startsIn):
      tournament.willStart(in: startsIn)
      let terms = TournamentTerms(
        name: name, rules: preferences.game, clock: TimeControl(clock), minutes: minutes == 0 ? nil : minutes,
        bots: hasBots)
      return request(.host(terms))
    case .open(let path): return open(path)
    case .enter(let code):
      let known = tournament.view?.code ?? tournament.linkedCode
      guard let code = canonicalCode(code.isEmpty ? known : code) else { return .refused(.writeCode) }
      tournament.playsOn()
      return request(.tournament(TournamentOrder(.enter, code)))
    case .save: return [.file(.tournament(.save))]
    case .pause, .play, .leave, .start, .end, .remove, .admit, .saveGames, .share: break
    }
    guard let view = followed?.view else { return .refused(.notConnected) }
    func order(_ operation: TournamentOrder.Operation, name: String? = nil) -> [Effect] {
      request(.tournament(TournamentOrder(operation, view.code, name: name)))
    }
    switch intent {
    case .pause:
      lobby.seekEnded()
      return order(.pause)
    case .play:
      tournament.playsOn()
      return order(.play)
    case .leave:
      let isOpen = view.notice.phase == .waiting || view.notice.phase == .running
      lobby.seekEnded()
      let effects = order(view.mine != nil && isOpen ? .leave : .unfollow)
      tournament = OnlineTournament()
      return effects
    case .start: return order(.start)
    case .end: return confirmation.confirm(.tournament(.end), .reallyEnd, at: now, order(.end))
    case .remove(let name): return order(.remove, name: name)
    case .admit(let name): return order(.admit, name: name)
    case .saveGames:
      tournament.collectGames()
      return [.say("\(.tournamentSaving)")]
    case .share: return [.share("t/\(view.code)")]
    case .make, .open, .enter, .save: return []
    }
  }

  /// A player without a name connects only after entering a name on the tournament's page, since the name is sent with the login.
  private mutating func open(_ path: String) -> [Effect] {
    let parts = path.split(separator: "/").map { String($0) }
    guard let code = parts.first.flatMap(canonicalCode) else { return .refused(.errCode) }
    let secret = parts.count > 1 ? parts[1] : nil
    tournament = OnlineTournament(linkedCode: code)
    let isNew =
      lobby.connection == .none && secret == nil && preferences.name.isEmpty && preferences.matchServer.isEmpty
    let effects = isNew ? [] : request(.tournament(TournamentOrder(.follow, code, secret: secret)))
    return effects.first == .refuse ? effects : [.show(.tournament)] + effects
  }

  /// Sends a command to the server, or connects first and sends the command after logging in.
  private mutating func request(_ command: ClientModel.Command) -> [Effect] {
    switch lobby.connection {
    case .online: return [.command(command)]
    case .connecting, .reconnecting: return .refused(.stillConnecting)
    case .none: break
    }
    if let address = ServerAddress(preferences.server) {
      return leaveMatch() + connect(to: address, destination: .request(command))
    }
    if case .host = command { return leaveMatch() + [.host(.request(command))] }
    return .refused(.writeSomeAddress)
  }

  // MARK: - Time and events

  mutating func tickTournament(on page: SceneName) -> [Effect] {
    guard lobby.connection == .online else { return [] }
    var effects = tournament.tick(isPlaying: isPlaying, isSeeking: lobby.isSeeking, at: now)
    effects += tournament.collect(at: now)
    if page == .board, case .watching = mode, let m = tournament.nextToWatch(after: onlineMatch?.view?.state, at: now) {
      effects += lobby.watch(m, code: nil)
    }
    return effects + (page == .tournament ? tournament.askForMottos() : [])
  }

  mutating func tournamentRefused(_ asked: ClientMessage?, _ code: ErrorCode, _ said: String) -> [Effect] {
    if case .tournament(let order) = asked, order.operation == .games,
      tournament.gamesRefused(order, isPassing: code.isPassing, at: now)
    {
      return []
    }
    if case .tournament(let order) = asked, order.operation == .pause { tournament.playsOn() }
    if case .host = asked { tournament.willStart(in: 0) }
    let phrase: Phrase? = code == .over ? .tournamentOver : code == .occupied ? .tournamentFull : nil
    return [.refuse, .say(phrase.map { "\(english: said, else: $0)" } ?? code.message(said))]
  }
}
