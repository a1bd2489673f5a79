import Base
import TicTacToe

/// One entry of a match's log. `MatchState` is computed from the events, in order.
///
/// Times are milliseconds since 1970 by the server's clock; no decision depends on them.
package struct MatchEvent: Sendable, Hashable {
  package enum DrawAction: String, FieldText, Sendable, Hashable, CaseIterable {
    case offer, accept, decline
  }

  package enum Reason: String, FieldText, Sendable, Hashable, CaseIterable {
    /// A completed line or a full board.
    case normal
    case resign
    case time
    case agreement
    /// A side was away too long. The other side claimed the win, or the server gave it the win.
    case gone
    /// The match does not count: a side asked to abort it, a first move or a confirmation did not come in time, or both sides were away.
    case aborted
  }

  /// The ratings are rounded.
  package struct RatingChange: Sendable, Hashable {
    package var before: Int
    package var after: Int
    package init(before: Int, after: Int) {
      self.before = before
      self.after = after
    }
  }

  package enum Kind: Sendable, Hashable {
    /// A room was opened and waits for a player with its code.
    case open(by: String, MatchTerms)
    /// `confirm`, which only older servers set: both players must first confirm the pairing. `keys` are those of the seeks that led to the
    /// match. `station` (see `MatchState.station`) is given for a rematch or a tournament's game.
    case start(
      Sides<PlayerInfo>, MatchTerms, confirm: Bool, previous: MatchID?, station: Int? = nil, keys: [String])
    case confirm
    /// `ply` is the number of moves before this one, `spent` the time in ms.
    case move(ply: Int, cell: CellName, spent: Int)
    /// A side's time ran out.
    case flag
    /// An answer names the `seq` of the offer.
    case draw(DrawAction, offer: Int?)
    case resign
    case abort
    /// A side claimed the win because its opponent was away.
    case claim
    /// A side's connection was lost.
    case gone
    case back
    /// The server restarted, or the nodes of both sides died. Both sides count as away, and the clocks stand until the side to move is
    /// back, 40 s at most.
    case recovered
    /// The outcome is `nil` if the match was aborted.
    case end(Outcome?, Reason, ratings: Sides<RatingChange>?)
    /// A side asks for a rematch. If `next` is set, both sides have asked, and `next` is the rematch.
    case rematch(next: MatchID?)
    /// The server has annulled the match because of a fault in its log.
    case aside(why: String)
  }

  /// The newest version of the log's language (its kinds of events and its games) that this build reads. Versions 1 and 2 are those of the
  /// protocol too. Later versions only added games, which a client names in `hello`.
  package static let newest = Variant.allCases.reduce(2) { max($0, $1.since) }

  /// Milliseconds since 1970.
  package var at: Int64
  package var side: Player?
  /// The `mid` of the command that caused the event. In a match, no two events of a side have the same `mid`.
  package var mid: String?
  /// The milliseconds that each side has left after the event; only in a live match with a clock.
  package var clocks: Sides<Int>?
  package var kind: Kind

  package init(at: Int64, side: Player? = nil, mid: String? = nil, clocks: Sides<Int>? = nil, _ kind: Kind) {
    self.at = at
    self.side = side
    self.mid = mid
    self.clocks = clocks
    self.kind = kind
  }

  /// The event's bytes as stored, hashed and sent.
  package var body: [UInt8] {
    FieldCoder.bytes { coder throws(FieldError) in
      var copy = self
      coder.tell("k", name)
      try copy.code(&coder)
    }
  }

  /// The field `k` of the event's body.
  package var name: String {
    switch kind {
    case .open: "open"
    case .start: "start"
    case .confirm: "confirm"
    case .move: "move"
    case .flag: "flag"
    case .draw: "draw"
    case .resign: "resign"
    case .abort: "abort"
    case .claim: "claim"
    case .gone: "gone"
    case .back: "back"
    case .recovered: "recovered"
    case .end: "end"
    case .rematch: "rematch"
    case .aside: "aside"
    }
  }
}

extension MatchEvent {
  /// Unknown fields are ignored. An unknown kind or a missing field throws.
  package init(body: [UInt8]) throws(ProtocolError) {
    try self.init(JSONObject(line: body, with: "k"))
  }

