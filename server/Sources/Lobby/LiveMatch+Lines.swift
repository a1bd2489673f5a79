import Base
import MatchProtocol
import TicTacToe

/// The lines about a match for the players and spectators at this node. `now`: monotonic ms.
extension LiveMatch {
  /// The lines of an event that was just folded.
  func lines(of event: MatchEvent, _ body: [UInt8], at now: Int64) -> [LobbyEffect] {
    let line = ServerMessage.event(id, seq: state.seq, hash: state.hash.short, body: body).bytes()
    return receivers.map { session, kind in
      session.knows(event) ? .send(session.connection, line, kind) : stateLine(for: session, at: now, kind: kind)
    }
  }

  /// The lines that say when the opponent of an absent side may claim the win.
  func goneLines(_ side: Player, at now: Int64, _ configuration: LobbyConfiguration) -> [LobbyEffect] {
    guard state.phase == .live else { return [] }
    let wait = Int((presence[side].claimableAt(configuration) ?? now) - now)
    let line = ServerMessage.gone(id, side, claimIn: max(0, wait)).bytes()
    return followers[side.opponent].map { .send($0.connection, line, .essential) }
  }

  /// The lines of a match that begins, with all its events, for its players and the spectators of its room.
  var beginningLines: [LobbyEffect] {
    guard state.phase != .open else { return [] }
    let lines = ServerMessage.events(of: id, log.bodies).map { $0.bytes() }
    // Spectators have the state of the room already, so only players are sent its `open` event.
    let opening = record.opener == nil || state.openedBy == nil ? 0 : 1
    let first = Player.allCases.flatMap { side in
      let own = [ServerMessage.paired(id, side).bytes()] + lines.prefix(opening)
      return followers[side].flatMap { session in own.map { LobbyEffect.send(session.connection, $0, .essential) } }
    }
    return first
      + lines.dropFirst(opening).flatMap { line in
        receivers.map { session, kind in LobbyEffect.send(session.connection, line, kind) }
      }
  }

  /// All lines of a match that has begun, for a player's session that was not subscribed at its beginning.
  func beginningLines(for session: Session) -> [LobbyEffect] {
    let paired = side(of: session.account).map { [ServerMessage.paired(id, $0)] } ?? []
    return (paired + ServerMessage.events(of: id, log.bodies)).map { .line($0, to: session.connection) }
  }

  func stateLine(for session: Session, at now: Int64, re: String? = nil, kind: LineKind = .essential) -> LobbyEffect {
    let state = ServerMessage.state(state, left: left(at: now), you: side(of: session.account))
    return .line(state, to: session.connection, re: re, kind: kind)
  }

  /// Answers `sync`: the events after `seq` that a client lacks, or the state if that is shorter.
  func missingLines(after seq: Int, for session: Session, at now: Int64, re: String?) -> [LobbyEffect] {
    let missing = log.bodies.dropFirst(seq)
    guard seq > 0, seq <= state.seq, state.seq - seq <= 16,
      missing.allSatisfy({ body in (try? MatchEvent(body: body)).map(session.knows) ?? false })
    else { return [stateLine(for: session, at: now, re: re)] }
    return eventLines(after: seq, through: state.seq, to: session.connection)
      + [.line(.ok(id, seq: state.seq), to: session.connection, re: re)]
  }

  /// Answers `export`: a page of the log after `seq`, and its end.
  func exportLines(after seq: Int, to connection: ConnectionID, re: String?) -> [LobbyEffect] {
    let last = min(state.seq, seq + Limits.events)
    let row: JSONObject = [
      "m": .string(id.rawValue), "seq": .int(state.seq), "hash": .string(state.hash.digest.hex),
    ]
    let more = last < state.seq ? Int64(last) : nil
    return eventLines(after: seq, through: last, to: connection)
      + [.line(.page("export", rows: [row], more: more), to: connection, re: re)]
  }

  private func eventLines(after seq: Int, through last: Int, to id: ConnectionID) -> [LobbyEffect] {
    ServerMessage.events(of: self.id, Array(log.bodies.prefix(last)), after: seq).map { .line($0, to: id) }
  }

  /// The room's code, and the milliseconds until it expires (0 once the match has begun); throws if the match has no code.
  func room(at now: Int64) throws(Refusal) -> ServerMessage {
    guard let code = record.code else { throw Refusal(.code, "this room no longer exists") }
    return .room(id, code: code, expiresIn: Int(max(0, (codeDies ?? now) - now)))
  }

  /// The chat line for the opponent of `account` here; nothing if the opponent has muted chat or blocked the account.
  func chatLines(_ line: [UInt8], from account: Int64, _ accounts: Accounts) -> [LobbyEffect] {
    guard let side = side(of: account)?.opponent, let other = self.account(at: side).flatMap({ accounts[$0] }),
      !other.quiet, !other.blocked.contains(account)
    else { return [] }
    return followers[side].map { .send($0.connection, line, .droppable) }
  }

  /// The players' sessions at this node, then those of spectators who do not play.
  var receivers: [(session: Session, kind: LineKind)] {
    var result: [(session: Session, kind: LineKind)] = []
    result.reserveCapacity(followers.x.count + followers.o.count + watchers.count)
    for side in Player.allCases { for session in followers[side] { result.append((session, .essential)) } }
    let players = result.count
    for session in watchers
    where !result.prefix(players).contains(where: { $0.session.connection == session.connection }) {
      result.append((session, .spectator(id)))
    }
    return result
  }
}
