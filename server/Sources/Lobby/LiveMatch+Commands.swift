import MatchProtocol
import MatchStore
import TicTacToe

/// The rules of a match: which events a command of a player causes.
extension LiveMatch {
  /// Events for a match's log.
  enum Change: Hashable {
    case append([MatchEvent])
    /// The events in `first` are logged before the event that ends the match.
    case end(Outcome?, MatchEvent.Reason, first: [MatchEvent] = [])
    /// The match ends without a result, by an administrator's order.
    case annul(why: String)
  }

  enum Decision: Hashable {
    case change(Change)
    /// The match allows a rematch; the lobby checks other conditions, such as the limit of live matches.
    case rematch
    /// The side to move lost on time before this command.
    case isTooLate
  }

  /// A player's command, decoded at the monotonic time `at`, in ms.
  struct Command {
    let action: MatchAction
    let side: Player
    let mid: String?
    let at: Int64
    /// Milliseconds of network delay that are not charged to the player's clock.
    let lag: Int64
    let mayLoseOnTime: Bool
  }

  /// The number (`seq`) of the event of a repeated command, recognised by its `mid`; `nil` for a new command.
  func answer(to mid: String?, _ action: MatchAction, of side: Player) throws(Refusal) -> Int? {
    guard let mid, let known = log.answer(to: mid, of: side) else { return nil }
    guard known.action == action else { throw refusal(.midReused, "this mid was used for another command") }
    return known.seq
  }

  /// Throws if the match does not allow the command.
  func decide(
    _ command: Command, _ now: Moment, _ configuration: LobbyConfiguration
  ) throws(Refusal) -> Decision {
    func event(_ kind: MatchEvent.Kind) -> MatchEvent {
      MatchEvent(at: now.wall, side: command.side, mid: command.mid, kind)
    }
    switch command.action {
    case .move(let ply, let cell): return try move(ply, cell, command, now)
    case .abort:
      if isOver { throw refusal(.over, "the match is over") }
      if state.bothMoved {
        throw refusal(.rules, "a match cannot be aborted once both have moved; resign or offer a draw")
      }
      guard state.terms.tournament == nil else {
        throw refusal(.rules, "a tournament's match cannot be aborted; resign")
      }
      return .change(.end(nil, .aborted, first: [event(.abort)]))
    case .rematch:
      guard isOver else { throw refusal(.rules, "a rematch can be asked for after the end") }
      guard state.terms.tournament == nil else {
        throw refusal(.rules, "a tournament has no rematch; seek the next game")
      }
      guard state.next == nil, !state.wantsRematch[command.side] else {
        throw refusal(.rules, "you have asked for a rematch already")
      }
      return .rematch
    case .resign:
      try requireLive()
      return .change(.end(.win(command.side.opponent), .resign, first: [event(.resign)]))
    case .draw(let action, let offer):
      try requireLive()
      return try draw(action, offer, command.side, event)
    case .claim:
      try requireLive()
      let absent = presence[command.side.opponent]
      guard state.bothMoved, let at = absent.claimableAt(configuration), at <= now.monotonic else {
        throw refusal(.rules, absent.isAway ? "your opponent may still come back" : "your opponent is connected")
      }
      return .change(.end(.win(command.side), .gone, first: [event(.claim)]))
    }
  }

  /// A refusal that shows the match's present state.
  private func refusal(_ code: ErrorCode, _ text: String) -> Refusal { Refusal(code, text, showing: id) }

  private func requireLive() throws(Refusal) {
    switch state.phase {
    case .live: break
    case .over: throw refusal(.over, "the match is over")
    case .open, .confirming: throw refusal(.rules, "the match has not begun")
    }
  }

  private func move(
    _ ply: Int?, _ name: CellName, _ command: Command, _ now: Moment
  ) throws(Refusal) -> Decision {
    let (rules, position, side) = (state.terms.rules, state.position, command.side)
    if let ply, ply != position.plies, state.phase != .open {
      throw refusal(.stalePly, "ply \(ply) is not the current ply \(position.plies)")
    }
    try requireLive()
    guard state.turn == side else { throw refusal(.rules, "it is not your turn") }
    guard let cell = rules.cell(named: name.text) else {
      throw refusal(.rules, "\(name.text) is not a cell of \(rules.rawValue), which has \(rules.cellRange)")
    }
    guard position.moves.contains(cell) else {
      throw refusal(.rules, "\(name.text) \(position.refusal(of: cell))")
    }
    if let deadline, command.at > deadline + command.lag, command.mayLoseOnTime { return .isTooLate }
    let spent = turnStarted.map { max(0, Int(command.at - $0 - command.lag)) } ?? 0
    var clocks = state.clocks
    if let clock = state.terms.clock, state.bothMoved {
      let before = clocks?[side] ?? 0
      clocks?[side] = max(0, before - spent) + clock.increment
    }
    let event = MatchEvent(
      at: now.wall, side: side, mid: command.mid, clocks: clocks,
      .move(ply: position.plies, cell: name, spent: spent))
    let outcome = VariantMove(cell, in: position).outcome
    return .change(outcome == nil ? .append([event]) : .end(outcome, .normal, first: [event]))
  }

  private func draw(
    _ action: MatchEvent.DrawAction, _ named: Int?, _ side: Player, _ event: (MatchEvent.Kind) -> MatchEvent
  ) throws(Refusal) -> Decision {
    let offer = state.offer
    switch action {
    case .offer:
      guard offer == nil, state.offersMade[side] < 2 else {
        throw refusal(.rules, offer == nil ? "you have made your two draw offers" : "there is an open draw offer")
      }
      return .change(.append([event(.draw(action, offer: nil))]))
    case .accept, .decline:
      guard let offer, offer.side == side.opponent, named == nil || named == offer.seq else {
        throw refusal(.rules, "there is no open draw offer with this number")
      }
      let answer = event(.draw(action, offer: offer.seq))
      return .change(action == .accept ? .end(.draw, .agreement, first: [answer]) : .append([answer]))
    }
  }
}

extension MatchAction {
  /// The command that produced an event; `nil` for an event without a command, such as `flag`.
  init?(_ event: MatchEvent) {
    switch event.kind {
    case .move(let ply, let cell, _): self = .move(ply: ply, cell: cell)
    case .resign: self = .resign
    case .draw(let action, let offer): self = .draw(action, offer: offer)
    case .abort: self = .abort
    case .claim: self = .claim
    case .rematch: self = .rematch
    case .open, .start, .confirm, .flag, .gone, .back, .recovered, .end, .aside: return nil
    }
  }
}
