import Base
import ClientModel
import Interface
import MatchProtocol
import TicTacToe

/// The tournament that the window follows, as a player, the organiser or a spectator.
struct OnlineTournament: Sendable {
  /// The code in the link that was opened, until the server has sent the tournament.
  private(set) var linkedCode = ""
  private(set) var view: TournamentView?
  /// Whether this player has asked the server for the next game, and the server has not refused it for now.
  private var hasAsked = false
  /// Whether the server has refused the last request for a game, for now or for good.
  private var isRefused = false
  /// Whether the player knows that the server gives no game because the player is in another match.
  private var isOccupied = false
  /// Whether the player has stopped waiting, and the server has not yet shown the player as paused.
  private var isStopping = false
  /// When the next game may be asked for, in seconds of the platform's clock.
  private var asksAt = -Double.infinity

  /// When the next game may be watched, in seconds of the platform's clock.
  private var watchesAt = -Double.infinity

  /// The minutes from the making of a new tournament to its start, as this player chose; 0 if the organiser starts it by hand. Sent to the
  /// server once the server has made the tournament, then reset to 0.
  private var startsIn = 0
  private var collection: GameCollection?
  /// The last games won by the first three players: requested (`awaited`) and arrived (`found`); `nil` until the games were requested.
  private var mottos: (awaited: [(place: Int, m: MatchID)], found: [Motto])?

  /// Seconds between the end of a game and the request for the next game.
  static let pause = 2.0

  init(linkedCode: String = "") { self.linkedCode = linkedCode }

  /// Resets the state that came from the former connection.
  mutating func forgetServer() {
    (view, hasAsked, isOccupied, asksAt, collection, mottos) = (nil, false, false, -.infinity, nil, nil)
    isStopping = false
  }

  mutating func willStart(in minutes: Int) { startsIn = minutes }

  /// Returns a message if the tournament has just ended, or if this player was just paused. For a tournament just made, returns the order
  /// to start it after `startsIn` minutes.
  mutating func take(_ next: TournamentView) -> [Effect] {
    let before = view?.code == next.code ? view : nil
    (view, linkedCode) = (next, "")
    if before == nil || !next.mayPlay { isStopping = false }
    guard let before else {
      mottos = nil
      defer { startsIn = 0 }
      guard startsIn > 0, next.notice.isOrganiser, next.notice.phase == .waiting else { return [] }
      return [.command(.tournament(TournamentOrder(.start, next.code, delay: startsIn * 60_000)))]
    }
    if next.notice.phase == .over, before.notice.phase != .over { return [.say("\(.tournamentOver)")] }
    let wasPaused = before.mine?.status == .playing && next.mine?.status == .paused
    return wasPaused && next.notice.phase == .running ? [.say("\(.tournamentPaused)")] : []
  }

  /// Asks for the next game once, two seconds after the end of the last game, and not while the player seeks another match (`isSeeking`).
  mutating func tick(isPlaying: Bool, isSeeking: Bool, at now: Double) -> [Effect] {
    if isPlaying { asksAt = now + OnlineTournament.pause }
    guard !isPlaying, view?.mayPlay == true else {
      (hasAsked, isOccupied) = (false, false)
      return []
    }
    guard !hasAsked, !isStopping, !isSeeking, now >= asksAt else { return [] }
    (hasAsked, isRefused) = (true, false)
    return [.command(.nextGame)]
  }

  /// Whether the player waits for the next game.
  var awaitsGame: Bool { hasAsked && !isRefused }

  /// Pauses a player who stops waiting for the next game, which would otherwise be asked for again.
  mutating func stopWaiting(at now: Double) -> [Effect] {
    guard hasAsked, let view, view.mayPlay else { return [] }
    (hasAsked, isStopping, asksAt) = (false, true, now + OnlineTournament.pause)
    return [.command(.tournament(TournamentOrder(.pause, view.code)))]
  }

  /// Call it when the player asks to play on, or the server has refused to pause the player.
  mutating func playsOn() { isStopping = false }

  /// Returns the game to watch next, two seconds after the end of a watched game of the tournament.
  mutating func nextToWatch(after state: MatchState?, at now: Double) -> MatchID? {
    guard let state, state.phase == .over else {
      watchesAt = now + OnlineTournament.pause
      return nil
    }
    guard state.terms.tournament == view?.code, let top = view?.notice.top, top != state.id, now >= watchesAt else {
      return nil
    }
    watchesAt = now + OnlineTournament.pause
    return top
  }

  /// Repeats the request for the next game later if the server may then accept it. Returns whether the player need not be told.
  mutating func seekRefused(_ code: ErrorCode, at now: Double) -> Bool {
    isRefused = true
    guard code.isPassing || code == .occupied else { return false }
    (hasAsked, asksAt) = (false, now + OnlineTournament.pause)
    if code.isPassing { return true }
    defer { isOccupied = true }
    return isOccupied
  }

