import Interface
import ClientModel
import MatchProtocol

/// Network messages in the player's language.
extension WindowState {
  /// The reason for a temporary loss of connection.
  func words(for problem: ConnectionProblem) -> String {
    switch problem {
    case .unreachable(let address): text(.unreachable, address)
    case .silent: text(.silent)
    case .wordless: text(.wordless)
    case .lost: text(.connectionGone)
    case .asked: text(.comeBack)
    }
  }

  /// The reason for a permanent failure, and its remedy.
  func words(for failure: ClientFailure) -> String {
    switch failure {
    case .version(let theirs):
      text(.otherVersion, theirs.map(String.init).joined(separator: ", "), "\(protocolVersions[0])")
    case .tls(.untrusted): text(.notSecure, text(.untrusted))
    case .tls(.absent): text(.notSecure, text(.noTLS))
    case .tls(.unusable(let why)): text(.notSecure, preferences.language == .english ? why : text(.noTLSHere))
    case .fingerprintChanged(_, let found): text(.otherCertificate, String(found.prefix(16)))
    case .replaced: text(.replaced)
    case .notAccepted: text(.notAccepted)
    case .banned: text(.banned)
    case .notServer: text(.notOurs)
    case .malformed: text(.ended, text(.endedMalformed))
    case .flood: text(.ended, text(.endedFlood))
    }
  }

  /// The reason for a refused command. The server's own text is more precise, but English only.
  func words(for code: ErrorCode, _ said: String) -> String {
    if preferences.language == .english, !said.isEmpty { return said }
    let phrase: Phrase =
      switch code {
      case .bad: .errBadRequest
      case .version: .errVersion
      case .auth: .errAuth
      case .notFound: .errNotFound
      case .noMatch: .errNoMatch
      case .forbidden: .errForbidden
      case .stalePly: .errStalePly
      case .midReused: .errMidReused
      case .rules: .errRules
      case .over: .errOver
      case .occupied: .errOccupied
      case .code: .errCode
      case .name: .errName
      case .rate: .errRate
      case .busy: .errBusy
      case .muted: .errMuted
      case .draining: .errDraining
      }
    return text(phrase)
  }
}
