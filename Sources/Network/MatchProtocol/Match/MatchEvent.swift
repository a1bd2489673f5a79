import Base
import TicTacToe

/// One entry of a match's log: what happened, when, by whom.
///
/// The log is the match; everything else is folded from it. Times are milliseconds since 1970 by the server's clock and
/// decide nothing.
package struct MatchEvent: Sendable, Hashable {
  /// What a player may say about a draw.
  package enum DrawAction: String, Sendable, Hashable, CaseIterable {
    case offer, accept, decline
  }

  /// Why a match ended.
  package enum Reason: String, Sendable, Hashable, CaseIterable {
    /// A line or a full board.
    case normal
    /// A side resigned.
    case resign
    /// A flag fell.
    case time
    /// A draw was agreed.
    case agreement
    /// A side was away too long and the other took, or was given, the win.
    case gone
    /// Ended before it counted: by request, without a first move, unconfirmed, or deserted by both.
    case aborted
  }

  /// A rating before and after a match, rounded.
  package struct RatingChange: Sendable, Hashable {
    /// Before.
    package var before: Int
    /// After.
    package var after: Int
    /// Makes a change.
    package init(before: Int, after: Int) {
      self.before = before
      self.after = after
    }
  }

  /// What happened.
  package enum Kind: Sendable, Hashable {
    /// A room was opened and waits for somebody with its code.
    case open(by: String, MatchTerms)
    /// Two sides sit down. With `confirm` both must still say that they are there. `keys` are the seeks it answers.
    case start(Sides<PlayerInfo>, MatchTerms, confirm: Bool, previous: MatchID?, keys: [String])
    /// A side confirmed.
    case confirm
    /// A side marked a cell as ply `ply` (marks on the board before it), having used `spent` ms.
    case move(ply: Int, cell: Square, spent: Int)
    /// A side's time ran out.
    case flag
    /// A side spoke of a draw; an answer names the `seq` of the offer.
    case draw(DrawAction, offer: Int?)
    /// A side resigned.
    case resign
    /// A side asked to abort.
    case abort
    /// A side took the win that the other's absence gives.
    case claim
    /// A side's connection was lost.
    case gone
    /// A side came back.
    case back
    /// The server restarted; the clocks stand as at the last event.
    case recovered
    /// The match is over; the outcome is `nil` if it was aborted.
    case end(Outcome?, Reason, ratings: Sides<RatingChange>?)
    /// A side wants another match; with `next`, both do and it is there.
    case rematch(next: MatchID?)
    /// The server has set the match aside, because of what it says: it is over, aborted and without a result.
    case aside(why: String)
  }

  /// The newest version of the log's language this build reads; it reads all before, too.
  package static let newest = protocolVersions.max() ?? 1

  /// When, in milliseconds since 1970.
  package var at: Int64
  /// The side that did it, if one did.
  package var side: Player?
  /// The command it answers, if one: unique for match and side.
  package var mid: String?
  /// Milliseconds left after the event, in a clocked match once it is live.
  package var clocks: Sides<Int>?
  /// What happened.
  package var kind: Kind

  /// Makes an event.
  package init(at: Int64, side: Player? = nil, mid: String? = nil, clocks: Sides<Int>? = nil, _ kind: Kind) {
    self.at = at
    self.side = side
    self.mid = mid
    self.clocks = clocks
    self.kind = kind
  }

  /// The bytes that are stored, hashed and sent.
  package var body: [UInt8] {
    var out = JSONWriter()
    out.field("k", name)
    out.field("at", at)
    out.field("side", side?.wire)
    out.field("mid", mid)
    switch kind {
    case .open(let by, let terms):
      out.field("by", by)
      MatchEvent.write(terms, to: &out)
    case .start(let players, let terms, let confirm, let previous, let keys):
      out.raw("x", MatchEvent.json(players.x))
      out.raw("o", MatchEvent.json(players.o))
      MatchEvent.write(terms, to: &out)
      if confirm { out.field("confirm", true) }
      out.field("prev", previous?.rawValue)
      if keys.contains(where: { !$0.isEmpty }) { out.field("keys", keys) }
    case .move(let ply, let cell, let spent):
      out.field("ply", ply)
      out.field("cell", cell.name)
      out.field("spent", spent)
    case .draw(let action, let offer):
      out.field("a", action.rawValue)
      out.field("offer", offer)
    case .end(let outcome, let reason, let ratings):
      out.field("result", outcome?.wire ?? "none")
      out.field("reason", reason.rawValue)
      if let ratings {
        out.field("rx", [ratings.x.before, ratings.x.after])
        out.field("ro", [ratings.o.before, ratings.o.after])
      }
    case .rematch(let next): out.field("next", next?.rawValue)
    case .confirm, .flag, .resign, .abort, .claim, .gone, .back, .recovered: break
    case .aside(let why): out.field("why", why)
    }
    if let clocks { out.field("clk", [clocks.x, clocks.o]) }
    out.finish()
    return out.bytes
  }

  /// The `k` of the event.
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

  static func json(_ player: PlayerInfo) -> [UInt8] {
    var out = JSONWriter(capacity: 64)
    out.field("name", player.name)
    out.field("rating", player.rating)
    if player.guest { out.field("guest", true) }
    out.finish()
    return out.bytes
  }

  static func write(_ terms: MatchTerms, to out: inout JSONWriter) {
    out.field("clock", terms.clockText)
    out.field("rated", terms.rated)
  }
}

