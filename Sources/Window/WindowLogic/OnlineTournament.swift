import ClientModel
import Interface
import MatchProtocol
import TicTacToe

/// The tournament that the window follows, as a player, the organiser or a spectator.
struct OnlineTournament: Sendable {
  /// The code in the link that was opened, until the server has sent the tournament.
  private(set) var linkedCode = ""
  private(set) var view: TournamentView?
  /// Whether the next game has been asked for.
  private var hasAsked = false
  /// The earliest time at which the next game is asked for.
  private var asksAt = -Double.infinity

  /// Seconds between the end of a game and the request for the next one.
  static let pause = 2.0

  init(linkedCode: String = "") { self.linkedCode = linkedCode }

  /// Resets the state that came from the former connection.
  mutating func forgetServer() { (view, hasAsked, asksAt) = (nil, false, -.infinity) }

  /// Stores the newest state of the tournament; returns a message if it ended or paused this player.
  mutating func take(_ next: TournamentView) -> [Effect] {
    let before = view?.code == next.code ? view : nil
    (view, linkedCode) = (next, "")
    guard let before else { return [] }
    if next.notice.phase == .over, before.notice.phase != .over { return [.say("\(.tournamentOver)")] }
    let wasPaused = before.mine?.status == .playing && next.mine?.status == .paused
    return wasPaused && next.notice.phase == .running ? [.say("\(.tournamentPaused)")] : []
  }

  /// Asks for the next game once, two seconds after the end of the last game.
  mutating func tick(isPlaying: Bool, at now: Double) -> [Effect] {
    if isPlaying { asksAt = now + OnlineTournament.pause }
    guard !isPlaying, view?.mayPlay == true else {
      hasAsked = false
      return []
    }
    guard !hasAsked, now >= asksAt else { return [] }
    hasAsked = true
    return [.command(.nextGame)]
  }

  /// Asks again later, because the server refused the request for the next game.
  mutating func seekRefused(at now: Double) { (hasAsked, asksAt) = (false, now + OnlineTournament.pause) }

  /// The path in the address of the tournament's page; for the organiser it contains the secret. `nil` without a tournament.
  var path: String? {
    guard let view else { return linkedCode.isEmpty ? nil : "t/\(linkedCode)" }
    return (["t", view.code] + (view.secret.map { [$0] } ?? [])).joined(separator: "/")
  }

  // MARK: - For the pages

  private func row(_ row: TournamentRow, at place: Int) -> TournamentModel.Row {
    var model = TournamentModel.Row()
    (model.number, model.place, model.name, model.points) = (row.number, place, row.name, row.points)
    (model.games, model.isOnFire, model.isMine) = (row.games, row.isOnFire, row.number == view?.notice.you)
    switch row.status {
    case .playing: model.status = .playing
    case .paused: model.status = .paused
    case .left, .removed: model.status = .left
    }
    return model
  }

  /// The tournament for its page; `milliseconds` is the client's clock.
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
    (model.isOrganiser, model.top) = (notice.isOrganiser, notice.top?.rawValue)
    return model
  }

  /// The player's own row; `nil` for a spectator.
  var standing: TournamentModel.Standing? {
    guard let view, let mine = view.mine, let place = view.place else { return nil }
    return .init(row(mine, at: place), isWaiting: view.mayPlay)
  }
}