  /// The tournament's path in the web page's address; the organiser's path contains the secret. `nil` without a tournament.
  var path: String? {
    guard let view else { return linkedCode.isEmpty ? nil : "t/\(linkedCode)" }
    return (["t", view.code] + (view.secret.map { [$0] } ?? [])).joined(separator: "/")
  }

  // MARK: - Finished games

  mutating func collectGames() { collection = collection ?? view.map { GameCollection(of: $0) } }

  mutating func collect(at now: Double) -> [Effect] {
    let effects = collection?.tick(at: now) ?? []
    guard let games = collection?.games, let view else { return effects }
    collection = nil
    return games.isEmpty
      ? [.say("\(.nothingToKeep)")] : [.saveGames(games, code: view.code, name: view.notice.terms.name)]
  }

  mutating func answered(_ rows: [JSONObject], more: Int64?) { collection?.answered(rows, more: more) }

  /// If the reason is temporary (`isPassing`), repeats the request for games later; else gives up collecting. Returns `isPassing`.
  mutating func gamesRefused(_ order: TournamentOrder, isPassing: Bool, at now: Double) -> Bool {
    if isPassing { collection?.refused(order, at: now) } else { collection = nil }
    return isPassing
  }

  /// Requests the last game won by each player in the first three places, once, after the end of the tournament.
  mutating func askForMottos() -> [Effect] {
    guard mottos == nil, let notice = view?.notice, notice.phase == .over else { return [] }
    let wins = notice.winners.enumerated().compactMap { index, winner in winner.won.map { (place: index + 1, m: $0) } }
    mottos = (wins, [])
    return wins.map { .command(.watch($0.m, code: nil)) }
  }

  /// Stores a finished game. Once all games for the mottos have arrived, returns the effect that plays the mottos.
  mutating func take(_ state: MatchState, isOnBoard: Bool) -> [Effect] {
    let forgets = isOnBoard ? [] : [Effect.command(.forget(state.id))]
    if let place = mottos?.awaited.first(where: { $0.m == state.id })?.place {
      mottos?.found.append(Motto(place: place, state: state))
      return [.command(.unwatch(state.id))] + forgets + (drop(state.id) ?? [])
    }
    return collection?.take(state) == true ? forgets : []
  }

  /// Stops waiting for a game and its motto; after the last awaited game plays the mottos. `nil` if the game was not awaited.
  mutating func drop(_ m: MatchID) -> [Effect]? {
    guard let index = mottos?.awaited.firstIndex(where: { $0.m == m }) else { return nil }
    mottos?.awaited.remove(at: index)
    guard let mottos, mottos.awaited.isEmpty, !mottos.found.isEmpty else { return [] }
    return [.mottos(mottos.found.sorted { $0.place > $1.place })]
  }

  // MARK: - For the pages

  private func row(_ row: TournamentRow, at place: Int) -> TournamentModel.Row {
    var model = TournamentModel.Row()
    (model.number, model.place, model.name, model.points) = (row.number, place, row.name, row.points)
    (model.games, model.isMine) = (row.games, row.number == view?.notice.you)
    model.isOnFire = row.isOnFire && view?.notice.phase != .over
    switch row.status {
    case .playing: model.status = .playing
    case .paused: model.status = .paused
    case .left: model.status = .left
    case .removed: model.status = .removed
    }
    return model
  }

  /// `milliseconds` is the time by `MatchClient.now`.
  func model(client milliseconds: Int64) -> TournamentModel? {
    guard let view else { return nil }
    let notice = view.notice
    var model = TournamentModel()
    (model.code, model.name, model.rules) = (view.code, notice.terms.name, notice.terms.rules)
    (model.clock, model.minutes) = (notice.terms.clock.description, notice.terms.minutes)
    switch notice.phase {
    case .waiting: model.phase = .waiting
    case .running: model.phase = .running
    case .ending: model.phase = .ending
    case .over: model.phase = .over
    }
    model.remaining = view.remaining(at: milliseconds).map { ($0 + 999) / 1_000 }
    for (index, entry) in view.table.enumerated() { model.rows.append(row(entry, at: index + 1)) }
    if notice.isOrganiser { model.removed = view.removed.map { row($0, at: 0) } }
    (model.isOrganiser, model.top) = (notice.isOrganiser, notice.top?.rawValue)
    return model
  }

  /// The player's own row; `nil` for a spectator.
  var standing: TournamentModel.Standing? {
    guard let view, let mine = view.mine, let place = view.place else { return nil }
    return .init(row(mine, at: place), isWaiting: view.mayPlay)
  }
}
