import Base
import MatchProtocol
import TicTacToe

/// The stored data of a tournament other than its entrants.
package struct TournamentRecord: FieldObject, Sendable, Hashable {
  package var code = ""
  package var terms = TournamentTerms()
  /// SHA-256 of the organiser's secret.
  package var secret = SHA256.hash([])
  /// Milliseconds since 1970, like `begins` and `ends`, which are `nil` until they are set.
  package var created: Int64 = 0
  package var begins: Int64?
  package var ends: Int64?
  /// Counts changes by requests, not by games. Of two answers, which may arrive in the wrong order, the greater `version` is later.
  package var version = 0

  package init() {}

  package mutating func code(_ c: inout FieldCoder) throws(FieldError) {
    try c.code("code", &code)
    try c.code("name", &terms.name)
    try c.code("rules", &terms.rules)
    terms.clock = TimeControl(try c.field("clock", terms.clock.description)) ?? terms.clock
    try c.code("minutes", &terms.minutes)
    try c.code("bots", &terms.bots)
    try c.code("secret", &secret)
    try c.code("created", &created)
    try c.code("begins", &begins)
    try c.code("ends", &ends)
    version = try c.field("version", version, unless: 0)
  }

  /// Milliseconds for which a tournament waits for its start: the longest delay plus a day.
  private static let waits: Int64 = Int64(TournamentOrder.longestDelay) + 86_400_000
  /// Milliseconds for which a tournament is kept after its end: a week.
  package static let kept: Int64 = 7 * 86_400_000
  /// Milliseconds after the end within which every game ends by its clock. A game that still counts as running then was given up by the
  /// server, and the tournament is over.
  private static let longestGame: Int64 = 4 * 3_600_000

  /// Milliseconds since 1970 from which no further game begins: the end or, without one, the latest possible start.
  package var closes: Int64 { ends ?? created + Self.waits }

  /// `now`: milliseconds since 1970. `isFinal`: whether no game can change the table any more.
  package func phase(at now: Int64, isFinal: Bool) -> TournamentNotice.Phase {
    if now >= closes { return isFinal || now >= closes + Self.longestGame ? .over : .ending }
    return begins.map { now >= $0 } ?? false ? .running : .waiting
  }

  package func takesGames(at now: Int64) -> Bool { phase(at: now, isFinal: true) == .running }

  /// A table read this many milliseconds after the end has every game. A game enters the table a moment after it began.
  package static let settles: Int64 = 1000
}

/// The stored data of a tournament's player.
package struct Entrant: FieldObject, Sendable, Hashable {
  package var account: Int64 = 0
  package var row = TournamentRow()
  /// Games as X minus games as O; the player with the lower balance gets X.
  package var balance = 0
  package var lastOpponent: Int64?
  /// The player's game in progress (`game`), and the game that the player won last (`won`).
  package var game: MatchID?
  package var won: MatchID?

  package init() {}
  package init(account: Int64, number: Int) { (self.account, row.number) = (account, number) }

  package mutating func code(_ c: inout FieldCoder) throws(FieldError) {
    // Leave the name out of the stored entrant: it may change, and only the account's row has it.
    let name = row.name
    if !c.isReading { row.name = "" }
    try row.code(&c)
    if !c.isReading { row.name = name }
    try c.code("account", &account)
    try c.code("balance", &balance)
    try c.code("last", &lastOpponent)
    try c.code("game", &game)
    try c.code("won", &won)
  }
}

