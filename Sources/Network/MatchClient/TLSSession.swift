import Base
import MatchProtocol
import TLS
import TicTacToe

extension TLSContext {
  /// A context that trusts the certificate authorities of this machine.
  static let system = Result { () throws(TLSFailure) in try TLSContext() }
}

/// The client's end of TLS, which also decides whether to trust the server.
final class TLSSession {
  private let engine: TLSEngine
  private let known: ClientFolder?

  /// `known` has the stored fingerprint of the host's certificate, if there is one.
  init(
    host: String, known: ClientFolder?, context: Result<TLSContext, TLSFailure> = TLSContext.system
  ) throws(ClientFailure) {
    self.known = known
    do throws(TLSFailure) {
      engine = try TLSEngine(context.get(), .client)
      try engine.expect(String(host.prefix { $0 != "%" }))
    } catch { throw .tls(.unusable(error.description)) }
  }

  /// Continues the handshake, calls `established` when it is complete, and from then on passes the decrypted bytes to `each` until `each`
  /// returns `false`. Returns whether the server has closed its side.
  func receive(
    _ sealed: UnsafeRawBufferPointer, into scratch: UnsafeMutableRawBufferPointer, established: () -> Void,
    _ each: (UnsafeRawBufferPointer) -> Bool
  ) throws(ClientFailure) -> Bool {
    engine.take(sealed)
    if !engine.isEstablished {
      do throws(TLSFailure) {
        guard try engine.shakeHands() else { return false }
      } catch { throw .tls(.absent) }
      try judge()
      established()
    }
    while true {
      switch (try? engine.read(into: scratch)) ?? .ended {
      case .bytes(let count):
        guard each(UnsafeRawBufferPointer(rebasing: scratch[..<count])) else { return false }
      case .wantsMore: return false
      case .ended: return true
      }
    }
  }

  /// A server whose certificate an authority signed must have such a certificate again. From any other server the client stores the
  /// certificate's fingerprint, and later accepts only this certificate.
  private func judge() throws(ClientFailure) {
    guard let certificate = engine.peer else { throw .tls(.untrusted) }
    let found = SHA256.hash(certificate.der).hex
    // A pinned certificate must stay the same: a new one is refused even if an authority signed it.
    if let pin = known?.pin {
      guard pin == found else { throw .fingerprintChanged(expected: pin, found: found) }
    } else if engine.isVerified {
      known?.rememberVerified()
    } else {
      guard known?.wasVerified != true else { throw .tls(.untrusted) }
      known?.pin = found
    }
  }

  /// Returns `false` if the session is broken.
  func send(_ bytes: [UInt8]) -> Bool { (try? bytes.withUnsafeBytes { raw in try engine.say(raw) }) != nil }

  func sayGoodbye() { engine.sayGoodbye() }

  /// Appends the encrypted bytes that are to be sent.
  func takeLeaving(_ bytes: inout [UInt8]) { bytes += engine.takeLeaving() }
}
