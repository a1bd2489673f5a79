import MatchClient
import MatchProtocol
import Screen

/// What the network has to say, in the player's language.
extension App {
  /// Why there is no connection for now.
  func words(for problem: ConnectionProblem) -> String {
    switch problem {
    case .unreachable(let address): screen.text(.unreachable, address)
    case .silent: screen.text(.silent)
    case .wordless: screen.text(.wordless)
    case .lost: screen.text(.connectionGone)
    case .asked: screen.text(.comeBack)
    }
  }

  /// Why there will be no connection, and what to do.
  func words(for failure: ClientFailure) -> String {
    switch failure {
    case .version(let theirs):
      screen.text(.otherVersion, theirs.map(String.init).joined(separator: ", "), "\(protocolVersions[0])")
    case .tls(.untrusted): screen.text(.notSecure, screen.text(.untrusted))
    case .tls(.absent): screen.text(.notSecure, screen.text(.noTLS))
    case .tls(.unusable(let why)): screen.text(.notSecure, why)
    case .fingerprintChanged(_, let found): screen.text(.otherCertificate, String(found.prefix(16)))
    case .replaced: screen.text(.replaced)
    case .notAccepted: screen.text(.notAccepted)
    case .banned: screen.text(.banned)
    case .refused(.malformed, _): screen.text(.ended, screen.text(.endedMalformed))
    case .refused(.flood, _): screen.text(.ended, screen.text(.endedFlood))
    case .refused(_, let said): screen.text(.ended, said)
    }
  }

  /// Why a command was refused: the server's own sentence knows more, but it speaks English only.
  func words(for code: ErrorCode, _ said: String) -> String {
    if screen.settings.language == .english, !said.isEmpty { return said }
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
    return screen.text(phrase)
  }
}
