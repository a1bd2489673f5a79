import Foundation
import MatchProtocol
import NIOCore
import ServerTestSupport
import Synchronization
import TestSupport
import Testing

@testable import Lobby
@testable import MatchStore
@testable import ServerTransport

/// Tests of addresses named by proxies, access to the administrators' port, certificates, and the page's folder.
@Suite struct TransportBoundEndToEndTests {
  @Test func `an address named by a proxy may have a port`() {
    for (text, address) in [
      ("1.2.3.4", "1.2.3.4"), (" 1.2.3.4:567", "1.2.3.4"), ("2001:db8::1", "2001:db8::1"),
      ("[2001:db8::1]:567", "2001:db8::1"), ("[2001:db8::1]", "2001:db8::1"),
    ] { #expect(PeoplePage.address(text)?.ipAddress == address, "\(text)") }
    for text in ["", "unknown", "1.2.3.4:5:6", "_hidden"] { #expect(PeoplePage.address(text) == nil, "\(text)") }
  }

  @Test func `the administrators' port accepts only this computer's own host names`() async throws {
    let server = try await TestServer()
    let admin = AdminPage(host: server.host, listener: server.listener)
    for (host, status) in [
      ("evil.example", 421), ("evil.example:4681", 421), ("127.0.0.1.evil.example", 421), ("localhost:4681", 200),
      ("127.0.0.1:4681", 200), ("[::1]:4681", 200),
    ] {
      let request = HTTPRequest(
        method: .GET, path: ["healthz"], query: "", headers: ["host": host], peer: nil)
      #expect(try await admin.answer(request).status.code == status, "\(host)")
    }
    try await server.stop()
  }

  @Test func `a failed reload is remembered until one succeeds, and so is the certificate's expiry`() throws {
    let folder = TemporaryFolder()
    let tls = try ServerTLS.selfSigned(in: folder.path, names: ["localhost"])
    let key = URL(filePath: folder.path + "/self-signed.key")
    let kept = try Data(contentsOf: key)
    try Data("none".utf8).write(to: key)
    tls.reload(Logger(from: nil))
    #expect(tls.isRefused)
    try kept.write(to: key)
    tls.reload(Logger(from: nil))
    #expect(!tls.isRefused)
    let days = (Double(tls.expires) - Date().timeIntervalSince1970) / 86_400
    #expect(days > 3640 && days < 3660, "ten years")
  }

  @Test func `the folder of the page may be a symbolic link`() throws {
    let folder = TemporaryFolder()
    let (real, link) = (folder.path + "/real", folder.path + "/link")
    try FileManager.default.createDirectory(atPath: real, withIntermediateDirectories: true)
    try "page".write(toFile: real + "/index.html", atomically: true, encoding: .utf8)
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: real)
    #expect(try Site(folder: link).isThere)
  }

}
