import MatchProtocol

/// A tournament as the client shows it: the last notice of the server, and the table.
package struct TournamentView: Sendable, Hashable {
  package let code: String
  package private(set) var notice = TournamentNotice()
  /// The organiser's secret, if this client has it.
  package private(set) var secret: String?
  /// When the notice arrived, on the clock `MatchClient.now`.
  private var noticedAt: Int64 = 0
  private var rows: [Int: TournamentRow] = [:]
  /// The best first, without removed players.
  package private(set) var table: [TournamentRow] = []
  package private(set) var removed: [TournamentRow] = []

  init(code: String) { self.code = code }

  mutating func take(_ notice: TournamentNotice, _ now: Int64, secret: String? = nil) {
    (self.notice, noticedAt, self.secret) = (notice, now, secret)
    self.notice.secret = nil
  }

  mutating func take(_ changed: [TournamentRow], isWhole: Bool) {
    if isWhole { rows = [:] }
    for var row in changed {
      if row.name.isEmpty { row.name = rows[row.number]?.name ?? "" }
      rows[row.number] = row
    }
    let ranked = rows.values.sorted { $0.ranks(before: $1) }
    (table, removed) = (ranked.filter { $0.status != .removed }, ranked.filter { $0.status == .removed })
  }

  /// `nil` for a spectator.
  package var mine: TournamentRow? { notice.you.flatMap { rows[$0] } }
  /// The player's own place, from 1.
  package var place: Int? { table.firstIndex { $0.number == notice.you }.map { $0 + 1 } }
  /// Whether the player may be paired now.
  package var mayPlay: Bool { notice.phase == .running && mine?.status == .playing }

  /// Milliseconds until the tournament starts or, if it has started, until it ends.
  package func remaining(at now: Int64) -> Int? {
    notice.remaining.map { Int(clamping: max(0, Int64($0) - (now - noticedAt))) }
  }
}
