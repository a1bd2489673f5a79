import COpenSSL

/// What the connections of one purpose share: whom to show, whom to believe, and the oldest TLS that will do.
package final class TLSContext: @unchecked Sendable {  // made once and only read after
  let pointer: OpaquePointer

  /// For who calls and judges after the handshake, before a word is said: `authorities` is a PEM file of those to trust
  /// instead of this machine's.
  package convenience init(authorities: String? = nil) throws(TLSFailure) {
    try self.init(TLS_client_method(), oldest: TLS1_2_VERSION)
    SSL_CTX_set_verify(pointer, SSL_VERIFY_NONE, nil)
    let isReady =
      authorities.map { SSL_CTX_load_verify_file(pointer, $0) } ?? SSL_CTX_set_default_verify_paths(pointer)
    guard isReady == 1 else { throw .latest }
  }

  /// For who is called by anybody, and shows certificates.
  package convenience init(showing chain: [TLSCertificate], key: TLSKey) throws(TLSFailure) {
    try self.init(TLS_server_method(), oldest: TLS1_2_VERSION)
    try show(chain, key)
  }

  /// For those who know one another by an authority of their own, on both ends.
  package convenience init(
    among authorities: [TLSCertificate], showing chain: [TLSCertificate], key: TLSKey
  ) throws(TLSFailure) {
    try self.init(TLS_method(), oldest: TLS1_3_VERSION)
    try show(chain, key)
    for authority in authorities where X509_STORE_add_cert(SSL_CTX_get_cert_store(pointer), authority.pointer) != 1 {
      throw .latest
    }
    SSL_CTX_set_verify(pointer, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
  }

  private init(_ method: OpaquePointer?, oldest: Int32) throws(TLSFailure) {
    // Without a farewell at exit: it would take the library away under the thread that still uses it.
    OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil)
    ERR_clear_error()
    guard let pointer = SSL_CTX_new(method) else { throw .latest }
    self.pointer = pointer
    guard alina_harden(pointer, oldest) == 1 else { throw .latest }
  }

  deinit { SSL_CTX_free(pointer) }

  private func show(_ chain: [TLSCertificate], _ key: TLSKey) throws(TLSFailure) {
    guard let own = chain.first, SSL_CTX_use_certificate(pointer, own.pointer) == 1,
      SSL_CTX_use_PrivateKey(pointer, key.pointer) == 1
    else { throw .latest }
    for other in chain.dropFirst() where alina_show_also(pointer, other.pointer) != 1 { throw .latest }
  }
}
