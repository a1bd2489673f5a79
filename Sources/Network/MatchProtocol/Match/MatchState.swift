import Base
import TicTacToe

/// A match as the fold of its log, and of nothing else: server, client and history checker all use this one fold.
package struct MatchState: Sendable, Hashable {
  /// How far a match has come.
  package enum Phase: String, Sendable, Hashable, CaseIterable {
    /// A room that waits for its second player.
    case open
    /// Both sides must still say that they are there.
    case confirming
    /// Being played.
    case live
    /// Ended.
    case over
  }

  /// A draw offer that stands.
  package struct Offer: Sendable, Hashable {
    /// Who offered.
    package var side: Player
    /// The `seq` of the offer, which an answer names.
    package var seq: Int
  }

  /// How a match ended.
  package struct End: Sendable, Hashable {
    /// Who won, `nil` if aborted.
    package var outcome: Outcome?
    /// Why.
    package var reason: MatchEvent.Reason
    /// The ratings, if they changed.
    package var ratings: Sides<MatchEvent.RatingChange>?

    /// Makes an end.
    package init(outcome: Outcome?, reason: MatchEvent.Reason, ratings: Sides<MatchEvent.RatingChange>? = nil) {
      (self.outcome, self.reason, self.ratings) = (outcome, reason, ratings)
    }
  }

  /// The match.
  package let id: MatchID
  /// The number of events folded; the next is `seq` + 1.
  package internal(set) var seq = 0
  /// The hash after event `seq`.
  package internal(set) var hash: LogHash
  /// How far it has come.
  package internal(set) var phase = Phase.open
  /// The clock and whether it counts.
  package internal(set) var terms = MatchTerms()
  /// Who plays, once two do.
  package internal(set) var players: Sides<PlayerInfo>?
  /// Who opened the room, if it is one.
  package internal(set) var openedBy: String?
  /// The cells marked so far, in order.
  package internal(set) var moves: [Square] = []
  /// When each of them was played, as their events say; empty where a state came without.
  package internal(set) var times: [Int64] = []
  /// The board.
  package internal(set) var position = Position.start
  /// Milliseconds left after the last event that changed them.
  package internal(set) var clocks: Sides<Int>?
  /// The draw offer that stands.
  package internal(set) var offer: Offer?
  /// Draw offers made by each side.
  package internal(set) var offersMade = Sides(x: 0, o: 0)
  /// Which sides are away.
  package internal(set) var away = Sides(x: false, o: false)
  /// Which sides have confirmed.
  package internal(set) var confirmed = Sides(x: false, o: false)
  /// Which sides want a rematch.
  package internal(set) var wantsRematch = Sides(x: false, o: false)
  /// The rematch, once both wanted it.
  package internal(set) var next: MatchID?
  /// The end.
  package internal(set) var end: End?

  /// The match before its first event.
  package init(id: MatchID) {
    self.id = id
    hash = LogHash(start: id)
  }

  /// The side to move.
  package var turn: Player { position.turn }

  /// Whether both sides have moved, after which a match can no longer be aborted.
  package var bothMoved: Bool { moves.count >= 2 }

  /// The side a name sits on, without regard to case.
  package func side(of name: String) -> Player? {
    guard let players else { return nil }
    return Player.allCases.first { players[$0].name.lowercased() == name.lowercased() }
  }

  /// Folds the next event, given as its stored bytes.
  package mutating func append(body: [UInt8]) throws(ProtocolError) {
    try append(try MatchEvent(body: body), body: body)
  }

  /// Folds the next event, and its stored bytes into the hash; throws, unchanged, if it cannot follow.
  package mutating func append(_ event: MatchEvent, body: [UInt8]) throws(ProtocolError) {
    var next = self
    try next.fold(event)
    next.seq += 1
    next.hash = hash.adding(body)
    self = next
  }

  private mutating func fold(_ event: MatchEvent) throws(ProtocolError) {
    if let given = event.clocks { clocks = given }
    switch event.kind {
    case .open(let by, let terms):
      try require(seq == 0, "open is the first event")
      (openedBy, self.terms) = (by, terms)
    case .start(let players, let terms, let confirm, _, _):
      try require(phase == .open && self.players == nil, "start follows nothing or open")
      (self.players, self.terms) = (players, terms)
      phase = confirm ? .confirming : .live
      confirmed = Sides(x: !confirm, o: !confirm)
      if let clock = terms.clock { clocks = Sides(x: clock.base, o: clock.base) }
    case .confirm:
      let side = try actor(event, in: .confirming)
      try require(!confirmed[side], "a side confirms once")
      confirmed[side] = true
      if confirmed.x && confirmed.o { phase = .live }
    case .move(let ply, let cell, _):
      let side = try actor(event, in: .live)
      try require(ply == position.ply && side == position.turn, "a move is at the current ply by the side to move")
      try require(position.legalMoves.contains(cell), "\(cell.name) is taken or the game is over")
      position = position.playing(cell)
      // A log that is known in part has no times that could be counted from.
      if times.count == moves.count { times.append(event.at) }
      moves.append(cell)
      offer = nil
    case .flag: _ = try actor(event, in: .live)
    case .draw(let action, let answered):
      let side = try actor(event, in: .live)
      switch action {
      case .offer:
        try require(offer == nil && offersMade[side] < 2, "one draw offer stands at a time, two a side")
        offer = Offer(side: side, seq: seq + 1)
        offersMade[side] += 1
      case .accept, .decline:
        try require(offer?.side == side.opponent && offer?.seq == answered, "an answer names the offer that stands")
        offer = nil
      }
    case .resign, .claim: _ = try actor(event, in: .live)
    case .abort:
      try require(phase != .over && !bothMoved, "abort comes before both sides have moved")
    case .gone:
      guard let side = event.side else { throw .inconsistent("gone names a side") }
      away[side] = true
    case .back:
      guard let side = event.side else { throw .inconsistent("back names a side") }
      away[side] = false
    case .recovered:
      try require(phase != .over, "a match that is over needs no recovery")
      away = Sides(x: true, o: true)  // nobody is connected to a server that has just started
    case .end(let outcome, let reason, let ratings):
      try require(phase != .over, "a match ends once")
      try require(reason != .normal || outcome == position.outcome, "a normal end is what the board shows")
      try require((outcome == nil) == (reason == .aborted), "only an aborted match has no result")
      finish(End(outcome: outcome, reason: reason, ratings: ratings))
    case .rematch(let match):
      try require(phase == .over && next == nil, "a rematch follows the end, once")
      guard let side = event.side else { throw .inconsistent("rematch names a side") }
      wantsRematch[side] = true
      try require((match != nil) == (wantsRematch.x && wantsRematch.o), "a rematch starts when both want it")
      next = match
    case .aside:
      try require(phase != .over, "a match ends once")
      finish(End(outcome: nil, reason: .aborted))
    }
  }

  private mutating func finish(_ end: End) {
    self.end = end
    phase = .over
    offer = nil
  }

  private func actor(_ event: MatchEvent, in phase: Phase) throws(ProtocolError) -> Player {
    try require(self.phase == phase, "\(event.name) while the match is \(self.phase.rawValue)")
    guard let side = event.side else { throw .inconsistent("\(event.name) names a side") }
    return side
  }

  private func require(_ condition: Bool, _ rule: String) throws(ProtocolError) {
    guard condition else { throw .inconsistent("match \(id) after seq \(seq): \(rule)") }
  }
}

