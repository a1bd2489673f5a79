import COpenSSL

/// What the library refuses, in its own words.
package struct TLSFailure: Error, CustomStringConvertible {
  /// What it says.
  package let description: String

  /// A refusal of our own.
  package init(_ description: String) { self.description = description }

  /// What the library said last.
  static var latest: TLSFailure {
    TLSFailure(ERR_reason_error_string(ERR_peek_last_error()).map { String(cString: $0) } ?? "TLS is out of order")
  }
}

/// A certificate.
package final class TLSCertificate: @unchecked Sendable {  // never changed
  let pointer: OpaquePointer

  init(owning pointer: OpaquePointer) { self.pointer = pointer }

  deinit { X509_free(pointer) }

  /// The certificates of a PEM file, the holder's own first.
  package static func chain(file: String) throws(TLSFailure) -> [TLSCertificate] {
    var found: [TLSCertificate] = []
    try reading(file) { bio in
      while let next = PEM_read_bio_X509(bio, nil, nil, nil) { found.append(TLSCertificate(owning: next)) }
    }
    // Where there are no more is no fault, as long as there was one.
    guard !found.isEmpty, ERR_peek_last_error() & UInt(ERR_REASON_MASK) == UInt(PEM_R_NO_START_LINE) else {
      throw .latest
    }
    return found
  }

  /// As it is sent.
  package var der: [UInt8] { bytes { i2d_X509(pointer, $0) } }

  /// The public key in it, as `TLSKey` gives its own.
  package var publicKey: [UInt8] { bytes { i2d_X509_PUBKEY(X509_get_X509_PUBKEY(pointer), $0) } }

  /// Whether it is for a host of this name, by its alternative names alone.
  package func isFor(_ host: String) -> Bool {
    X509_check_host(pointer, host, host.utf8.count, UInt32(X509_CHECK_FLAG_NEVER_CHECK_SUBJECT), nil) == 1
  }

  /// Whether its time has come and is not over.
  package var isValidNow: Bool {
    X509_cmp_current_time(X509_get0_notBefore(pointer)) < 0 && X509_cmp_current_time(X509_get0_notAfter(pointer)) > 0
  }
}

/// A private key.
package final class TLSKey: @unchecked Sendable {  // never changed
  let pointer: OpaquePointer

  /// Reads a key of a PEM file that no password protects.
  package init(file: String) throws(TLSFailure) {
    var key: OpaquePointer?
    // A password would be asked for at the terminal.
    try reading(file) { key = PEM_read_bio_PrivateKey($0, nil, { _, _, _, _ in -1 }, nil) }
    guard let key else { throw .latest }
    pointer = key
  }

  deinit { EVP_PKEY_free(pointer) }

  /// Its public half.
  package var publicKey: [UInt8] { bytes { i2d_PUBKEY(pointer, $0) } }
}

private func reading(_ file: String, _ body: (OpaquePointer) -> Void) throws(TLSFailure) {
  ERR_clear_error()
  guard let bio = BIO_new_file(file, "r") else { throw .latest }
  defer { BIO_free(bio) }
  body(bio)
}

/// What the library writes behind a pointer that it moves on, after it has told how much that is.
private func bytes(_ write: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32) -> [UInt8] {
  [UInt8](unsafeUninitializedCapacity: Int(max(0, write(nil)))) { buffer, count in
    var end = buffer.baseAddress
    count = Int(max(0, write(&end)))
  }
}
