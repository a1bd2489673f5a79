import MatchProtocol

/// Why the server ends a session at this node; the effect `close` ends only a connection.
enum Disconnection: Hashable {
  case banned, deleted
  /// The session was revoked by its player.
  case tokensRevoked
  case accountGone
  case tooMany
  /// `resumed`: the session continues on another connection. `over`: revoked or expired. `resumedOrOver`: the node cannot tell which.
  case resumed, resumedOrOver, over

  var code: ByeCode {
    switch self {
    case .banned: .banned
    case .resumed, .resumedOrOver: .replaced
    case .deleted, .tokensRevoked, .accountGone, .tooMany, .over: .revoked
    }
  }

  var text: String {
    switch self {
    case .banned, .deleted: "by an administrator"
    case .tokensRevoked: "the account's tokens were revoked"
    case .accountGone: "this account no longer exists"
    case .tooMany: "the account has too many sessions"
    case .resumed: "this session connected again"
    case .resumedOrOver: "this session is connected elsewhere, or over"
    case .over: "this session is over"
    }
  }
}