package struct Tournament: Sendable, Hashable {
  package var record: TournamentRecord
  /// In the order of entering, under their present names.
  package var entrants: [Entrant]
  /// Whether the table has every game, because no further game can begin.
  package var isClosed: Bool

  /// The most entrants: 256 games at once.
  package static let mostEntrants = 512

  package init(_ record: TournamentRecord, _ entrants: [Entrant], isClosed: Bool = false) {
    (self.record, self.entrants, self.isClosed) = (record, entrants, isClosed)
  }

  /// `time`: milliseconds since 1970 on the store's clock.
  package init(_ record: TournamentRecord, _ entrants: [Entrant], readAt time: Int64) {
    self.init(record, entrants, isClosed: time >= record.closes + TournamentRecord.settles)
  }

  package func phase(at now: Int64) -> TournamentNotice.Phase {
    record.phase(at: now, isFinal: isClosed && games.isEmpty)
  }

  /// The games in progress, sorted by the sum of both players' points, the highest sum first.
  package var games: [MatchID] {
    var points: [MatchID: Int] = [:]
    for entrant in entrants { if let m = entrant.game { points[m, default: 0] += entrant.row.points } }
    return points.sorted { (-$0.value, $0.key) < (-$1.value, $1.key) }.map(\.key)
  }

  /// The entrants whom the organiser has not removed, the best first.
  package var ranked: [Entrant] {
    entrants.filter { $0.row.status != .removed }.sorted { $0.row.ranks(before: $1.row) }
  }
}

/// The beginning or the end of a tournament's game, as a part of a unit.
package struct TournamentGame: Sendable, Hashable {
  package enum Change: Sendable, Hashable {
    case begins
    /// An aborted game has no outcome. `pauses`: the player who missed the time limit of the first move, and must ask to be paired again.
    case ends(Outcome?, pauses: Player?)
  }

  package var code: String
  package var m: MatchID
  package var seats: Sides<Int64>
  package var change: Change

  package init(_ code: String, _ m: MatchID, _ seats: Sides<Int64>, _ change: Change) {
    (self.code, self.m, self.seats, self.change) = (code, m, seats, change)
  }

  package func apply(to entrants: inout Sides<Entrant?>) {
    let before = Sides(x: entrants.x?.row.points ?? 0, o: entrants.o?.row.points ?? 0)
    for side in Player.allCases {
      switch change {
      case .begins:
        entrants[side]?.game = m
        entrants[side]?.lastOpponent = seats[side.opponent]
        entrants[side]?.balance += side == .x ? 1 : -1
      case .ends(let outcome, let pauses):
        if entrants[side]?.game == m { entrants[side]?.game = nil }
        if pauses == side, entrants[side]?.row.status == .playing { entrants[side]?.row.status = .paused }
        guard let outcome else { continue }
        entrants[side]?.row.add(
          outcome == .draw ? 0 : outcome == .win(side) ? 1 : -1, against: before[side.opponent])
        if outcome == .win(side) { entrants[side]?.won = m }
      }
    }
  }
}

package enum TournamentChange: Sendable, Hashable {
  /// Adds a player, or brings back a player who has left.
  case enter(account: Int64)
  /// Only players with the status `playing` are paired.
  case status(account: Int64, TournamentRow.Status)
  /// Starts the tournament in `delay` milliseconds.
  case begin(delay: Int64)
  case end
  /// Removes the player of this name (`true`), or lets a removed player in again (`false`).
  case remove(name: String, Bool)
}

package enum TournamentResult: Sendable, Hashable {
  case found(Tournament)
  /// No tournament has the code.
  case unknown
  /// Another tournament has the code that was drawn.
  case taken
  /// Too many open tournaments, or too many entrants of the tournament.
  case full
  /// The organiser has removed the player.
  case removed
  case hasStarted, isOver
  /// The tournament has no such player.
  case noEntrant
}

/// The row operations that `host`, `found`, `change` and `play` below need. Rows that were read cannot change until the transaction ends.
package protocol TournamentRows {
  /// Milliseconds since 1970 on the store's clock.
  mutating func now() throws(StoreError) -> Int64
  mutating func tournament(_ code: String) throws(StoreError) -> TournamentRecord?
  mutating func tournament(secret: SHA256.Digest) throws(StoreError) -> TournamentRecord?
  /// The number of tournaments that close later than `time`, in milliseconds since 1970.
  mutating func tournaments(closingAfter time: Int64) throws(StoreError) -> Int
  mutating func put(_ tournament: TournamentRecord) throws(StoreError)
  mutating func entrant(_ account: Int64, of code: String) throws(StoreError) -> Entrant?
  /// In the order of entering, under their present names.
  mutating func entrants(of code: String) throws(StoreError) -> [Entrant]
  mutating func put(_ entrant: Entrant, of code: String) throws(StoreError)
}

