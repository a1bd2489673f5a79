import Base
import Foundation
import MatchStore
import NIOCore
import Synchronization
import TLS
import TLSChannel

/// The server's certificate: read from files, or self-signed once and kept.
package final class ServerTLS: Sendable {
  private let files: (certificate: String, key: String)
  private let current: Mutex<(context: TLSContext, fingerprint: String, expires: Int)>
  private let refused = Mutex(false)

  package init(certificate: String, key: String) throws {
    files = (certificate, key)
    current = Mutex(try ServerTLS.load(certificate, key))
  }

  func handler() throws -> TLSHandler { try TLSHandler(current.withLock { $0.context }) }

  /// SHA-256 of the leaf certificate, which clients show and pin.
  package var fingerprint: String { current.withLock { $0.fingerprint } }

  /// The earliest time at which a certificate of the chain expires, in seconds since 1970.
  package var expires: Int { current.withLock { $0.expires } }
  /// Whether the last `reload` kept the old certificate, because the files were unusable.
  package var isRefused: Bool { refused.withLock { $0 } }

  /// Keeps the old certificate if the files are unusable.
  package func reload(_ logger: Logger) {
    do {
      let fresh = try ServerTLS.load(files.certificate, files.key)
      current.withLock { $0 = fresh }
      refused.withLock { $0 = false }
      logger.notice("certificates reloaded", metadata: ["fingerprint": fingerprint])
    } catch {
      refused.withLock { $0 = true }
      logger.error("the certificates cannot be used; the previous ones stay in use", metadata: ["error": "\(error)"])
    }
  }

  private static func load(_ certificate: String, _ key: String) throws -> (TLSContext, String, Int) {
    let chain = try TLSCertificate.chain(file: certificate)
    let expires = Int(Date().timeIntervalSince1970) + (chain.map(\.secondsLeft).min() ?? 0)
    return (try TLSContext(showing: chain, key: TLSKey(file: key)), SHA256.hash(chain[0].der).hex, expires)
  }

  package static func hasSelfSigned(in folder: String) -> Bool {
    FileManager.default.fileExists(atPath: folder + "/self-signed.crt")
  }

  /// Loads or creates the self-signed certificate of a folder, which lasts ten years because clients pin it.
  package static func selfSigned(in folder: String, names: [String]) throws -> ServerTLS {
    let certificateFile = folder + "/self-signed.crt"
    let keyFile = folder + "/self-signed.key"
    if !hasSelfSigned(in: folder) {
      try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      let known = names.filter { name in
        name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !",;#$\"\\".utf8.contains($0) }
      }
      let alternatives = known.map { ((try? SocketAddress(ipAddress: $0, port: 0)) == nil ? "DNS:" : "IP:") + $0 }
      let made = try TLSCertificate.makeSelfSigned(for: "alina-server", names: alternatives, days: 3650)
      // Write the key first: `hasSelfSigned` looks only for the certificate. A killed process may have left a key without a certificate.
      unlink(keyFile)
      for (file, content, mode) in [(keyFile, made.key, 0o600), (certificateFile, made.certificate, 0o644)] {
        try NewFile.make(file) { part in
          guard
            FileManager.default.createFile(atPath: part, contents: Data(content), attributes: [.posixPermissions: mode])
          else { throw StoreError.unusable("cannot make \(file): \(String(cString: strerror(errno)))") }
        }
      }
    }
    return try ServerTLS(certificate: certificateFile, key: keyFile)
  }
}
