import COpenSSL

/// The certificates of this end and the trusted authorities, for several connections. Requires TLS 1.2 or later.
package final class TLSContext: @unchecked Sendable {  // immutable after `init`
  let pointer: OpaquePointer

  /// For a client. OpenSSL accepts every certificate: the client has to check the server's certificate after the handshake, before it sends
  /// anything. `authorities` is a PEM file of authorities to trust instead of this machine's.
  package convenience init(authorities: String? = nil) throws(TLSFailure) {
    try self.init(TLS_client_method())
    SSL_CTX_set_verify(pointer, SSL_VERIFY_NONE, nil)
    let isReady =
      authorities.map { SSL_CTX_load_verify_file(pointer, $0) } ?? SSL_CTX_set_default_verify_paths(pointer)
    guard isReady == 1 else { throw .latest }
  }

  /// For a server, which accepts any client.
  package convenience init(showing chain: [TLSCertificate], key: TLSKey) throws(TLSFailure) {
    try self.init(TLS_server_method())
    guard let own = chain.first, SSL_CTX_use_certificate(pointer, own.pointer) == 1,
      SSL_CTX_use_PrivateKey(pointer, key.pointer) == 1
    else { throw .latest }
    for other in chain.dropFirst() where alina_show_also(pointer, other.pointer) != 1 { throw .latest }
  }

  private init(_ method: OpaquePointer?) throws(TLSFailure) {
    // Another thread may still be using the library when the process exits, so OpenSSL must not clean up.
    OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil)
    ERR_clear_error()
    guard let pointer = SSL_CTX_new(method) else { throw .latest }
    self.pointer = pointer
    guard alina_harden(pointer) == 1 else { throw .latest }
  }

  deinit { SSL_CTX_free(pointer) }
}
