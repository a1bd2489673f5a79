import ClientModel
import Interface
import MatchProtocol

extension ConnectionProblem {
  var message: Message {
    switch self {
    case .unreachable(let address): "\(.unreachable, Message(address))"
    case .silent: "\(.silent)"
    case .wordless: "\(.wordless)"
    case .lost: "\(.connectionGone)"
    case .asked: "\(.comeBack)"
    }
  }
}

extension ClientFailure {
  var message: Message {
    switch self {
    case .version(let theirs):
      "\(.otherVersion, Message(theirs.map(String.init).joined(separator: ", ")), "\(protocolVersions[0])")"
    case .tls(.untrusted): "\(.notSecure, "\(.untrusted)")"
    case .tls(.absent): "\(.notSecure, "\(.noTLS)")"
    case .tls(.unusable(let why)): "\(.notSecure, "\(english: why, else: .noTLSHere)")"
    case .fingerprintChanged(_, let found): "\(.otherCertificate, Message(String(found.prefix(16))))"
    case .replaced: "\(.replaced)"
    case .notAccepted: "\(.notAccepted)"
    case .banned: "\(.banned)"
    case .notServer: "\(.notOurs)"
    case .malformed: "\(.ended, "\(.endedMalformed)")"
    case .flood: "\(.ended, "\(.endedFlood)")"
    }
  }
}

extension ErrorCode {
  /// The reason for a refused command: in English the server's text, which is more precise, in other languages a phrase.
  func message(_ said: String) -> Message { said.isEmpty ? "\(phrase)" : "\(english: said, else: phrase)" }

  private var phrase: Phrase {
    switch self {
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
  }
}
