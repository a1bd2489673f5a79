import COpenSSL

/// One end of a TLS connection without a socket: the owner passes in the received encrypted bytes, and sends those that it takes out.
package final class TLSEngine {
  package enum Reading {
    case bytes(Int)
    /// More encrypted bytes are needed.
    case wantsMore
    /// The other end has closed its side.
    case ended
  }

  package enum Role {
    case client, server
  }

  private let ssl: OpaquePointer
  /// Encrypted bytes: those that arrived, the number of them that OpenSSL has taken, and those to send. Both arrays give up their memory as
  /// soon as all their bytes are used.
  private var (arrived, read, leaving) = ([UInt8](), 0, [UInt8]())
  package private(set) var isEstablished = false

  package init(_ context: TLSContext, _ role: Role) throws(TLSFailure) {
    ERR_clear_error()
    guard let ssl = SSL_new(context.pointer) else { throw .latest }
    self.ssl = ssl
    guard let bio = BIO_new(TLSEngine.method) else { throw .latest }
    BIO_set_data(bio, Unmanaged.passUnretained(self).toOpaque())
    SSL_set_bio(ssl, bio, bio)
    if role == .client { SSL_set_connect_state(ssl) } else { SSL_set_accept_state(ssl) }
  }

  deinit { SSL_free(ssl) }

  /// Lets OpenSSL use `arrived` and `leaving`: its own buffers in memory (BIO_s_mem) would never shrink.
  nonisolated(unsafe) private static let method: OpaquePointer? = {  // immutable after it is made
    let method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "buffers of TLSEngine")
    BIO_meth_set_read(method) { bio, target, most in
      BIO_clear_flags(bio, BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY)
      let engine = Unmanaged<TLSEngine>.fromOpaque(BIO_get_data(bio)).takeUnretainedValue()
      let count = min(Int(most), engine.arrived.count - engine.read)
      guard count > 0, let target else {
        BIO_set_flags(bio, BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY)
        return -1
      }
      engine.arrived.withUnsafeBytes {
        UnsafeMutableRawPointer(target).copyMemory(from: $0.baseAddress! + engine.read, byteCount: count)
      }
      engine.read += count
      if engine.read == engine.arrived.count { (engine.arrived, engine.read) = ([], 0) }
      return Int32(count)
    }
    BIO_meth_set_write(method) { bio, source, count in
      let engine = Unmanaged<TLSEngine>.fromOpaque(BIO_get_data(bio)).takeUnretainedValue()
      engine.leaving += UnsafeRawBufferPointer(start: source, count: Int(count))
      return count
    }
    BIO_meth_set_ctrl(method) { _, command, _, _ in command == BIO_CTRL_FLUSH ? 1 : 0 }
    return method
  }()

  /// Requires that the other end's certificate is for this host name or address.
  package func expect(_ host: String) throws(TLSFailure) {
    // Only a host name, not an address, is also sent to the server, below.
    guard X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host) != 1 else { return }
    let name = host.hasSuffix(".") ? String(host.dropLast()) : host
    SSL_set_hostflags(ssl, UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT))
    guard SSL_set1_host(ssl, name) == 1, alina_name_server(ssl, name) == 1 else {
      throw TLSFailure("'\(host)' is not a host's name")
    }
  }

  package func take(_ sealed: UnsafeRawBufferPointer) { arrived += sealed }

  /// Continues the handshake; true once it is complete.
  package func shakeHands() throws(TLSFailure) -> Bool {
    if isEstablished { return true }
    ERR_clear_error()
    let result = SSL_do_handshake(ssl)
    guard result == 1 else {
      guard SSL_get_error(ssl, result) == SSL_ERROR_WANT_READ else { throw .latest }
      return false
    }
    isEstablished = true
    return true
  }

  /// The certificate of the other end, after the handshake.
  package var peer: TLSCertificate? { SSL_get1_peer_certificate(ssl).map { TLSCertificate(owning: $0) } }

  /// Whether a trusted authority signed the other end's certificate.
  package var isVerified: Bool { SSL_get_verify_result(ssl) == X509_V_OK }

  /// Decrypts bytes from the other end, after the handshake.
  package func read(into target: UnsafeMutableRawBufferPointer) throws(TLSFailure) -> Reading {
    ERR_clear_error()
    let count = SSL_read(ssl, target.baseAddress, Int32(clamping: target.count))
    if count > 0 { return .bytes(Int(count)) }
    switch SSL_get_error(ssl, count) {
    case SSL_ERROR_WANT_READ: return .wantsMore
    case SSL_ERROR_ZERO_RETURN: return .ended
    default: throw .latest
    }
  }

  /// Encrypts bytes for the other end, after the handshake.
  package func say(_ bytes: UnsafeRawBufferPointer) throws(TLSFailure) {
    ERR_clear_error()
    var rest = bytes[...]
    while !rest.isEmpty {
      let piece = UnsafeRawBufferPointer(rebasing: rest)
      let count = SSL_write(ssl, piece.baseAddress, Int32(clamping: piece.count))
      guard count > 0 else { throw .latest }
      rest = rest.dropFirst(Int(count))
    }
  }

  /// Encrypts a close notification.
  package func sayGoodbye() {
    guard isEstablished else { return }
    ERR_clear_error()
    SSL_shutdown(ssl)
  }

  /// The encrypted bytes to send.
  package func takeLeaving() -> [UInt8] {
    defer { leaving = [] }
    return leaving
  }
}
