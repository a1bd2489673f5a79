import COpenSSL

/// An error of OpenSSL, described by OpenSSL's own text.
package struct TLSFailure: Error, CustomStringConvertible {
  package let description: String

  /// An error that does not come from OpenSSL.
  package init(_ description: String) { self.description = description }

  static var latest: TLSFailure {
    TLSFailure(ERR_reason_error_string(ERR_peek_last_error()).map { String(cString: $0) } ?? "TLS is out of order")
  }
}

package final class TLSCertificate: @unchecked Sendable {  // never changed
  let pointer: OpaquePointer

  init(owning pointer: OpaquePointer) { self.pointer = pointer }

  deinit { X509_free(pointer) }

  /// The holder's own certificate comes first.
  package static func chain(file: String) throws(TLSFailure) -> [TLSCertificate] {
    var found: [TLSCertificate] = []
    try reading(file) { bio in
      while let next = PEM_read_bio_X509(bio, nil, nil, nil) { found.append(TLSCertificate(owning: next)) }
    }
    // OpenSSL reports the end of the file as `PEM_R_NO_START_LINE`. Any other error means that a certificate is damaged.
    guard !found.isEmpty, ERR_peek_last_error() & UInt(ERR_REASON_MASK) == UInt(PEM_R_NO_START_LINE) else {
      throw .latest
    }
    return found
  }

  /// A P-256 key, and a certificate that this key signs, both in PEM. `names` are such as `DNS:localhost` and `IP:127.0.0.1`.
  package static func makeSelfSigned(
    for server: String, names: [String], days: Int
  ) throws(TLSFailure) -> (certificate: [UInt8], key: [UInt8]) {
    ERR_clear_error()
    guard let pair = alina_make_key() else { throw .latest }
    defer { EVP_PKEY_free(pair) }
    guard let made = X509_new() else { throw .latest }
    defer { X509_free(made) }
    let (serial, seconds) = (UInt64.random(in: 1...UInt64(Int64.max)), days * 86_400)
    guard alina_sign_itself(made, pair, serial, server, names.joined(separator: ","), seconds) == 1 else {
      throw .latest
    }
    let key = try pem { PEM_write_bio_PrivateKey($0, pair, nil, nil, 0, nil, nil) }
    return (try pem { PEM_write_bio_X509($0, made) }, key)
  }

  /// Negative if the certificate has expired.
  package var secondsLeft: Int {
    var (days, seconds): (Int32, Int32) = (0, 0)
    ASN1_TIME_diff(&days, &seconds, nil, X509_get0_notAfter(pointer))
    return Int(days) * 86_400 + Int(seconds)
  }

  package var der: [UInt8] {
    // Without a buffer, `i2d_X509` only returns the size. With a pointer, it moves the pointer behind the written bytes.
    [UInt8](unsafeUninitializedCapacity: Int(max(0, i2d_X509(pointer, nil)))) { buffer, count in
      var end = buffer.baseAddress
      count = Int(max(0, i2d_X509(pointer, &end)))
    }
  }
}

package final class TLSKey: @unchecked Sendable {  // never changed
  let pointer: OpaquePointer

  /// A key that a password protects is refused.
  package init(file: String) throws(TLSFailure) {
    var key: OpaquePointer?
    // Without this callback OpenSSL would ask for a password at the terminal.
    try reading(file) { key = PEM_read_bio_PrivateKey($0, nil, { _, _, _, _ in -1 }, nil) }
    guard let key else { throw .latest }
    pointer = key
  }

  deinit { EVP_PKEY_free(pointer) }
}

private func reading(_ file: String, _ body: (OpaquePointer) -> Void) throws(TLSFailure) {
  ERR_clear_error()
  guard let bio = BIO_new_file(file, "r") else { throw .latest }
  defer { BIO_free(bio) }
  body(bio)
}

private func pem(_ write: (OpaquePointer) -> Int32) throws(TLSFailure) -> [UInt8] {
  guard let bio = BIO_new(BIO_s_mem()) else { throw .latest }
  defer { BIO_free(bio) }
  guard write(bio) == 1 else { throw .latest }
  return [UInt8](unsafeUninitializedCapacity: BIO_ctrl_pending(bio)) { buffer, count in
    count = Int(max(0, BIO_read(bio, buffer.baseAddress, Int32(buffer.count))))
  }
}
