import MatchProtocol
import NIOCore
import NIOSSL
import Synchronization
import TicTacToe

/// Whom to trust: whoever an authority vouches for; else whoever was there the first time, and nobody else after.
final class TLSTrust: Sendable {
  private let folder: ClientFolder?
  private let changed = Mutex<(expected: String, found: String)?>(nil)

  init(folder: ClientFolder?) { self.folder = folder }

  /// A pinned certificate that turned out to be another one.
  var change: (expected: String, found: String)? { changed.withLock { $0 } }

  static func context(verifying: Bool) throws -> NIOSSLContext {
    var configuration = TLSConfiguration.makeClientConfiguration()
    configuration.minimumTLSVersion = .tlsv12
    // A server that has gone without a word does not answer our good bye.
    configuration.shutdownTimeout = .milliseconds(500)
    // With a pin the fingerprint decides, not the name: the certificate of a self-signed server names nothing we know.
    configuration.certificateVerification = verifying ? .fullVerification : .noHostnameVerification
    return try NIOSSLContext(configuration: configuration)
  }

  func verify(_ chain: [NIOSSLCertificate], _ promise: EventLoopPromise<NIOSSLVerificationResult>) {
    guard let leaf = chain.first, let der = try? leaf.toDERBytes() else { return promise.succeed(.failed) }
    let found = SHA256.hash(der).hex
    if let expected = folder?.pin, expected != found {
      changed.withLock { $0 = (expected, found) }
      return promise.succeed(.failed)
    }
    folder?.pin = found
    promise.succeed(.certificateVerified)
  }

  /// Whether a handshake failed because of whom, not how.
  static func isVerificationFailure(_ error: any Error) -> Bool {
    if let error = error as? NIOSSLExtraError, error == .failedToValidateHostname { return true }
    if case .handshakeFailed(let inner)? = error as? NIOSSLError {
      return "\(inner)".contains("CERTIFICATE_VERIFY_FAILED")
    }
    return false
  }
}
