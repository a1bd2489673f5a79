import Base
import TicTacToe

/// A match's state, computed only by applying the events of its log in order. Server, client and history checker share this code.
package struct MatchState: Sendable, Hashable {
  package enum Phase: String, FieldText, Sendable, Hashable, CaseIterable {
    /// A room that waits for its second player.
    case open
    /// Both sides must still confirm: only in a match that an older server began.
    case confirming
    case live
    case over
  }

  package struct Offer: Sendable, Hashable {
    package var side: Player
    /// The number of the offer's event, which an answer names.
    package var seq: Int
  }

  package struct End: Sendable, Hashable {
    /// `nil` if the match was aborted.
    package var outcome: Outcome?
    package var reason: MatchEvent.Reason
    package var ratings: Sides<MatchEvent.RatingChange>?

    package init(outcome: Outcome?, reason: MatchEvent.Reason, ratings: Sides<MatchEvent.RatingChange>? = nil) {
      (self.outcome, self.reason, self.ratings) = (outcome, reason, ratings)
    }
  }

  package private(set) var id: MatchID
  /// The number of folded events; the next event has the number `seq` + 1.
  package internal(set) var seq = 0
  /// The hash after event `seq`.
  package internal(set) var hash: LogHash
  package internal(set) var phase = Phase.open
  package internal(set) var terms = MatchTerms()
  /// `nil` if the station follows from the match's id.
  package internal(set) var givenStation: Int?
  /// The players, once there are two.
  package internal(set) var players: Sides<PlayerInfo>?
  /// The player who opened the room, if the match began as a room.
  package internal(set) var openedBy: String?
  package internal(set) var moves: [Cell] = []
  /// Milliseconds since 1970 of each move; empty if the state came without times.
  package internal(set) var times: [Int64] = []
  package internal(set) var position = VariantState(startOf: .classic)
  /// The milliseconds that each side had left after the last event with `clocks`; `nil` in an untimed match.
  package internal(set) var clocks: Sides<Int>?
  package internal(set) var offer: Offer?
  package internal(set) var offersMade = Sides(x: 0, o: 0)
  package internal(set) var away = Sides(x: false, o: false)
  package internal(set) var confirmed = Sides(x: false, o: false)
  package internal(set) var wantsRematch = Sides(x: false, o: false)
  /// The rematch, once both sides have asked for it.
  package internal(set) var next: MatchID?
  package internal(set) var end: End?

  package init(id: MatchID) {
    self.id = id
    hash = LogHash(start: id)
  }

  package var turn: Player { position.turn }

  /// After both sides have moved, a match can no longer be aborted.
  package var bothMoved: Bool { moves.count >= 2 }

  /// The place of the match's music in the cycle of tonics, the same for all listeners. It is random for the first match of two players,
  /// and the next place for each rematch.
  package var station: Int { givenStation ?? Int(id.seed % UInt64(Self.stations)) }
  package var nextStation: Int { (station + 1) % Self.stations }
  /// 7!, which is divisible by every number of tonics up to ten.
  package static let stations = 5_040

  /// Compares names without regard to case.
  package func side(of name: String) -> Player? {
    guard let players else { return nil }
    return Player.allCases.first { players[$0].name.lowercased() == name.lowercased() }
  }

  package mutating func append(body: [UInt8]) throws(ProtocolError) {
    try append(try MatchEvent(body: body), body: body)
  }

  /// Folds the next event into the state, and adds `body`, the event's stored bytes, to the hash. If the event cannot come next, throws and
  /// changes nothing.
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
      openedBy = by
      play(on: terms)
    case .start(let players, let terms, let confirm, _, let station, _):
      try require(phase == .open && self.players == nil, "start follows nothing or open")
      (self.players, givenStation) = (players, station)
      play(on: terms)
      phase = confirm ? .confirming : .live
      confirmed = Sides(x: !confirm, o: !confirm)
      if let clock = terms.clock { clocks = Sides(x: clock.base, o: clock.base) }
    case .confirm:
      let side = try actor(event, in: .confirming)
      try require(!confirmed[side], "a side confirms once")
      confirmed[side] = true
      if confirmed.x && confirmed.o { phase = .live }
    case .move(let ply, let name, _):
      let side = try actor(event, in: .live)
      try require(ply == position.plies && side == position.turn, "a move is at the current ply by the side to move")
      guard let cell = terms.rules.cell(named: name.text), position.moves.contains(cell) else {
        throw .inconsistent("match \(id) after seq \(seq): \(name.text) is taken or the game is over")
      }
      position.play(cell)
      // A state can come without the times of its moves. Times of later moves alone would be useless.
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
      away = Sides(x: true, o: true)  // every player is disconnected from a server that has just started
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

  private mutating func play(on terms: MatchTerms) {
    self.terms = terms
    position = VariantState(startOf: terms.rules)
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
  /// Row by row from the top left, `x`, `o` or `.`: nine characters, or 81 in Ultimate.
  package var board: String {
    let (rules, side) = (terms.rules, terms.rules.side)
    return String(
      (0..<rules.cellCount).map { place in
        let cell = rules.cell(row: place / side, column: place % side)
        let mark = position.position(on: cell.index / 9)[Square(cell.index % 9)]
        return mark.map { Character($0.text) } ?? "."
      })
  }

  init() { self.init(id: .blank) }

  /// The board is only written, as a reader computes it from the moves.
  mutating func code(_ c: inout FieldCoder) throws(FieldError) {
    try c.code("m", &id)
    try c.code("seq", &seq)
    hash = LogHash(digest: try c.field("hash", hash.digest))
    try c.code("phase", &phase)
    c.tell("board", board)
    let names = try c.field("moves", moves.map { CellName($0, in: terms.rules) }, or: [])
    try c.code("times", &times, or: [])
    try c.require(times.allSatisfy { Limits.times.contains($0) }, "times", MatchEvent.allowedTimes)
    try c.require(times.isEmpty || times.count == names.count, "times", "one for each move")
    if phase != .over { c.tell("turn", turn) }
    terms = try c.matchTerms(terms)
    if c.isReading {
      (position, moves) = (VariantState(startOf: terms.rules), [])
      for name in names {
        let cell = terms.rules.cell(named: name.text)
        try c.require(cell.map { position.moves.contains($0) } ?? false, "moves", "legal cells in order")
        guard let cell else { continue }
        position.play(cell)
        moves.append(cell)
      }
    }
    try c.code("by", &openedBy)
    givenStation = try c.station(givenStation)
    if let x = try c.field("x", players?.x), let o = try c.field("o", players?.o) { players = Sides(x: x, o: o) }
    try c.code("clk", &clocks)
    if let side = try c.field("offer", offer?.side), let seq = try c.field("offer_seq", offer?.seq) {
      offer = Offer(side: side, seq: seq)
    }
    try c.code("offers", &offersMade, or: offersMade)
    away = Sides(of: try c.field("gone", away.players, or: []))
    confirmed =
      phase == .confirming
      ? Sides(of: try c.field("confirmed", confirmed.players, or: [])) : Sides(x: phase != .open, o: phase != .open)
    guard phase == .over else { return }
    end = End(
      outcome: try c.result(end?.outcome), reason: try c.field("reason", end?.reason ?? .normal),
      ratings: try c.ratings(end?.ratings))
    wantsRematch = Sides(of: try c.field("rematch", wantsRematch.players, or: []))
    try c.code("next", &next)
  }
}

extension Sides where Value == Bool {
  fileprivate var players: [Player] { Player.allCases.filter { self[$0] } }
  fileprivate init(of players: [Player]) { self.init(x: players.contains(.x), o: players.contains(.o)) }
}