extension MatchState {
  /// The board as nine characters in reading order, `x`, `o` or `.`.
  package var board: String { String(Square.all.map { position[$0].map { Character($0.wire) } ?? "." }) }

  /// Writes the fields of a `state` message.
  func write(to out: inout JSONWriter) {
    out.field("m", id.rawValue)
    out.field("seq", seq)
    out.field("hash", hash.digest.hex)
    out.field("phase", phase.rawValue)
    out.field("board", board)
    out.field("moves", moves.map { $0.name })
    out.field("times", times)
    if phase != .over { out.field("turn", turn.wire) }
    MatchEvent.write(terms, to: &out)
    out.field("by", openedBy)
    if let players {
      out.raw("x", MatchEvent.json(players.x))
      out.raw("o", MatchEvent.json(players.o))
    }
    if let clocks { out.field("clk", [clocks.x, clocks.o]) }
    out.field("offer", offer?.side.wire)
    out.field("offer_seq", offer?.seq)
    out.field("offers", [offersMade.x, offersMade.o])
    out.field("gone", names(away))
    if phase == .confirming { out.field("confirmed", names(confirmed)) }
    if let end {
      out.field("result", end.outcome?.wire ?? "none")
      out.field("reason", end.reason.rawValue)
      if let r = end.ratings {
        out.field("rx", [r.x.before, r.x.after])
        out.field("ro", [r.o.before, r.o.after])
      }
      out.field("rematch", names(wantsRematch))
      out.field("next", next?.rawValue)
    }
  }