extension TournamentRows {
  package mutating func host(_ wanted: TournamentRecord, most: Int) throws(StoreError) -> TournamentResult {
    let time = try now()
    if let known = try tournament(secret: wanted.secret) {
      return .found(Tournament(known, try entrants(of: known.code), readAt: time))
    }
    guard try tournaments(closingAfter: time) < most else { return .full }
    guard try tournament(wanted.code) == nil else { return .taken }
    var record = wanted
    record.created = time
    try put(record)
    return .found(Tournament(record, []))
  }

  package mutating func found(_ code: String) throws(StoreError) -> TournamentResult {
    guard let record = try tournament(code) else { return .unknown }
    let time = try now()
    return .found(Tournament(record, try entrants(of: code), readAt: time))
  }

  package mutating func play(_ game: TournamentGame) throws(StoreError) {
    var both = Sides(
      x: try entrant(game.seats.x, of: game.code), o: try entrant(game.seats.o, of: game.code))
    game.apply(to: &both)
    for case let entrant? in [both.x, both.o] { try put(entrant, of: game.code) }
  }

  package mutating func change(_ code: String, _ change: TournamentChange) throws(StoreError) -> TournamentResult {
    guard var record = try tournament(code) else { return .unknown }
    let time = try now()
    var all = try entrants(of: code)
    guard time < record.closes else { return .isOver }
    func isMeant(_ entrant: Entrant) -> Bool {
      switch change {
      case .enter(let account), .status(let account, _): entrant.account == account
      case .remove(let name, _): entrant.row.name.lowercased() == name.lowercased()
      case .begin, .end: false
      }
    }
    let i = all.firstIndex(where: isMeant)
    switch change {
    case .begin(let delay):
      guard record.begins.map({ time < $0 }) ?? true else { return .hasStarted }
      record.begins = time + delay
      record.ends = time + delay + Int64(record.terms.minutes) * 60_000
    case .end:
      (record.begins, record.ends) = (min(record.begins ?? time, time), time)
    case .enter(let account):
      if let i {
        guard all[i].row.status != .removed else { return .removed }
        if all[i].row.status == .left { try set(.playing, &all[i], code) }
      } else {
        guard all.count < Tournament.mostEntrants else { return .full }
        try put(Entrant(account: account, number: all.count + 1), of: code)
        all = try entrants(of: code)
      }
    case .status(_, let status):
      guard let i else { return .noEntrant }
      guard all[i].row.status != .removed else { return .removed }
      try set(status, &all[i], code)
    case .remove(_, let isOut):
      guard let i else { return .noEntrant }
      if isOut || all[i].row.status == .removed { try set(isOut ? .removed : .playing, &all[i], code) }
    }
    record.version += 1
    try put(record)
    // A game that begins locks the tournament's row, as this change does. So no game begins after `.end`, and `all` has every game.
    return .found(Tournament(record, all, isClosed: change == .end))
  }

  private mutating func set(
    _ status: TournamentRow.Status, _ entrant: inout Entrant, _ code: String
  ) throws(StoreError) {
    // Read the entrant's row again, which locks it: a game may have ended since the table was read.
    guard var fresh = try self.entrant(entrant.account, of: code) else { return }
    fresh.row.name = entrant.row.name
    fresh.row.status = status
    entrant = fresh
    try put(fresh, of: code)
  }
}

extension FieldObject {
  /// The text for a row of the database. Only lobbies decode it.
  package var stored: String { String(decoding: bytes(), as: UTF8.self) }

  /// Decodes a stored text; `nil` if a newer build wrote it.
  package init?(stored text: String) {
    guard let object = try? JSONObject(line: Array(text.utf8), with: "code"), let value = try? Self(object) else {
      return nil
    }
    self = value
  }
}

extension Entrant {
  /// `name`: the account's present name; `nil` if the account was deleted.
  package init?(stored text: String, name: String?) {
    self.init(stored: text)
    row.name = name ?? AccountRecord.deletedName(account)
  }
}
