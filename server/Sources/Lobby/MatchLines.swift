import MatchProtocol
import TicTacToe

/// Makes the lines about a match for the players and spectators at this node; the lobby sends them.
struct MatchLines {
  let sessions: Sessions
  let connections: ConnectionTable
  /// Monotonic ms.
  let now: Int64

  /// The lines of an event that was just folded into the match.
  func event(_ event: MatchEvent, _ body: [UInt8], of match: LiveMatch) -> [LobbyEffect] {
    let line = ServerMessage.event(match.id, seq: match.state.seq, hash: match.state.hash.short, body: body).bytes()
    return addresses(of: match).map { id, kind in
      knows(event, id) ? .send(id, line, kind) : state(of: match, to: id, re: nil, kind: kind)
    }
  }

  /// The lines that say when the opponent of an absent side may claim the win.
  func gone(_ side: Player, _ match: LiveMatch, _ configuration: LobbyConfiguration) -> [LobbyEffect] {
    guard match.state.phase == .live else { return [] }
    let wait = Int((match.presence[side].claimableAt(configuration) ?? now) - now)
    let line = ServerMessage.gone(match.id, side, claimIn: max(0, wait)).bytes()
    return sessions.connections(of: side.opponent, in: match).map { .send($0, line, .essential) }
  }

  /// The lines of a match that begins, with all its events, for its players and the spectators of its room.
  func beginning(of match: LiveMatch) -> [LobbyEffect] {
    guard match.state.phase != .open else { return [] }
    let lines = ServerMessage.events(of: match.id, match.log.bodies).map { $0.bytes() }
    // Spectators have the state of the room already, so only players are sent its `open` event.
    let opening = match.record.opener == nil || match.state.openedBy == nil ? 0 : 1
    let first = Player.allCases.flatMap { side in
      let own = [ServerMessage.paired(match.id, side).bytes()] + lines.prefix(opening)
      return sessions.connections(of: side, in: match).flatMap { id in
        own.map { LobbyEffect.send(id, $0, .essential) }
      }
    }
    let everybody = addresses(of: match)
    return first
      + lines.dropFirst(opening).flatMap { line in everybody.map { id, kind in LobbyEffect.send(id, line, kind) } }
  }

  /// The lines of a match that began at another node, for one of its players here.
  func beginning(of match: LiveMatch, to id: ConnectionID, _ side: Player) -> [LobbyEffect] {
    ([.paired(match.id, side)] + ServerMessage.events(of: match.id, match.log.bodies)).map {
      .send(id, $0.bytes(), .essential)
    }
  }

  func state(of match: LiveMatch, to id: ConnectionID, re: String?, kind: LineKind) -> LobbyEffect {
    let line = ServerMessage.state(match.state, left: match.left(at: now), you: side(of: id, in: match)).bytes(re: re)
    return .send(id, line, kind)
  }

  /// A refusal; `match`: the match whose present state it shows.
  func refusal(_ refusal: Refusal, _ match: LiveMatch?, to id: ConnectionID, re: String?) -> LobbyEffect {
    let line =
      match.map {
        ServerMessage.refusal(
          refusal.code, refusal.text, state: $0.state, left: $0.left(at: now), you: side(of: id, in: $0), re: re)
      } ?? ServerMessage.err(refusal.code, refusal.text).bytes(re: re)
    return .send(id, line, .essential)
  }

  /// Whether the connection's protocol version has this kind of event; if not, the client is sent the match's state instead. `open` and
  /// `start` pass with any version, because a match is sent only to clients that know its game.
  func knows(_ event: MatchEvent, _ id: ConnectionID) -> Bool {
    let version = connections[id]?.version ?? 1
    switch event.kind {
    case .open, .start: return version >= 1
    default: return event.kind.since <= version
    }
  }

  /// The players' connections, then those of spectators who do not play.
  private func addresses(of match: LiveMatch) -> [(id: ConnectionID, kind: LineKind)] {
    let players = sessions.connections(following: match)
    var result: [(ConnectionID, LineKind)] = []
    result.reserveCapacity(players.count + match.watchers.count)
    for id in players { result.append((id, .essential)) }
    for id in match.watchers where !players.contains(id) { result.append((id, .spectator(match.id))) }
    return result
  }

  private func side(of id: ConnectionID, in match: LiveMatch) -> Player? {
    connections[id]?.session.flatMap { sessions[$0] }.flatMap { match.side(of: $0.account) }
  }
}