extension MatchEvent {
  /// Reads an event from its stored bytes; unknown fields are ignored, an unknown kind or a missing field throws.
  package init(body: [UInt8]) throws(ProtocolError) {
    try self.init(JSONObject(line: body, with: "k"))
  }

  /// Reads an event from the fields of its body.
  package init(_ body: JSONObject) throws(ProtocolError) {
    at = try body.int64("at")
    side = Player(wire: body["side"]?.string)
    mid = body["mid"]?.string
    clocks = try body.sides("clk")
    switch try body.string("k") {
    case "open": kind = .open(by: try body.string("by"), try body.terms())
    case "start":
      var previous: MatchID?
      if body["prev"] != nil { previous = try body.match("prev") }
      // None at all is the same as none of each.
      let keys = body["keys"]?.array?.compactMap { $0.string } ?? []
      kind = .start(
        Sides(x: try body.player("x"), o: try body.player("o")), try body.terms(),
        confirm: body["confirm"]?.bool ?? false, previous: previous,
        keys: keys.contains { !$0.isEmpty } ? keys : [])
    case "confirm": kind = .confirm
    case "move": kind = .move(ply: try body.int("ply"), cell: try body.cell("cell"), spent: try body.int("spent"))
    case "flag": kind = .flag
    case "draw":
      guard let action = DrawAction(rawValue: try body.string("a")) else {
        throw .invalid("a", "offer, accept, decline")
      }
      kind = .draw(action, offer: body["offer"]?.int)
    case "resign": kind = .resign
    case "abort": kind = .abort
    case "claim": kind = .claim
    case "gone": kind = .gone
    case "back": kind = .back
    case "recovered": kind = .recovered
    case "end":
      let result = try body.string("result")
      let outcome = Outcome(wire: result)
      guard outcome != nil || result == "none" else { throw .invalid("result", "x, o, draw, none") }
      guard let reason = Reason(rawValue: try body.string("reason")) else {
        throw .invalid("reason", Reason.allCases.map { $0.rawValue }.joined(separator: ", "))
      }
      var ratings: Sides<RatingChange>?
      if let x = body["rx"]?.array?.compactMap({ $0.int }), let o = body["ro"]?.array?.compactMap({ $0.int }),
        x.count == 2, o.count == 2
      {
        ratings = Sides(x: RatingChange(before: x[0], after: x[1]), o: RatingChange(before: o[0], after: o[1]))
      }
      kind = .end(outcome, reason, ratings: ratings)
    case "rematch":
      var next: MatchID?
      if body["next"] != nil { next = try body.match("next") }
      kind = .rematch(next: next)
    case "aside": kind = .aside(why: try body.string("why"))
    case let other: throw .unknownEvent(String(other.prefix(20)))
    }
  }
}

extension MatchEvent.Kind {
  /// The version of the log's language that brought this kind. Whoever speaks less cannot fold it: no node writes it
  /// while one that speaks less may own the match next, and a client that speaks less is told the state instead.
  package var since: Int {
    switch self {
    case .open, .start, .confirm, .move, .flag, .draw, .resign, .abort, .claim, .gone, .back, .recovered, .end,
      .rematch:
      1
    case .aside: 2
    }
  }
}

extension Outcome {
  /// `x`, `o` or `draw`.
  package var wire: String {
    switch self {
    case .win(let player): player.wire
    case .draw: "draw"
    }
  }

  /// Reads `x`, `o` or `draw`.
  package init?(wire: String?) {
    if let winner = Player(wire: wire) {
      self = .win(winner)
    } else if wire == "draw" {
      self = .draw
    } else {
      return nil
    }
  }
}
