import Base
import MatchProtocol
import TicTacToe

/// The stored data of a tournament other than its entrants. Its phase follows from its times and its games in progress.
package struct TournamentRecord: FieldObject, Sendable, Hashable {
  package var code = ""
  package var terms = TournamentTerms()
  /// SHA-256 of the organiser's secret.
  package var secret = SHA256.hash([])
  /// When the tournament was made (`created`), starts (`begins`) and ends (`ends`), in milliseconds since 1970. Start and end are `nil`
  /// until they are set.
  package var created: Int64 = 0
  package var begins: Int64?
  package var ends: Int64?
  /// The number of changes that requests have made, such as entering; games do not count. It shows which of two answers is the later one:
  /// answers of a shared store may arrive in another order than the changes were made.
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

  /// Milliseconds for which a tournament waits for its start: the longest delay (a week) plus a day.
  private static let waits: Int64 = Int64(TournamentOrder.longestDelay) + 86_400_000
  /// Milliseconds after its end in which a tournament and its table are kept: a week.
  package static let kept: Int64 = 7 * 86_400_000
  /// A game that runs at the end of a tournament ends by its clock within this many milliseconds. If a game is listed as running after
  /// that, the server has given the game up, and the tournament counts as over.
  private static let longestGame: Int64 = 4 * 3_600_000

  /// The time, in milliseconds since 1970, from which no further game begins: the end, or the latest possible start of a tournament whose
  /// end is not set.
  package var closes: Int64 { ends ?? created + Self.waits }

  /// The phase at a time, in milliseconds since 1970. `isFinal`: whether no game can change the table any more.
  package func phase(at now: Int64, isFinal: Bool) -> TournamentNotice.Phase {
    if now >= closes { return isFinal || now >= closes + Self.longestGame ? .over : .ending }
    return begins.map { now >= $0 } ?? false ? .running : .waiting
  }

  /// Whether games may begin at a time, in milliseconds since 1970.
  package func takesGames(at now: Int64) -> Bool { phase(at: now, isFinal: true) == .running }

  /// A table that is read at least this many milliseconds after the end has every game. An earlier one may lack a game: the store checks
  /// the time at which a game begins, and adds the game to the table a moment later.
  package static let settles: Int64 = 1000
}

