import Base
import Foundation
import NIOCore
import NIOEmbedded
import NIOSSL
import Synchronization
import TicTacToe

/// What nodes know one another by: certificates of a private authority, each with its node's name, shown by both ends;
/// read again on request. Links that are open go on with what they were opened with.
package final class NodeTLS: RenewableCertificates {
  private struct Contexts {
    let server: NIOSSLContext
    let client: NIOSSLContext
    let fingerprint: String
  }

  private let files: (folder: String, name: String)
  private let current: Mutex<Contexts>

  /// Reads `ca.crt`, `NAME.crt` and `NAME.key` of a folder made by `alina-server cluster-cert`; throws what is missing.
  package init(folder: String, name: String) throws {
    files = (folder, name)
    current = Mutex(try NodeTLS.load(folder, name))
  }

  /// For links that others open from now on.
  var server: NIOSSLContext { current.withLock { $0.server } }
  /// For links to others from now on.
  var client: NIOSSLContext { current.withLock { $0.client } }
  package var fingerprint: String { current.withLock { $0.fingerprint } }
  package var shownTo: String { "nodes" }

  /// Reads the files again; keeps what it has if they cannot be used.
  package func reload() throws {
    let fresh = try NodeTLS.load(files.folder, files.name)
    current.withLock { $0 = fresh }
  }

  private static func load(_ folder: String, _ name: String) throws -> Contexts {
    let paths = ["ca.crt", "\(name).crt", "\(name).key"].map { folder + "/" + $0 }
    for path in paths where !FileManager.default.isReadableFile(atPath: path) {
      throw StoreError.unusable(
        "cannot read \(path); make it with: alina-server cluster-cert --cluster-dir \(folder) \(name)")
    }
    let authorities = try certificates(paths[0])
    let authority = NIOSSLTrustRoots.certificates(authorities)
    let chain = try certificates(paths[1])
    guard let leaf = chain.first,
      leaf._subjectAlternativeNames().contains(where: { Array($0.contents) == Array(name.utf8) })
    else { throw StoreError.unusable("\(paths[1]) is not the certificate of a node named \(name)") }
    let now = time(nil)
    guard leaf.notValidBefore <= now, now < leaf.notValidAfter else {
      throw StoreError.unusable("\(paths[1]) is not valid yet, or no longer")
    }
    let sources = chain.map { NIOSSLCertificateSource.certificate($0) }
    let key = NIOSSLPrivateKeySource.privateKey(
      try using(paths[2], "is no private key in PEM") { try NIOSSLPrivateKey(file: paths[2], format: .pem) })
    var accepting = TLSConfiguration.makeServerConfiguration(certificateChain: sources, privateKey: key)
    accepting.trustRoots = authority
    // Whoever opens a link must show a certificate of our authority; which node it is, its name is for the others to check.
    accepting.certificateVerification = .noHostnameVerification
    accepting.minimumTLSVersion = .tlsv13
    accepting.shutdownTimeout = .milliseconds(200)
    let server = try using(paths[2], "is not the key of \(paths[1])") { try NIOSSLContext(configuration: accepting) }
    var opening = TLSConfiguration.makeClientConfiguration()
    (opening.certificateChain, opening.privateKey, opening.trustRoots) = (sources, key, authority)
    opening.certificateVerification = .fullVerification
    opening.minimumTLSVersion = .tlsv13
    opening.shutdownTimeout = .milliseconds(200)
    let client = try NIOSSLContext(configuration: opening)
    // Here and not when the first link is refused.
    guard believe(server, client, name) else {
      throw StoreError.unusable("\(paths[1]) was not made by the authority in \(paths[0])")
    }
    return Contexts(server: server, client: client, fingerprint: SHA256.hash(try leaf.toDERBytes()).hex)
  }

  /// Whether two nodes with these contexts would believe each other: they shake hands in memory, and one says a word.
  private static func believe(_ server: NIOSSLContext, _ client: NIOSSLContext, _ name: String) -> Bool {
    let (accepting, opening) = (EmbeddedChannel(), EmbeddedChannel())
    func pass() throws {
      var isTalking = true
      while isTalking {
        isTalking = false
        for (from, to) in [(opening, accepting), (accepting, opening)] {
          from.embeddedEventLoop.run()
          while let bytes = try from.readOutbound(as: ByteBuffer.self) {
            try to.writeInbound(bytes)
            isTalking = true
          }
        }
      }
    }
    defer {
      opening.close(promise: nil)
      try? pass()
    }
    do {
      try accepting.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: server))
      try opening.pipeline.syncOperations.addHandler(NIOSSLClientHandler(context: client, serverHostname: name))
      for channel in [accepting, opening] {
        channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1), promise: nil)
      }
      opening.writeAndFlush(ByteBuffer(string: "word"), promise: nil)
      try pass()
      return try accepting.readInbound(as: ByteBuffer.self) == ByteBuffer(string: "word")
    } catch { return false }
  }

  /// Does something with a file; throws one line that says what is wrong with which.
  private static func using<T>(_ path: String, _ problem: String, _ body: () throws -> T) throws -> T {
    do { return try body() } catch { throw StoreError.unusable("\(path) \(problem)") }
  }

  /// The certificates of a file, of which there is one at least.
  private static func certificates(_ path: String) throws -> [NIOSSLCertificate] {
    let found = try using(path, "is no certificate in PEM") { try NIOSSLCertificate.fromPEMFile(path) }
    guard !found.isEmpty else { throw StoreError.unusable("\(path) has no certificate in it") }
    return found
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
    if files.fileExists(atPath: caKey) {
      _ = try using(caKey, "is no private key in PEM") { try NIOSSLPrivateKey(file: caKey, format: .pem) }
    } else {
      guard !files.fileExists(atPath: caCertificate) else {
        throw StoreError.unusable("\(folder) has ca.crt but not its ca.key: make certificates where ca.key is kept")
      }
      // Each has a name of its own: where two are trusted, an issuer is found by it.
      try OpenSSL.make(
        name: "alina-server cluster " + String(UInt64.random(in: .min ... .max), radix: 16),
        extensions: ["basicConstraints = critical, CA:TRUE, pathlen:0", "keyUsage = critical, keyCertSign"],
        certificate: caCertificate, key: caKey)
    }
    let own = try OpenSSL.publicKey(of: caKey)
    guard
      let authority = try certificates(caCertificate).first(where: { try $0.extractPublicKey().toSPKIBytes() == own })
    else { throw StoreError.unusable("\(caCertificate) is not the certificate of \(caKey)") }
    try OpenSSL.make(
      name: name,
      extensions: [
        "basicConstraints = critical, CA:FALSE", "extendedKeyUsage = serverAuth, clientAuth",
        "subjectAltName = DNS:\(name)",
      ], certificate: "\(folder)/\(name).crt", key: "\(folder)/\(name).key", by: (authority, caKey))
  }
}
