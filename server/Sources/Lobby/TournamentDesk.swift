import MatchProtocol
import MatchStore

/// The tournaments that connections of this node follow, or whose players wait in the leader's queue.
struct TournamentDesk: Sendable {
  struct Follower: Sendable {
    let account: Int64
    let isOrganiser: Bool
  }

  struct Entry: Sendable {
    /// The tournament as last read.
    fileprivate(set) var known: Tournament?
    fileprivate(set) var entrants: [Int64: Entrant] = [:]
    fileprivate(set) var followers: [ConnectionID: Follower] = [:]
    /// The table's rows and the notice (the tournament's state) that were last sent to all followers.
    private var rows: [TournamentRow] = []
    /// The numbers of players whose newer row was sent to some followers only. The next message to all followers includes these rows even
    /// if they equal `rows` again: some followers may have a row that was right for a moment only.
    private var partlySent: Set<Int> = []
    private var notice = TournamentNotice()
    /// When all followers were last sent a message, in monotonic ms.
    private var toldAt = Int64.min / 2
    /// Whether the store may have a later version of the tournament.
    fileprivate var isBehind = true
    fileprivate var isBeingRead = false
    private var readAt = Int64.min / 2
    /// Until when the leader needs the table to pair the players who wait, in monotonic ms.
    fileprivate var neededUntil = Int64.min / 2

    /// Keeps a tournament that was just read, unless a later version is known.
    mutating func take(_ found: Tournament, _ now: Int64) {
      readAt = now
      guard found.record.version >= known?.record.version ?? 0 else { return isBehind = true }
      // Keep `isClosed`: the answer to the organiser's `end` sets it, but a table read within the next second does not.
      let wasClosed = known?.isClosed == true
      known = found
      if wasClosed { known?.isClosed = true }
      entrants = Dictionary(found.entrants.map { ($0.account, $0) }, uniquingKeysWith: { $1 })
    }

    /// The lines that bring a follower these rows. `isWhole`: they are the whole table.
    fileprivate mutating func tableLines(
      _ code: String, _ rows: [TournamentRow], isWhole: Bool, to id: ConnectionID
    ) -> [LobbyEffect] {
      partlySent.formUnion(rows.filter(isNews).map(\.number))
      return ServerMessage.table(of: code, rows, isWhole: isWhole).map { .send(id, $0, .essential) }
    }

    /// The notice as one follower gets it.
    fileprivate func line(
      _ notice: TournamentNotice, to id: ConnectionID, re: String? = nil, secret: String? = nil
    ) -> [LobbyEffect] {
      guard let follower = followers[id] else { return [] }
      var notice = notice
      notice.you = entrants[follower.account]?.row.number
      notice.isOrganiser = follower.isOrganiser
      notice.secret = secret
      return [.line(.tournament(notice), to: id, re: re)]
    }

    /// Whether some follower may lack the row or have an older one. Players are numbered from 1 in the order of `rows`.
    func isNews(_ row: TournamentRow) -> Bool {
      row.number > rows.count || rows[row.number - 1] != row || partlySent.contains(row.number)
    }

    /// Returns the changed rows, and the notice if it has changed, and records them as sent to all followers. Returns `nil` if nothing may
    /// be sent yet.
    mutating func takeChanges(_ now: Moment) -> (rows: [TournamentRow], notice: TournamentNotice?)? {
      guard let known, mayTell(now) else { return nil }
      let newRows = known.entrants.map(\.row)
      var changed = newRows.filter(isNews)
      // Omit a name that the followers have already.
      for (i, row) in changed.enumerated() where row.number <= rows.count && rows[row.number - 1].name == row.name {
        changed[i].name = ""
      }
      let newNotice = notice(now)
      var compared = newNotice
      (compared.remaining, compared.running) = (notice.remaining, notice.running)
      let hasNewNotice = compared != notice
      (rows, partlySent, notice, toldAt) = (newRows, [], newNotice, now.monotonic)
      return (changed, hasNewNotice ? newNotice : nil)
    }

    /// Above 100 followers, changes wait up to three seconds: a message to 512 players delays answers to moves by some milliseconds.
    private func mayTell(_ now: Moment) -> Bool {
      followers.count <= 100 || now.monotonic - toldAt >= 3000 || phase(now) != notice.phase
    }

    /// Whether to read the tournament now. Until the tournament is over, it is read every `every` ms, in case a notification was lost.
    func isDue(_ now: Moment, every: Int64) -> Bool {
      guard !isBeingRead else { return false }
      return isBehind || mayBeFinal(now) || phase(now) != .over && now.monotonic - readAt >= every
    }