/// The stored data of a tournament's player.
package struct Entrant: FieldObject, Sendable, Hashable {
  package var account: Int64 = 0
  /// The player's row of the tournament's table.
  package var row = TournamentRow()
  /// Games as X minus games as O in this tournament; the player with the lower balance gets X.
  package var balance = 0
  package var lastOpponent: Int64?
  /// The player's game in progress (`game`), and the game that the player won last (`won`).
  package var game: MatchID?
  package var won: MatchID?

  package init() {}
  package init(account: Int64, number: Int) { (self.account, row.number) = (account, number) }

  package mutating func code(_ c: inout FieldCoder) throws(FieldError) {
    // Leave out the name, which changes if the account is renamed or deleted. Only the account's row has the name.
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

/// A tournament with its table.
package struct Tournament: Sendable, Hashable {
  package var record: TournamentRecord
  /// The entrants in the order of entering, under their present names.
  package var entrants: [Entrant]
  /// Whether the table has every game of the tournament, because no further game can begin.
  package var isClosed: Bool

  /// The most entrants: 256 games at once.
  package static let mostEntrants = 512

  package init(_ record: TournamentRecord, _ entrants: [Entrant], isClosed: Bool = false) {
    (self.record, self.entrants, self.isClosed) = (record, entrants, isClosed)
  }

  /// A tournament as read at a time, in milliseconds since 1970 on the store's clock. `isClosed` follows from this time.
  package init(_ record: TournamentRecord, _ entrants: [Entrant], readAt time: Int64) {
    self.init(record, entrants, isClosed: time >= record.closes + TournamentRecord.settles)
  }

  /// The phase at a time, in milliseconds since 1970.
  package func phase(at now: Int64) -> TournamentNotice.Phase {
    record.phase(at: now, isFinal: isClosed && games.isEmpty)
  }

  /// The games in progress, each once, sorted by the sum of both players' points, the highest sum first.
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

/// The beginning or the end of a tournament's game, as a part of a unit. It changes the entries of both players.
package struct TournamentGame: Sendable, Hashable {
  package enum Change: Sendable, Hashable {
    case begins
    /// The game ends, without an outcome if it was aborted. A player who let the time of the first move run out pauses: the player is not
    /// paired until the player asks for it.
    case ends(Outcome?, pauses: Player?)
  }

  package var code: String
  package var m: MatchID
  package var seats: Sides<Int64>
  package var change: Change

  package init(_ code: String, _ m: MatchID, _ seats: Sides<Int64>, _ change: Change) {
    (self.code, self.m, self.seats, self.change) = (code, m, seats, change)
  }

  /// Applies the beginning or the end of the game to both entrants, as far as they still exist.
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
  /// Sets a player's status. Only players with the status `playing` are paired.
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
  /// Another tournament has the code that was drawn for the new tournament.
  case taken
  /// There are as many open tournaments, or entrants of this tournament, as are allowed.
  case full
  /// The organiser has removed the player.
  case removed
  case hasStarted, isOver
  /// The tournament has no such player.
  case noEntrant
}

/// The row operations that a store provides for tournaments. The functions `host`, `found`, `change` and `play` of the extension below,
/// which are the same for all stores, are built on them.
///
/// Rows that were read cannot change until the transaction ends.
package protocol TournamentRows {
  /// Milliseconds since 1970 on the store's clock.
  mutating func now() throws(StoreError) -> Int64
  mutating func tournament(_ code: String) throws(StoreError) -> TournamentRecord?
  mutating func tournament(secret: SHA256.Digest) throws(StoreError) -> TournamentRecord?
  /// The number of tournaments that close later than `time`, in milliseconds since 1970.
  mutating func tournaments(closingAfter time: Int64) throws(StoreError) -> Int
  mutating func put(_ tournament: TournamentRecord) throws(StoreError)
  mutating func entrant(_ account: Int64, of code: String) throws(StoreError) -> Entrant?
  /// All entrants with their present names, in the order of entering.
  mutating func entrants(of code: String) throws(StoreError) -> [Entrant]
  mutating func put(_ entrant: Entrant, of code: String) throws(StoreError)
}

extension TournamentRows {
  /// See `StoreQuestion.host`.
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

  /// See `StoreQuestion.tournament`.
  package mutating func found(_ code: String) throws(StoreError) -> TournamentResult {
    guard let record = try tournament(code) else { return .unknown }
    let time = try now()
    return .found(Tournament(record, try entrants(of: code), readAt: time))
  }

  /// Changes the entrants of a game that begins or ends.
  package mutating func play(_ game: TournamentGame) throws(StoreError) {
    var both = Sides(
      x: try entrant(game.seats.x, of: game.code), o: try entrant(game.seats.o, of: game.code))
    game.apply(to: &both)
    for case let entrant? in [both.x, both.o] { try put(entrant, of: game.code) }
  }

  /// See `StoreQuestion.changeTournament`.
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
    // The beginning of a game locks the tournament's row, as this change does. So no game begins during this change, and after `.end` none
    // begins at all: `all` has every game.
    return .found(Tournament(record, all, isClosed: change == .end))
  }

  private mutating func set(
    _ status: TournamentRow.Status, _ entrant: inout Entrant, _ code: String
  ) throws(StoreError) {
    // The entrant's row is locked and read again: the end of a game may have changed it since the table was read.
    guard var fresh = try self.entrant(entrant.account, of: code) else { return }
    fresh.row.name = entrant.row.name
    fresh.row.status = status
    entrant = fresh
    try put(fresh, of: code)
  }
}

extension FieldObject {
  /// The value as a text to be stored in a row of the database. Only lobbies decode the text.
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
  /// Decodes the stored text of an entrant. `name` is the present name of the account; if it is `nil`, the account was deleted, and the
  /// entrant is named `deleted-ID`.
  package init?(stored text: String, name: String?) {
    self.init(stored: text)
    row.name = name ?? AccountRecord.deletedName(account)
  }
}
