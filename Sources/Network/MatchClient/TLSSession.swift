import Base
import MatchProtocol
import TLS
import TicTacToe

extension TLSContext {
  /// With the authorities of this machine.
  static let system = Result { () throws(TLSFailure) in try TLSContext() }
}

/// Our end of TLS and whom it trusts.
final class TLSSession {
  private let engine: TLSEngine
  private let known: ClientFolder?

  /// Makes the session with a host, of which `known` is remembered.
  init(
    host: String, known: ClientFolder?, context: Result<TLSContext, TLSFailure> = TLSContext.system
  ) throws(ClientFailure) {
    self.known = known
    do throws(TLSFailure) {
      engine = try TLSEngine(context.get(), .caller)
      try engine.expect(String(host.prefix { $0 != "%" }))
    } catch { throw .tls(.unusable(error.description)) }
  }

  /// Takes what came from the other end and goes on with the handshake, or hands over what was said, piece by piece,
  /// until `each` returns `false`; whether the other end has said its last.
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

  /// Whom to trust: whoever an authority vouches for; else whoever was there the first time, and nobody else after.
  private func judge() throws(ClientFailure) {
    guard let certificate = engine.peer else { throw .tls(.untrusted) }
    let found = SHA256.hash(certificate.der).hex
    // Who was pinned is held to that, even if an authority should vouch for somebody else by now.
    if let pin = known?.pin {
      guard pin == found else { throw .fingerprintChanged(expected: pin, found: found) }
    } else if engine.isVerified {
      known?.rememberVerified()
    } else {
      guard known?.wasVerified != true else { throw .tls(.untrusted) }
      known?.pin = found
    }
  }

  /// Seals what is to be said; `false` if that cannot be done any more.
  func send(_ bytes: [UInt8]) -> Bool { (try? bytes.withUnsafeBytes { raw in try engine.say(raw) }) != nil }

  /// Seals a good bye.
  func sayGoodbye() { engine.sayGoodbye() }

  /// Moves what waits to go to the other end behind `bytes`.
  func takeLeaving(_ bytes: inout [UInt8]) { bytes += engine.takeLeaving() }
}
