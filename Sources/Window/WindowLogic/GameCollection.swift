import Base
import ClientModel
import MatchProtocol

/// Collects all finished games of a tournament: for each player the games played as X, so that each game arrives once.
struct GameCollection: Sendable {
  private let code: String
  /// The requests that are still to be sent.
  private var waiting: [TournamentOrder]
  /// The players of the requests that were sent and not answered, by number. An answer to a collection that was given up changes nothing.
  private var unanswered: Set<Int> = []
  private var asksAt = -Double.infinity
  private var found: [MatchID: MatchState] = [:]

  /// The number of requests sent at a time, and the seconds until more are sent: 16 requests per second. The server allows 20.
  private static let (most, interval) = (8, 0.5)

  init(of view: TournamentView) {
    code = view.code
    waiting = (view.table + view.removed).filter { $0.games > 0 }.map {
      TournamentOrder(.games, view.code, number: $0.number)
    }
  }

  /// All games in the order of their first moves; `nil` until the last game has arrived.
  var games: [MatchState]? {
    guard waiting.isEmpty, unanswered.isEmpty else { return nil }
    return found.values.sorted { ($0.times.first ?? 0, $0.id) < ($1.times.first ?? 0, $1.id) }
  }

  mutating func tick(at now: Double) -> [Effect] {
    guard now >= asksAt, !waiting.isEmpty else { return [] }
    asksAt = now + GameCollection.interval
    let next = waiting.prefix(GameCollection.most)
    waiting.removeFirst(next.count)
    unanswered.formUnion(next.compactMap { $0.number })
    return next.map { .command(.tournament($0)) }
  }

  /// Returns `false` for a match that is not a finished game of the tournament.
  mutating func take(_ state: MatchState) -> Bool {
    guard state.terms.tournament == code, state.phase == .over else { return false }
    found[state.id] = state
    return true
  }

  /// If `more` is set, the player in `rows` has older games.
  mutating func answered(_ rows: [JSONObject], more: Int64?) {
    guard let number = rows.first?["n"]?.int, unanswered.remove(number) != nil, let more else { return }
    waiting.append(TournamentOrder(.games, code, number: number, before: more))
  }

  mutating func refused(_ order: TournamentOrder, at now: Double) {
    guard let number = order.number, unanswered.remove(number) != nil else { return }
    waiting.append(order)
    asksAt = now + 2
  }
}
