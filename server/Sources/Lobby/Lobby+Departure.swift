import MatchProtocol
import MatchStore

/// Why the server ends a session at this node; `Lobby.close` ends only a connection.
enum Disconnection: Hashable {
  case banned, deleted
  /// The session was revoked by an administrator, or by its player (`tokensRevoked`).
  case byAdministrator, tokensRevoked
  case accountGone
  case tooMany
  /// `resumed`: the session continues on another connection. `over`: revoked or expired. `resumedOrOver`: the node cannot tell which.
  case resumed, resumedOrOver, over

  var code: ByeCode {
    switch self {
    case .banned: .banned
    case .resumed, .resumedOrOver: .replaced
    case .deleted, .byAdministrator, .tokensRevoked, .accountGone, .tooMany, .over: .revoked
    }
  }

  var text: String {
    switch self {
    case .banned, .deleted, .byAdministrator: "by an administrator"
    case .tokensRevoked: "the account's tokens were revoked"
    case .accountGone: "this account no longer exists"
    case .tooMany: "the account has too many sessions"
    case .resumed: "this session connected again"
    case .resumedOrOver: "this session is connected elsewhere, or over"
    case .over: "this session is over"
    }
  }
}

/// The end of connections: closed by the client (`disconnected`) or by the server (`disconnect`).
extension Lobby {
  /// Removes a session from its matches without waiting for `.disconnected`, and closes its connection.
  mutating func disconnect(_ session: Session, _ why: Disconnection) {
    leave(session.id, clean: false, isElsewhere: why.code == .replaced)
    close(session.connection, why.code, why.text, retry: nil)
  }

  /// Disconnects a session whose generation here is lower than `generation`: it was resumed at another node, or revoked (`.max`).
  mutating func disconnect(_ id: String, before generation: Int64) {
    guard let session = sessions[id], session.generation < generation else { return }
    disconnect(session, generation == .max ? .over : .resumed)
  }

  mutating func revoke(_ session: String, _ why: Disconnection) {
    if let known = sessions[session] { disconnect(known, why) }
    publish(otherNodes.map(\.id), .session(session, generation: .max))
  }

  mutating func disconnected(_ id: ConnectionID, clean: Bool) {
    guard let connection = connections[id] else { return }
    for m in connection.watching { matches[m]?.watchers.removeAll { $0 == id } }
    if let session = connection.session.flatMap({ sessions[$0] }), session.connection == id {
      leave(session.id, clean: clean)
    }
    connections.close(id)
  }

  /// `clean`: the client sent `bye`. `isElsewhere`: the session may have been resumed at another node.
  private mutating func leave(_ session: String, clean: Bool, isElsewhere: Bool = false) {
    guard let known = sessions[session] else { return }
    retryUntilDone(.detach(session: session, generation: known.generation))
    endSeek(known.connection)
    tournaments.unfollow(known.connection)
    seeks.forgetLast(known.connection)
    connections.endSession(on: known.connection)
    sessions.remove(session)
    for m in matches.of(known.account) {
      guard let match = matches[m], let side = match.side(of: known.account) else { continue }
      matches[m]?.followers[side].removeAll { $0 == session }
      guard sessions.connections(of: side, in: match).isEmpty else { continue }
      if match.followers[side].contains(session), match.isOver || !isElsewhere {
        matches[m]?.presence[side].hasLeft = true
        matches[m]?.presence[side].leftCleanly = clean
        updatePresence(m)
      } else if !match.isOver, !match.presence[side].isAway {
        // The account may be connected to another node, or play by another session: a presence check finds this out.
        matches.schedulePresenceCheck(m, now.monotonic)
      }
    }
    evictAccount(known.account)
  }
}
