import COpenSSL

final class Certificate {
  let certificate: OpaquePointer
  let key: OpaquePointer

  /// Signed by `issuer` or by itself. `names` is `DNS:a.example,IP:127.0.0.1`. Valid between `from` and `until`, in seconds from now.
  init(_ commonName: String, names: String? = nil, from: Int = -3600, until: Int = 3600, issuer: Certificate? = nil) {
    var key: OpaquePointer?
    let making = EVP_PKEY_CTX_new_id(NID_ED25519, nil)
    EVP_PKEY_keygen_init(making)
    EVP_PKEY_keygen(making, &key)
    EVP_PKEY_CTX_free(making)
    guard let key, let certificate = X509_new() else { fatalError("OpenSSL makes no key") }
    (self.key, self.certificate) = (key, certificate)
    X509_set_version(certificate, 2)
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), Int.random(in: 1...Int.max))
    X509_gmtime_adj(X509_getm_notBefore(certificate), from)
    X509_gmtime_adj(X509_getm_notAfter(certificate), until)
    X509_set_pubkey(certificate, key)
    let subject = X509_get_subject_name(certificate)
    X509_NAME_add_entry_by_txt(subject, "CN", 0x1001, commonName, -1, -1, 0)
    X509_set_issuer_name(certificate, issuer.map { X509_get_subject_name($0.certificate) } ?? subject)
    if let names { extend(NID_subject_alt_name, names) }
    if issuer == nil, names == nil { extend(NID_basic_constraints, "critical,CA:TRUE") }
    X509_sign(certificate, issuer?.key ?? key, nil)
  }

  deinit {
    X509_free(certificate)
    EVP_PKEY_free(key)
  }

  private func extend(_ kind: Int32, _ value: String) {
    let fresh = X509V3_EXT_conf_nid(nil, nil, kind, value)
    X509_add_ext(certificate, fresh, -1)
    X509_EXTENSION_free(fresh)
  }

  func write(to path: String) {
    let file = BIO_new_file(path, "w")
    PEM_write_bio_X509(file, certificate)
    BIO_free(file)
  }
}

/// The server's end of TLS, in memory.
final class TLSPeer {
  private let context: OpaquePointer
  private let ssl: OpaquePointer
  private let (arrived, leaving): (OpaquePointer, OpaquePointer)

  init(_ certificate: Certificate) {
    guard let context = SSL_CTX_new(TLS_server_method()), let ssl = SSL_new(context),
      let arrived = BIO_new(BIO_s_mem()), let leaving = BIO_new(BIO_s_mem())
    else { fatalError("OpenSSL makes no session") }
    (self.context, self.ssl, self.arrived, self.leaving) = (context, ssl, arrived, leaving)
    SSL_use_certificate(ssl, certificate.certificate)
    SSL_use_PrivateKey(ssl, certificate.key)
    SSL_set_bio(ssl, arrived, leaving)
    SSL_set_accept_state(ssl)
  }

  deinit {
    SSL_free(ssl)
    SSL_CTX_free(context)
  }

  var askedFor: String? { SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name).map { String(cString: $0) } }

  /// Sends `line` once the handshake is complete.
  func answer(_ sealed: [UInt8], saying line: String) -> [UInt8] {
    if !sealed.isEmpty { BIO_write(arrived, sealed, Int32(sealed.count)) }
    if SSL_is_init_finished(ssl) == 0, SSL_do_handshake(ssl) == 1 { SSL_write(ssl, line, Int32(line.utf8.count)) }
    var bytes = [UInt8](repeating: 0, count: BIO_ctrl_pending(leaving))
    BIO_read(leaving, &bytes, Int32(bytes.count))
    return bytes
  }

  func heard() -> String {
    var bytes = [UInt8](repeating: 0, count: 1000)
    let count = SSL_read(ssl, &bytes, 1000)
    return String(decoding: bytes.prefix(Int(max(0, count))), as: UTF8.self)
  }
}
