/// Certificates in files, which can be read again while they are in use.
package protocol RenewableCertificates: Sendable {
  /// Who sees them, for the log.
  var shownTo: String { get }
  /// SHA-256 of the leaf certificate.
  var fingerprint: String { get }
  /// Reads the files again; keeps what it has and throws if they cannot be used.
  func reload() throws
}

extension RenewableCertificates {
  /// Reads the files again, and says what came of it.
  package func reload(_ logger: Logger) {
    do {
      try reload()
      logger.notice("certificates read again", metadata: ["fingerprint": fingerprint, "to": shownTo])
    } catch {
      logger.error(
        "the certificates cannot be used; the old ones stay", metadata: ["error": "\(error)", "to": shownTo])
    }
  }
}
