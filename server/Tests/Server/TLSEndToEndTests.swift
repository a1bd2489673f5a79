import Foundation
import MatchProtocol
import TestSupport
import Testing
import TicTacToe

@testable import MatchClient
@testable import Lobby
@testable import MatchStore
@testable import ServerTransport

@Suite(.serialized) struct TLSEndToEndTests {
  private func client(_ port: Int, _ security: MatchClient.Configuration.Security, folder: String) -> Watcher {
    let client = MatchClient(
      .init(
        .init(.init(host: "127.0.0.1", port: port)), security: security, identity: .init(client: "test"),
        folder: folder))
    client.connect()
    return Watcher(client)
  }

  private func failure(_ watcher: Watcher) async throws -> ClientFailure {
    try await watcher.wait("a failure") { if case .status(.failed(let why)) = $0 { why } else { nil } }
  }

  @Test func `a self-signed certificate is pinned on first use, and a different certificate is refused`() async throws {
    let (folder, keys, others) = (TemporaryFolder(), TemporaryFolder(), TemporaryFolder())
    let right = try ServerTLS.selfSigned(in: keys.path, names: ["localhost"])
    #expect(try ServerTLS.selfSigned(in: keys.path, names: ["localhost"]).fingerprint == right.fingerprint)
    let key = try FileManager.default.attributesOfItem(atPath: keys.path + "/self-signed.key")
    #expect(key[.posixPermissions] as? Int == 0o600)
    let server = try await TestServer { $0.tls = right }
    let first = client(server.port, .tls, folder: folder.path)
    _ = try await first.online()
    let known = try String(contentsOfFile: folder.path + "/known_servers", encoding: .utf8)
    #expect(known == "127.0.0.1:\(server.port) \(right.fingerprint)\n")
    first.client.disconnect()
    let second = client(server.port, .tls, folder: folder.path)
    _ = try await second.online()
    second.client.disconnect()
    let port = server.port
    try await server.stop()
    let wrong = try ServerTLS.selfSigned(in: others.path, names: ["localhost"])
    let impostor = try await TestServer(port: port) { $0.tls = wrong }
    let third = client(port, .tls, folder: folder.path)
    let why = try await failure(third)
    #expect(why == .fingerprintChanged(expected: right.fingerprint, found: wrong.fingerprint))
    #expect(why.advice.contains("known_servers"))
    #expect(try String(contentsOfFile: folder.path + "/known_servers", encoding: .utf8) == known)
    let sessions = try await impostor.host.inspect { $0.people.sessions.count }
    #expect(sessions == 0, "the client has not logged in to the impostor")
    try await impostor.stop()
  }

  @Test func `a mismatch of TLS and plain connections is recognised in both directions, with advice`() async throws {
    let (folder, keys) = (TemporaryFolder(), TemporaryFolder())
    let plain = try await TestServer()
    let first = client(plain.port, .tls, folder: folder.path)
    let why = try await failure(first)
    #expect(why.advice.contains("--plain"), "\(why)")
    try await plain.stop()
    let certificate = try ServerTLS.selfSigned(in: keys.path, names: ["localhost"])
    let secure = try await TestServer { $0.tls = certificate }
    let second = client(secure.port, .plain, folder: folder.path)
    let reason = try await second.wait("a retry") {
      if case .status(.waiting(_, let reason)) = $0 { reason } else { nil }
    }
    #expect(reason == .wordless && reason.text.contains("--tls"))
    second.client.disconnect()
    try await secure.stop()
  }

  @Test func `a whole game is played over TLS with a reconnect`() async throws {
    let (folder, other, keys) = (TemporaryFolder(), TemporaryFolder(), TemporaryFolder())
    let certificate = try ServerTLS.selfSigned(in: keys.path, names: ["localhost"])
    let server = try await TestServer { $0.tls = certificate }
    let one = client(server.port, .tls, folder: folder.path)
    let two = client(server.port, .tls, folder: other.path)
    for watcher in [one, two] {
      _ = try await watcher.online()
      watcher.client.perform(.seek(MatchTerms()))
    }
    let (m, side) = try await one.paired()
    _ = try await two.paired()
    let (x, o) = side == .x ? (one, two) : (two, one)
    for watcher in [x, o] {
      _ = try await watcher.wait("the start") {
        if case .event(m, _, _) = $0, watcher.client.match(m)?.state.phase == .live { true } else { nil }
      }
    }
    for (ply, cell) in [4, 0, 2, 6, 3, 5, 1, 7, 8].enumerated() {
      let mover = ply % 2 == 0 ? x : o
      if ply == 4 {
        mover.client.drop()
        _ = try await mover.online()
      }
      mover.client.perform(.move(m, Cell(cell)))
      let waiter = ply % 2 == 0 ? o : x
      try await waiter.move(ply: ply)
      _ = try await mover.wait("its own move") { _ in
        mover.client.match(m).map { $0.state.moves.count > ply } == true ? true : nil
      }
    }
    // The end comes as an event of its own after the last move.
    if x.client.match(m)?.state.end == nil {
      _ = try await x.wait("the end") { _ in x.client.match(m)?.state.end == nil ? nil : true }
    }
    #expect(x.client.match(m)?.state.end?.outcome == .draw)
    try await server.stop()
  }

