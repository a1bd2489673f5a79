import Base
import Foundation
import MatchStore
import Synchronization
import TLS

/// What nodes know one another by: certificates of a private authority, each with its node's name, shown by both ends;
/// read again on request. Links that are open go on with what they were opened with.
package final class NodeTLS: RenewableCertificates {
  private let files: (folder: String, name: String)
  private let current: Mutex<(context: TLSContext, fingerprint: String)>

  /// Reads `ca.crt`, `NAME.crt` and `NAME.key` of a folder made by `alina-server cluster-cert`; throws what is missing.
  package init(folder: String, name: String) throws {
    files = (folder, name)
    current = Mutex(try NodeTLS.load(folder, name))
  }

  /// For links from now on. Whoever opens one shows a certificate of our authority, and wants the other's name in its.
  var context: TLSContext { current.withLock { $0.context } }
  package var fingerprint: String { current.withLock { $0.fingerprint } }
  package var shownTo: String { "nodes" }

  /// Reads the files again; keeps what it has if they cannot be used.
  package func reload() throws {
    let fresh = try NodeTLS.load(files.folder, files.name)
    current.withLock { $0 = fresh }
  }

  private static func load(_ folder: String, _ name: String) throws -> (TLSContext, String) {
    let paths = ["ca.crt", "\(name).crt", "\(name).key"].map { folder + "/" + $0 }
    for path in paths where !FileManager.default.isReadableFile(atPath: path) {
      throw StoreError.unusable(
        "cannot read \(path); make it with: alina-server cluster-cert --cluster-dir \(folder) \(name)")
    }
    let (authorities, chain) = (try certificates(paths[0]), try certificates(paths[1]))
    guard chain[0].isFor(name) else {
      throw StoreError.unusable("\(paths[1]) is not the certificate of a node named \(name)")
    }
    guard chain[0].isValidNow else { throw StoreError.unusable("\(paths[1]) is not valid yet, or no longer") }
    let key = try key(paths[2])
    let context = try using(paths[2], "is not the key of \(paths[1])") {
      try TLSContext(among: authorities, showing: chain, key: key)
    }
    // Here and not when the first link is refused.
    guard (try? believe(context, name)) == true else {
      throw StoreError.unusable("\(paths[1]) was not made by the authority in \(paths[0])")
    }
    return (context, SHA256.hash(chain[0].der).hex)
  }

  /// Whether two nodes like this would believe each other: they shake hands in memory.
  private static func believe(_ context: TLSContext, _ name: String) throws -> Bool {
    let (opening, accepting) = (try TLSEngine(context, .caller), try TLSEngine(context, .called))
    try opening.expect(name)
    for _ in 0..<3 {
      for (from, to) in [(opening, accepting), (accepting, opening)] {
        _ = try from.shakeHands()
        from.takeLeaving().withUnsafeBytes { to.take($0) }
      }
    }
    return opening.isEstablished && accepting.isEstablished
  }

  /// Does something with a file; throws one line that says what is wrong with which.
  private static func using<T>(_ path: String, _ problem: String, _ body: () throws -> T) throws -> T {
    do { return try body() } catch { throw StoreError.unusable("\(path) \(problem)") }
  }

  private static func certificates(_ path: String) throws -> [TLSCertificate] {
    try using(path, "has no certificate in PEM in it") { try TLSCertificate.chain(file: path) }
  }

  private static func key(_ path: String) throws -> TLSKey {
    try using(path, "is no private key in PEM") { try TLSKey(file: path) }
  }

  /// Whether a node can have this name: 1–32 characters `[a-z0-9-]`, not only digits, because it stands in certificates.
  package static func isName(_ name: String) -> Bool {
    (1...32).contains(name.utf8.count) && name.first != "-" && name.last != "-" && name != "ca"
      && name.utf8.allSatisfy { ($0 | 0x20) == $0 && ($0 &- 0x30 < 10 || $0 &- 0x61 < 26 || $0 == UInt8(ascii: "-")) }
      && name.utf8.contains { $0 &- 0x61 < 26 }
  }

  /// Makes the certificate and key of a node, and the authority first if the folder has none; throws, with nothing changed, if the node
  /// has a certificate already, or the folder an authority but not its key. All live ten years.
  package static func make(in folder: String, name: String) throws {
    let files = FileManager.default
    let (caCertificate, caKey) = (folder + "/ca.crt", folder + "/ca.key")
    for path in ["\(folder)/\(name).crt", "\(folder)/\(name).key"] where files.fileExists(atPath: path) {
      throw StoreError.unusable("\(path) exists; remove it to make another")
    }
    try using(folder, "cannot be made a folder") {
      try files.createDirectory(
        atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }
    if !files.fileExists(atPath: caKey) {
      guard !files.fileExists(atPath: caCertificate) else {
        throw StoreError.unusable("\(folder) has ca.crt but not its ca.key: make certificates where ca.key is kept")
      }
      // Each has a name of its own: where two are trusted, an issuer is found by it.
      try OpenSSL.make(
        name: "alina-server cluster " + String(UInt64.random(in: .min ... .max), radix: 16),
        extensions: ["basicConstraints = critical, CA:TRUE, pathlen:0", "keyUsage = critical, keyCertSign"],
        certificate: caCertificate, key: caKey)
    }
    let own = try key(caKey).publicKey
    guard let authority = try certificates(caCertificate).first(where: { $0.publicKey == own }) else {
      throw StoreError.unusable("\(caCertificate) is not the certificate of \(caKey)")
    }
    try OpenSSL.make(
      name: name,
      extensions: [
        "basicConstraints = critical, CA:FALSE", "extendedKeyUsage = serverAuth, clientAuth",
        "subjectAltName = DNS:\(name)",
      ], certificate: "\(folder)/\(name).crt", key: "\(folder)/\(name).key", by: (authority, caKey))
  }
}
