import MatchProtocol
import MatchStore

/// The tournaments that connections of this node follow, or whose players wait in the leader's queue.
struct TournamentDesk: Sendable {
  struct Follower: Sendable {
    let account: Int64
    var isOrganiser: Bool
  }

  struct Entry: Sendable {
    /// The tournament as last read.
    fileprivate(set) var known: Tournament?
    fileprivate(set) var entrants: [Int64: Entrant] = [:]
    var followers: [ConnectionID: Follower] = [:]
    /// The table's rows and the tournament's state (the notice) that were last sent to all followers. The notice lacks the fields that
    /// differ for each receiver.
    var rows: [TournamentRow] = []
    /// The numbers of the players whose newer row was sent to some followers, not to all. The next message to all followers includes the
    /// rows of these players even if they equal `rows`: some followers may have a row that was right for a moment only.
    var partlySent: Set<Int> = []
    var notice = TournamentNotice()
    /// The monotonic time, in milliseconds, of the last message to all followers.
    var toldAt = Int64.min / 2
    /// Whether the store may have a later version of the tournament.
    var isBehind = true
    var isBeingRead = false
    fileprivate(set) var readAt = Int64.min / 2
    /// The monotonic time, in milliseconds, until which the leader needs the tournament's table to pair the players who wait.
    var neededUntil = Int64.min / 2

    /// Keeps a tournament that was just read, unless a later version is known.
    mutating func take(_ found: Tournament, _ now: Int64) {
      readAt = now
      guard found.record.version >= known?.record.version ?? 0 else { return isBehind = true }
      // The answer to the organiser's `end` has every game and sets `isClosed`. A table that is read less than a second later does not set
      // `isClosed`, although it has every game, too. So keep `isClosed` set.
      let wasClosed = known?.isClosed == true
      known = found
      if wasClosed { known?.isClosed = true }
      entrants = Dictionary(found.entrants.map { ($0.account, $0) }, uniquingKeysWith: { $1 })
    }

    /// Whether some follower may lack the row or have an older one. Players are numbered from 1 in the order of `rows`.
    func isNews(_ row: TournamentRow) -> Bool {
      row.number > rows.count || rows[row.number - 1] != row || partlySent.contains(row.number)
    }

    /// Whether to send changes to all followers now: above 100 followers only every three seconds, because a message to 512 players keeps
    /// the node from answering moves for some milliseconds. A new phase is sent at once.
    func mayTell(_ now: Moment) -> Bool {
      followers.count <= 100 || now.monotonic - toldAt >= 3000 || phase(now) != notice.phase
    }

    /// Whether to read the tournament now: it has changed; its table may now be final; or it is not over and was last read `every` ms ago
    /// or earlier, so that a lost notification of a change does no harm.
    func isDue(_ now: Moment, every: Int64) -> Bool {
      guard !isBeingRead else { return false }
      return isBehind || mayBeFinal(now) || phase(now) != .over && now.monotonic - readAt >= every
    }

    func phase(_ now: Moment) -> TournamentNotice.Phase {
      known.map { $0.phase(at: now.wall) } ?? .waiting
    }

    /// Whether a table that is read now has every game (`isClosed`), while the table in memory may still lack games.
    private func mayBeFinal(_ now: Moment) -> Bool {
      guard let known, !known.isClosed else { return false }
      let settles = TournamentRecord.settles
      return now.wall >= known.record.closes + settles && now.monotonic - readAt >= settles
    }

    /// The tournament's state as its followers receive it, without the table and without the fields that differ for each receiver.
    func notice(_ now: Moment) -> TournamentNotice {
      var notice = TournamentNotice()
      guard let known else { return notice }
      let (record, games) = (known.record, known.games)
      (notice.code, notice.terms, notice.phase) = (record.code, record.terms, phase(now))
      switch notice.phase {
      case .waiting: notice.remaining = record.begins.map { Int($0 - now.wall) }
      case .running: notice.remaining = record.ends.map { Int($0 - now.wall) }
      case .ending: break
      case .over: notice.winners = known.ranked.prefix(3).map(TournamentNotice.Winner.init)
      }
      (notice.entrants, notice.running) = (known.entrants.count, games.count)
      // Keep the same top game (the one to watch) until it ends, so that spectators do not change boards.
      notice.top = self.notice.top.flatMap { games.contains($0) ? $0 : nil } ?? games.first
      return notice
    }
  }

  private(set) var entries: [String: Entry] = [:]
  /// For each address, the open tournaments that were made from it at this node: their codes, and the times at which they close.
  private var made: [String: [String: Int64]] = [:]

  subscript(code: String) -> Entry? {
    get { entries[code] }
    set { entries[code] = newValue }
  }

  /// Notes that a tournament has changed in the store.
  mutating func markBehind(_ code: String) { entries[code]?.isBehind = true }

  /// Updates the entry of a tournament that was just read; makes the entry if it is missing.
  mutating func take(_ found: Tournament, _ now: Int64) {
    entries[found.record.code, default: Entry()].take(found, now)
  }

  /// Keeps a tournament in memory until a monotonic time (in ms), because the leader needs its table to pair the players who wait.
  mutating func need(_ code: String, until time: Int64) { entries[code, default: Entry()].neededUntil = time }

  mutating func unfollow(_ id: ConnectionID, _ code: String? = nil) {
    for key in entries.keys where code == nil || key == code { entries[key]?.followers[id] = nil }
  }

  /// Drops the tournaments that neither a follower nor the leader's queue needs.
  mutating func dropUnneeded(_ now: Int64) {
    entries = entries.filter { !$0.value.followers.isEmpty || $0.value.isBeingRead || $0.value.neededUntil > now }
  }

  // MARK: limits

  /// The number of open tournaments that were made from an address at this node.
  func open(from address: String, _ now: Int64) -> Int {
    made[address]?.filter { entries[$0.key]?.known?.record.closes ?? $0.value > now }.count ?? 0
  }

  mutating func hasMade(_ record: TournamentRecord, from address: String, _ now: Int64) {
    made = made.mapValues { $0.filter { $0.value > now } }.filter { !$0.value.isEmpty }
    made[address, default: [:]][record.code] = record.closes
  }

  /// Records the new closing time of a tournament that was made at this node.
  mutating func closes(_ record: TournamentRecord) {
    for address in made.keys where made[address]?[record.code] != nil { made[address]?[record.code] = record.closes }
  }
}

extension TournamentNotice.Winner {
  fileprivate init(_ entrant: Entrant) {
    self.init()
    (number, name, won) = (entrant.row.number, entrant.row.name, entrant.won)
  }
}

extension TournamentRecord {
  /// The terms of the tournament's games.
  var matchTerms: MatchTerms {
    var match = MatchTerms(rules: terms.rules, clock: terms.clock)
    match.tournament = code
    return match
  }

  /// The musical station (the position in the cycle of tonics) of a game that begins now: the same for all games of a minute, so that
  /// phones in one room play in one key.
  func station(_ now: Int64) -> Int {
    let minute = max(0, now - (begins ?? now)) / 60_000
    return Int((created / 1000 + minute) % Int64(MatchState.stations))
  }
}