    func phase(_ now: Moment) -> TournamentNotice.Phase {
      known.map { $0.phase(at: now.wall) } ?? .waiting
    }

    /// Whether a table read now has every game, while the table in memory may lack games.
    private func mayBeFinal(_ now: Moment) -> Bool {
      guard let known, !known.isClosed else { return false }
      let settles = TournamentRecord.settles
      return now.wall >= known.record.closes + settles && now.monotonic - readAt >= settles
    }

    /// The tournament's state for its followers, without the table and the fields that differ for each receiver.
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
  /// For each address, the open tournaments made from it at this node: code, and closing time in ms since 1970.
  private var made: [String: [String: Int64]] = [:]

  subscript(code: String) -> Entry? { entries[code] }

  mutating func markBehind(_ code: String) { entries[code]?.isBehind = true }

  // MARK: following

  func isFollowed(_ code: String, by id: ConnectionID) -> Bool { entries[code]?.followers[id] != nil }

  /// Makes a connection follow a tournament.
  mutating func follow(_ found: Tournament, _ command: ClientCommand, isOrganiser: Bool, _ now: Moment) {
    let (code, account, id) = (found.record.code, command.session.account, command.id)
    let wasOrganiser = entries[code]?.followers[id]?.isOrganiser == true
    unfollow(id)
    entries[code, default: Entry()].take(found, now.monotonic)
    entries[code]?.followers[id] = .init(account: account, isOrganiser: isOrganiser || wasOrganiser)
  }

  /// Answers a command of a follower with the tournament's state (its notice) and, if `isWhole`, its table; otherwise only with the
  /// player's row. `secret`: the organiser's, for the answer to `host`.
  mutating func answer(
    _ command: ClientCommand, about code: String, isWhole: Bool, secret: String?, _ now: Moment
  ) -> [LobbyEffect] {
    guard let entry = entries[code], let known = entry.known else { return [] }
    let rows = known.entrants.filter { isWhole || $0.account == command.session.account }.map(\.row)
    return entry.line(entry.notice(now), to: command.id, re: command.re, secret: secret)
      + (entries[code]?.tableLines(code, rows, isWhole: isWhole, to: command.id) ?? [])
  }

  mutating func unfollow(_ id: ConnectionID, _ code: String? = nil) {
    for key in entries.keys where code == nil || key == code { entries[key]?.followers[id] = nil }
  }

  /// The lines that bring the followers the rows that have changed and, if it has changed, the notice.
  mutating func changes(of code: String, _ now: Moment) -> [LobbyEffect] {
    guard let changes = entries[code]?.takeChanges(now), let entry = entries[code] else { return [] }
    let table = ServerMessage.table(of: code, changes.rows, isWhole: false)
    // The notice comes after the rows, so that the table is complete when the notice has the phase `over`.
    return entry.followers.keys.sorted().flatMap { id in
      table.map { LobbyEffect.send(id, $0, .essential) } + (changes.notice.map { entry.line($0, to: id) } ?? [])
    }
  }

  // MARK: reading

  /// Keeps tournaments in memory for 10 s, because the leader needs their tables for pairing. `now`: monotonic ms.
  mutating func need(_ codes: Set<String>, _ now: Int64) {
    for code in codes { entries[code, default: Entry()].neededUntil = now + 10_000 }
  }

  /// Called once a second: the tournaments to read now, and those of which time may have changed the state, sorted.
  mutating func beginReading(_ now: Moment, every: Int64) -> (due: [String], others: [String]) {
    var (due, others): ([String], [String]) = ([], [])
    for (code, entry) in entries.sorted(by: { $0.key < $1.key }) {
      guard entry.isDue(now, every: every) else {
        others.append(code)
        continue
      }
      entries[code]?.isBeingRead = true
      entries[code]?.isBehind = false
      due.append(code)
    }
    return (due, others)
  }

  /// `found`: `nil` if the store did not answer with the tournament. Returns whether the tournament is known now.
  mutating func endReading(_ code: String, _ found: Tournament?, _ now: Int64) -> Bool {
    entries[code]?.isBeingRead = false
    guard let found, entries[code] != nil else {
      markBehind(code)
      return false
    }
    entries[code]?.take(found, now)
    return true
  }

  mutating func dropUnneeded(_ now: Int64) {
    entries = entries.filter { !$0.value.followers.isEmpty || $0.value.isBeingRead || $0.value.neededUntil > now }
  }

  // MARK: limits