  @Test func `SIGHUP reloads certificates, keeps the old if the new are unusable, and drops no connection`()
    async throws
  {
    let (data, keys, fresh, folder) = (TemporaryFolder(), TemporaryFolder(), TemporaryFolder(), TemporaryFolder())
    let old = try ServerTLS.selfSigned(in: keys.path, names: ["localhost"]).fingerprint
    let new = try ServerTLS.selfSigned(in: fresh.path, names: ["localhost"]).fingerprint
    let server = ServerChild(data)
    try server.start(["--tls-cert", keys.path + "/self-signed.crt", "--tls-key", keys.path + "/self-signed.key"])
    let stays = client(server.port, .tls, folder: folder.path)
    _ = try await stays.online()
    func renew(_ bytes: (String) throws -> Data) throws {
      for name in ["self-signed.crt", "self-signed.key"] {
        try bytes(name).write(to: URL(filePath: keys.path + "/" + name))
      }
      server.signal(SIGHUP)
    }
    try renew { _ in Data("no certificate".utf8) }
    #expect(server.logs("the previous ones stay in use"))
    let pinned = TemporaryFolder()
    let before = client(server.port, .tls, folder: pinned.path)
    _ = try await before.online()
    before.client.disconnect()
    #expect(try String(contentsOfFile: pinned.path + "/known_servers", encoding: .utf8).contains(old))
    try renew { try Data(contentsOf: URL(filePath: fresh.path + "/" + $0)) }
    #expect(server.logs("certificates reloaded fingerprint=\(new)"))
    let after = client(server.port, .tls, folder: pinned.path)
    #expect(try await failure(after) == .fingerprintChanged(expected: old, found: new))
    stays.client.ask(.me)
    _ = try await stays.wait("an answer") { if case .page("me", _, _) = $0 { true } else { nil } }
    stays.client.disconnect()
    server.kill9()
  }

  @Test func `a TLS handshake that stops or never begins is closed after a while`() async throws {
    let keys = TemporaryFolder()
    let certificate = try ServerTLS.selfSigned(in: keys.path, names: ["localhost"])
    let server = try await TestServer {
      $0.tls = certificate
      $0.session.helloWithin = 300
    }
    for bytes in [[], [0x16, 3, 1, 2, 0, 1]] as [[UInt8]] {
      let peer = try RawPeer(server.port)
      peer.send(bytes)
      #expect(peer.rest(pause: 10) == [] && peer.isAtEnd)
    }
    try await server.stop()
  }

  @Test func `account tokens are never sent over a plain connection to another computer`() {
    for (host, security, mayUse) in [
      ("example.org", MatchClient.Configuration.Security.automatic, true), ("example.org", .plain, false),
      ("127.0.0.1", .automatic, true), ("localhost", .plain, true), ("::1", .plain, true),
    ] {
      let node = ServerAddress.Node(host: host)
      let configuration = MatchClient.Configuration(ServerAddress(node), security: security)
      #expect(configuration.protects(node) == mayUse, "\(host) \(security)")
    }
    let folder = TemporaryFolder()
    #expect(ClientFolder(folder.path, host: "example.org", port: 1).save(.init(token: "t", resume: "r")))
    let exposed = ClientFolder(folder.path, host: "example.org", port: 1, isExposed: true)
    #expect(exposed.credentials == nil, "tokens of encrypted connections are not used for plain ones")
    #expect(exposed.save(.init(token: nil, resume: "plain")))
    #expect(ClientFolder(folder.path, host: "example.org", port: 1).credentials == .init(token: "t", resume: "r"))
  }
}