  private func names(_ sides: Sides<Bool>) -> [String] { Player.allCases.filter { sides[$0] }.map { $0.wire } }

  /// Reads the fields of a `state` message; the board must follow from the moves.
  init(_ fields: JSONObject) throws(ProtocolError) {
    self.init(id: try fields.match("m"))
    seq = try fields.int("seq")
    let hex = try fields.string("hash")
    guard let bytes = unhex(hex), let digest = SHA256.Digest(bytes: bytes) else {
      throw .invalid("hash", "64 hex digits")
    }
    hash = LogHash(digest: digest)
    guard let phase = Phase(rawValue: try fields.string("phase")) else {
      throw .invalid("phase", "open, confirming, live or over")
    }
    self.phase = phase
    terms = try fields.terms()
    openedBy = fields["by"]?.string
    if fields["x"] != nil { players = Sides(x: try fields.player("x"), o: try fields.player("o")) }
    for name in fields["moves"]?.array ?? [] {
      guard let square = name.string.flatMap({ Square(name: $0) }), position.legalMoves.contains(square) else {
        throw .invalid("moves", "legal cells in order")
      }
      moves.append(square)
      position = position.playing(square)
    }
    for time in fields["times"]?.array ?? [] { if case .int(let at) = time { times.append(at) } }
    guard times.isEmpty || times.count == moves.count else { throw .invalid("times", "one for each move") }
    clocks = try fields.sides("clk")
    if let side = Player(wire: fields["offer"]?.string) { offer = Offer(side: side, seq: try fields.int("offer_seq")) }
    offersMade = try fields.sides("offers") ?? offersMade
    away = MatchState.sides(fields["gone"])
    confirmed = phase == .confirming ? MatchState.sides(fields["confirmed"]) : Sides(x: true, o: true)
    if phase == .open { confirmed = Sides(x: false, o: false) }
    wantsRematch = MatchState.sides(fields["rematch"])
    if fields["next"] != nil { next = try fields.match("next") }
    if let result = fields["result"]?.string {
      guard let reason = MatchEvent.Reason(rawValue: try fields.string("reason")) else { throw .missing("reason") }
      var ratings: Sides<MatchEvent.RatingChange>?
      if let x = try fields.sides("rx"), let o = try fields.sides("ro") {
        ratings = Sides(x: .init(before: x.x, after: x.o), o: .init(before: o.x, after: o.o))
      }
      end = End(outcome: Outcome(wire: result), reason: reason, ratings: ratings)
    }
  }

  private static func sides(_ value: JSON?) -> Sides<Bool> {
    let names = value?.array?.compactMap { $0.string } ?? []
    return Sides(x: names.contains("x"), o: names.contains("o"))
  }
}

/// The bytes of an even number of hexadecimal digits, or `nil`.
package func unhex(_ text: String) -> [UInt8]? {
  let digits = text.utf8.map { byte -> UInt8? in
    byte &- 0x30 < 10 ? byte - 0x30 : (0x61...0x66).contains(byte | 0x20) ? (byte | 0x20) - 0x57 : nil
  }
  guard digits.count % 2 == 0, !digits.contains(nil) else { return nil }
  let values = digits.compactMap { $0 }
  return stride(from: 0, to: values.count, by: 2).map { values[$0] << 4 | values[$0 + 1] }
}