  /// Throws if `most` open tournaments were made from an address at this node. `address`: `nil` for a client of this machine, which may
  /// make any number. `now`: milliseconds since 1970.
  func requireMayMake(from address: String?, atMost most: Int, _ now: Int64) throws(Refusal) {
    guard let address, let made = made[address] else { return }
    let open = made.count { entries[$0.key]?.known?.record.closes ?? $0.value > now }
    guard open < most else { throw Refusal(.occupied, "at most \(most) open tournaments from one address") }
  }

  mutating func hasMade(_ record: TournamentRecord, from address: String?, _ now: Int64) {
    guard let address else { return }
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
  /// A new tournament. Throws if it has no name.
  init(_ terms: TournamentTerms, code: String, secret: String) throws(Refusal) {
    self.init()
    self.terms = terms
    self.terms.name = ChatText.cleaned(terms.name)
    guard !self.terms.name.isEmpty else { throw Refusal(.name, "the tournament needs a name") }
    (self.code, self.secret) = (code, Secret.digest(secret))
  }

  var matchTerms: MatchTerms {
    var match = MatchTerms(rules: terms.rules, clock: terms.clock)
    match.tournament = code
    return match
  }

  /// The musical station of a game that begins now: the same for a minute, so that all phones in a room play in one key.
  func station(_ now: Int64) -> Int {
    let minute = max(0, now - (begins ?? now)) / 60_000
    return Int((created / 1000 + minute) % Int64(MatchState.stations))
  }
}

extension Tournament {
  /// Why a player cannot be paired in the tournament at `wall`, in milliseconds since 1970; `nil` if nothing prevents it.
  func refusal(ofSeekBy account: Int64, at wall: Int64) -> Refusal? {
    switch record.phase(at: wall, isFinal: true) {
    case .waiting: return Refusal(.over, "the tournament has not started")
    case .ending, .over: return Refusal(.over, "the tournament is over")
    case .running: break
    }
    switch entrants.first(where: { $0.account == account })?.row.status {
    case .playing: return nil
    case .paused: return Refusal(.over, "you have paused; send play to go on")
    case .left, nil: return Refusal(.over, "enter the tournament first")
    case .removed: return Refusal(.over, Refusal.removedFromTournament.text)
    }
  }

  func account(numbered number: Int) throws(Refusal) -> Int64 {
    guard let entrant = entrants.first(where: { $0.row.number == number }) else {
      throw Refusal(.notFound, "the tournament has no such player")
    }
    return entrant.account
  }
}

extension MatchSummary {
  /// Whether this is a finished game of a tournament in which `x` had X.
  func isGame(of tournament: String, x: Int64) -> Bool {
    terms.tournament == tournament && record.x == x && end?.outcome != nil
  }
}

extension TournamentOrder {
  /// Whether the order comes from the organiser. Throws if the secret is wrong, or missing from an order that only the organiser may give.
  func isOrganiser(of record: TournamentRecord) throws(Refusal) -> Bool {
    let isOrganiser = secret.map { Secret.digest($0) == record.secret } ?? false
    guard isOrganiser || secret == nil && !isOrganisers else {
      throw Refusal(.forbidden, "this is not the organiser's secret")
    }
    return isOrganiser
  }

  /// The change that a player's order makes in the store; `nil` for an order that only reads. Throws if the player may not give the order.
  func change(of record: TournamentRecord, by command: ClientCommand) throws(Refusal) -> TournamentChange? {
    let account = command.session.account
    switch operation {
    case .follow, .unfollow, .games: return nil
    case .enter:
      try command.requireGame(record.terms.rules)
      guard !command.session.isBot || record.terms.bots else {
        throw Refusal(.forbidden, "the organiser lets no programs play")
      }
      return .enter(account: account)
    case .pause: return .status(account: account, .paused)
    case .play: return .status(account: account, .playing)
    case .leave: return .status(account: account, .left)
    case .start: return .begin(delay: Int64(delay ?? 0))
    case .end: return .end
    case .remove, .admit: return .remove(name: name ?? "", operation == .remove)
    }
  }
}

extension ServerMessage {
  /// The most rows of a table in one line to a client: with the longest names they fill two thirds of `Limits.lineOut`.
  private static let rowsPerLine = 100

  /// The lines that bring a client these rows of a tournament's table. `isWhole`: the rows are the whole table, which may be empty.
  static func table(of code: String, _ rows: [TournamentRow], isWhole: Bool) -> [[UInt8]] {
    stride(from: 0, to: isWhole ? max(1, rows.count) : rows.count, by: rowsPerLine).map { start in
      let some = Array(rows[start..<min(start + rowsPerLine, rows.count)])
      return ServerMessage.standings(code, some, isWhole: isWhole && start == 0).bytes()
    }
  }
}