  package init(_ body: JSONObject) throws(ProtocolError) {
    var coder = FieldCoder(reading: body)
    let name: String
    do throws(FieldError) { name = try coder.field("k", "") } catch { throw .field(error) }
    guard let blank = MatchEvent.blanks.first(where: { $0.name == name }) else {
      throw .unknownEvent(String(name.prefix(20)))
    }
    self = blank
    do throws(FieldError) { try code(&coder) } catch { throw .field(error) }
  }

  /// One event of each kind. A reader copies the event named by the field `k`, and replaces its values.
  private static let blanks: [MatchEvent] = {
    let nobody = PlayerInfo()
    let kinds: [Kind] = [
      .open(by: "", MatchTerms()),
      .start(Sides(x: nobody, o: nobody), MatchTerms(), confirm: false, previous: nil, keys: []), .confirm,
      .move(ply: 0, cell: CellName(Cell(0), in: .classic), spent: 0), .flag, .draw(.offer, offer: nil), .resign, .abort,
      .claim, .gone, .back,
      .recovered, .end(nil, .normal, ratings: nil), .rematch(next: nil), .aside(why: ""),
    ]
    return kinds.map { MatchEvent(at: 0, $0) }
  }()

  static var allowedTimes: String { "\(Limits.times.lowerBound)–\(Limits.times.upperBound) milliseconds since 1970" }

  /// Reads or writes all fields except `k`.
  private mutating func code(_ c: inout FieldCoder) throws(FieldError) {
    try c.code("at", &at)
    try c.require(Limits.times.contains(at), "at", MatchEvent.allowedTimes)
    try c.code("side", &side)
    try c.code("mid", &mid)
    switch kind {
    case .open(let by, let terms): kind = .open(by: try c.field("by", by), try c.terms(terms))
    case .start(let players, let terms, let confirm, let previous, let station, let keys):
      kind = .start(
        Sides(x: try c.field("x", players.x), o: try c.field("o", players.o)), try c.matchTerms(terms),
        confirm: try c.field("confirm", confirm, unless: false), previous: try c.field("prev", previous),
        station: try c.station(station),
        keys: MatchEvent.used(try c.field("keys", MatchEvent.used(keys), unless: [])))
    case .move(let ply, let cell, let spent):
      kind = .move(ply: try c.field("ply", ply), cell: try c.field("cell", cell), spent: try c.field("spent", spent))
    case .draw(let action, let offer): kind = .draw(try c.field("a", action), offer: try c.field("offer", offer))
    case .end(let outcome, let reason, let ratings):
      kind = .end(try c.result(outcome), try c.field("reason", reason), ratings: try c.ratings(ratings))
    case .rematch(let next): kind = .rematch(next: try c.field("next", next))
    case .aside(let why): kind = .aside(why: try c.field("why", why))
    case .confirm, .flag, .resign, .abort, .claim, .gone, .back, .recovered: break
    }
    try c.code("clk", &clocks)
  }

  /// An empty list if every key is empty.
  private static func used(_ keys: [String]) -> [String] { keys.contains { !$0.isEmpty } ? keys : [] }
}

extension MatchEvent.Kind {
  /// The version of the log's language that introduced this kind; of `open` and `start`, the version that introduced the game. A client
  /// with an older version gets the match's state instead of the event, but `open` and `start` go to every client that knows the game.
  package var since: Int {
    switch self {
    case .open(_, let terms), .start(_, let terms, _, _, _, _): terms.rules.since
    case .confirm, .move, .flag, .draw, .resign, .abort, .claim, .gone, .back, .recovered, .end,
      .rematch:
      1
    case .aside: 2
    }
  }
}

extension Outcome {
  /// `x`, `o` or `draw`.
  package var text: String {
    switch self {
    case .win(let player): player.text
    case .draw: "draw"
    }
  }

  package init?(text: String) {
    if let winner = Player(text: text) {
      self = .win(winner)
    } else if text == "draw" {
      self = .draw
    } else {
      return nil
    }
  }
}
