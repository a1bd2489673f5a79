import Base
import COpenSSL
import MatchProtocol
import TicTacToe

/// What every session of this program shares: the authorities of this machine and the oldest TLS that will do.
final class TLSContext: @unchecked Sendable {  // made once and only read after
  fileprivate let pointer: OpaquePointer

  /// With the authorities of this machine.
  static let system = Result { () throws(ClientFailure) in try TLSContext() }

  /// `authorities` is a PEM file of those to trust instead of the machine's.
  init(authorities: String? = nil) throws(ClientFailure) {
    // Without a farewell at exit: it would take the library away under the thread that still uses it.
    OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil)
    guard let pointer = SSL_CTX_new(TLS_client_method()) else { throw .tls(.unusable(TLSContext.complaint)) }
    self.pointer = pointer
    let isReady =
      alina_forbid_the_old(pointer) == 1
      && (authorities.map { SSL_CTX_load_verify_file(pointer, $0) } ?? SSL_CTX_set_default_verify_paths(pointer)) == 1
    guard isReady else { throw .tls(.unusable(TLSContext.complaint)) }
    // Whom an authority vouches for is found out in the handshake and judged after it, before a word is said.
    SSL_CTX_set_verify(pointer, SSL_VERIFY_NONE, nil)
  }

  deinit { SSL_CTX_free(pointer) }

  /// What the library says went wrong last.
  fileprivate static var complaint: String {
    ERR_reason_error_string(ERR_get_error()).map { String(cString: $0) } ?? "TLS is out of order"
  }
}

/// Our end of TLS between buffers in memory; carrying what is sealed to and from the other end is left to others.
final class TLSSession {
  private let ssl: OpaquePointer
  /// What came from the other end, and what goes to it.
  private let (arrived, leaving): (OpaquePointer, OpaquePointer)
  private let known: ClientFolder?
  private var isEstablished = false

  /// Makes the session with a host, of which `known` is remembered.
  init(host: String, known: ClientFolder?, context: TLSContext) throws(ClientFailure) {
    guard let ssl = SSL_new(context.pointer), let arrived = BIO_new(BIO_s_mem()), let leaving = BIO_new(BIO_s_mem())
    else { throw .tls(.unusable(TLSContext.complaint)) }
    (self.ssl, self.arrived, self.leaving, self.known) = (ssl, arrived, leaving, known)
    SSL_set_bio(ssl, arrived, leaving)
    SSL_set_connect_state(ssl)
    // An address is looked for among the certificate's addresses, and is no name to ask a server for.
    let bare = String(host.prefix { $0 != "%" })
    if X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), bare) != 1 {
      let name = host.hasSuffix(".") ? String(host.dropLast()) : host
      SSL_set_hostflags(ssl, UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT))
      guard SSL_set1_host(ssl, name) == 1, alina_name_server(ssl, name) == 1 else {
        throw .tls(.unusable("'\(host)' is no host's name"))
      }
    }
  }

  deinit { SSL_free(ssl) }

  /// Takes what came from the other end and goes on with the handshake, or hands over what was said, piece by piece,
  /// until `each` returns `false`; whether the other end has said its last.
  func receive(
    _ sealed: UnsafeRawBufferPointer, into scratch: UnsafeMutableRawBufferPointer, established: () -> Void,
    _ each: (UnsafeRawBufferPointer) -> Bool
  ) throws(ClientFailure) -> Bool {
    if !sealed.isEmpty { BIO_write(arrived, sealed.baseAddress, Int32(sealed.count)) }
    ERR_clear_error()
    if !isEstablished {
      let result = SSL_do_handshake(ssl)
      guard result == 1 else {
        guard SSL_get_error(ssl, result) == SSL_ERROR_WANT_READ else { throw .tls(.absent) }
        return false
      }
      try judge()
      isEstablished = true
      established()
    }
    while true {
      let count = SSL_read(ssl, scratch.baseAddress, Int32(scratch.count))
      guard count > 0 else { return SSL_get_error(ssl, count) != SSL_ERROR_WANT_READ }
      guard each(UnsafeRawBufferPointer(rebasing: scratch[..<Int(count)])) else { return false }
    }
  }

  /// Whom to trust: whoever an authority vouches for; else whoever was there the first time, and nobody else after.
  private func judge() throws(ClientFailure) {
    guard let certificate = SSL_get1_peer_certificate(ssl) else { throw .tls(.untrusted) }
    defer { X509_free(certificate) }
    var der = [UInt8](repeating: 0, count: Int(max(0, i2d_X509(certificate, nil))))
    der.withUnsafeMutableBufferPointer { buffer in
      var end = buffer.baseAddress
      _ = i2d_X509(certificate, &end)
    }
    let found = SHA256.hash(der).hex
    // Who was pinned is held to that, even if an authority should vouch for somebody else by now.
    if let pin = known?.pin {
      guard pin == found else { throw .fingerprintChanged(expected: pin, found: found) }
    } else if SSL_get_verify_result(ssl) == X509_V_OK {
      known?.rememberVerified()
    } else {
      guard known?.wasVerified != true else { throw .tls(.untrusted) }
      known?.pin = found
    }
  }

  /// Seals what is to be said; `false` if that cannot be done any more.
  func send(_ bytes: [UInt8]) -> Bool {
    ERR_clear_error()
    return bytes.isEmpty || SSL_write(ssl, bytes, Int32(bytes.count)) == bytes.count
  }

  /// Seals a good bye.
  func sayGoodbye() { _ = SSL_shutdown(ssl) }

  /// Moves what waits to go to the other end behind `bytes`.
  func takeLeaving(_ bytes: inout [UInt8]) {
    let count = BIO_ctrl_pending(leaving)
    guard count > 0 else { return }
    bytes += [UInt8](unsafeUninitializedCapacity: count) { buffer, length in
      length = Int(max(0, BIO_read(leaving, buffer.baseAddress, Int32(count))))
    }
  }
}
