import Base
import MatchProtocol
import TicTacToe

/// The reason the client is disconnected and will not retry by itself.
package enum ClientFailure: Error, Sendable, Hashable {
  /// The server speaks other versions of the protocol.
  case version(server: [Int])
  case tls(TLSProblem)
  /// The certificate differs from the one that was pinned on first use.
  case fingerprintChanged(expected: String, found: String)
  /// Another program logged in to the same session.
  case replaced
  /// The server accepts no login at all, not even a guest's.
  case notAccepted
  case banned
  /// The other end is not a match server.
  case notServer
  /// This client sent lines that were no messages (`malformed`), or too many lines (`flood`).
  case malformed, flood

  /// One sentence that says what happened and one that says what to do.
  package var advice: String {
    switch self {
    case .version(let server):
      let theirs = server.map(String.init).joined(separator: ", ")
      return "The server speaks version \(theirs), this program \(protocolVersions[0]). Update the older of the two."
    case .tls(let problem):
      return
        "No secure connection: \(problem.text). Check the address; a server without TLS is reached with --plain, or on this "
        + "machine without --tls."
    case .fingerprintChanged(_, let found):
      return "The server's certificate has changed (now \(found.prefix(16))…). Ask its owner; if that is right, "
        + "remove its line from known_servers."
    case .replaced:
      return "You are connected from somewhere else. Close the other window, or connect again to play here."
    case .notAccepted:
      return "The server lets no guest in. Ask its administrator."
    case .banned: return "This account is banned on this server. Ask its administrator."
    case .notServer: return "The other end is not a match server. Check the address and the port."
    case .malformed: return "The server ended the connection: it did not understand this program. Update it."
    case .flood: return "The server ended the connection: this program sent too many messages. Connect again."
    }
  }
}

package enum TLSProblem: Sendable, Hashable {
  /// The server has no certificate, or no authority signed it although one had signed the certificate of an earlier connection.
  case untrusted
  /// The TLS handshake failed, usually because the other end does not speak TLS.
  case absent
  /// The reason why OpenSSL cannot be used on this computer.
  case unusable(String)

  /// The reason as a part of a sentence.
  package var text: String {
    switch self {
    case .untrusted: "the certificate is not trusted"
    case .absent: "the program that answers does not use TLS"
    case .unusable(let why): why
    }
  }
}

/// The reason there is no connection while the client retries.
package enum ConnectionProblem: Sendable, Hashable {
  /// Nothing answers at the address `HOST:PORT`.
  case unreachable(String)
  /// The server sent no line for 24 s, or for 1.5–2.5 s if the client knows several nodes.
  case silent
  /// A plain connection ended before the server sent anything, as it does if the server expects TLS.
  case wordless
  /// The connection ended without a given reason.
  case lost
  /// The server asked the client to return after this many milliseconds.
  case asked(milliseconds: Int)

  /// The problem as a part of a sentence.
  package var text: String {
    switch self {
    case .unreachable(let address): "\(address) cannot be reached"
    case .silent: "the server has been silent"
    case .wordless: "the server closed the connection without sending anything; if it uses TLS, add --tls"
    case .lost: "the connection was lost"
    case .asked(let milliseconds): "the server asks to come back in \(milliseconds) ms"
    }
  }
}

package enum ConnectionStatus: Sendable, Hashable {
  /// Connecting, or waiting for the answer to `hello`.
  case connecting
  case online(ServerMessage.Welcome)
  /// The client tries again after this many milliseconds.
  case waiting(milliseconds: Int, reason: ConnectionProblem)
  /// The client does not connect again before the next call of `connect`.
  case failed(ClientFailure)
  /// Closed by `disconnect`.
  case closed
}

/// Everything that a client reports to the program, in order.
package enum ClientEvent: Sendable, Hashable {
  case status(ConnectionStatus)
  /// `waited` is in ms; `bots` is the number of bots that would play if the seek accepted bots.
  case queued(waited: Int, bots: Int)
  case paired(MatchID, Player)
  /// The player's room waits for another player, who needs the code. `expiresIn` is in ms.
  case room(MatchID, code: String, expiresIn: Int)
  /// The whole state of a match has arrived: the first, or one after a reconnect, a refusal or missed events.
  case state(MatchID)
  /// The next event of a match, whose view contains the event already.
  case event(MatchID, seq: Int, MatchEvent)
  /// The server refused a move that was already shown. The match's view no longer contains the move.
  case moveRejected(MatchID, CellName, ErrorCode, String)
  /// The server refused the given message; `nil` if the client cannot tell which message.
  case refused(ErrorCode, String, ClientMessage?)
  /// The server has carried out the request `mute`, `block` (of the named player) or `report`.
  case muted(Bool), blocked(String, Bool), reported
  /// The server no longer accepts the client's login, and has made the client a new guest. `login` is the registered name whose token was
  /// refused; `nil` for a guest's login.
  case becameGuest(login: String?)
  /// The server refused the token that the player entered. The client is logged in as if there had been no such token.
  case tokenRefused
  /// The client could not save its login. After the program's end, the user cannot come back as the same player.
  case loginNotSaved
  /// The server no longer has the match, or this client may not see it.
  case lost(MatchID)
  /// The opponent is away. A win can be claimed after `claimIn` ms.
  case gone(MatchID, Player, claimIn: Int)
  case chat(MatchID, from: String, text: String?, emote: String?)
  /// Rows in answer to the request with the given name (`top`, `me`, `history`, `list` or `export`). The same request with `more` gets the
  /// next rows.
  case page(String, rows: [JSONObject], more: Int64?)
  /// The tournament that the client follows, or its table, has changed.
  case tournament(TournamentView)
  /// The token is saved already.
  case registered(name: String)
  /// The server stops soon. The client reconnects by itself after `retry` ms.
  case draining(retry: Int)
}

extension ClientEvent {
  package var match: MatchID? {
    switch self {
    case .paired(let m, _), .room(let m, _, _), .state(let m), .event(let m, _, _), .moveRejected(let m, _, _, _),
      .gone(let m, _, _), .chat(let m, _, _, _), .lost(let m):
      m
    case .refused(_, _, .act(let m, _, _)): m
    case .status, .queued, .refused, .muted, .blocked, .reported, .becameGuest, .tokenRefused, .loginNotSaved, .page,
      .tournament, .registered,
      .draining:
      nil
    }
  }
}
