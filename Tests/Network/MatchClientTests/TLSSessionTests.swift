import Foundation
import MatchProtocol
import TLS
import TestSupport
import Testing

@testable import MatchClient

@Suite struct TLSSessionTests {
  private let folder = TemporaryFolder()
  private let authority = Certificate("Authority")
  private let context: TLSContext

  init() throws {
    authority.write(to: folder.path + "/authority.pem")
    context = try TLSContext(authorities: folder.path + "/authority.pem")
  }

  private func known(_ host: String) -> ClientFolder { ClientFolder(folder.path, host: host, port: 1) }
  private var written: String { (try? String(contentsOfFile: folder.path + "/known_servers", encoding: .utf8)) ?? "" }

  /// In both directions the bytes arrive in pieces of `pieces` bytes.
  @discardableResult private func meet(_ host: String, _ certificate: Certificate, pieces: Int = .max) throws -> String?
  {
    let session = try TLSSession(host: host, known: known(host), context: .success(context))
    let peer = TLSPeer(certificate)
    let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 8)
    defer { scratch.deallocate() }
    var (toClient, toServer, said, isUp) = ([UInt8](), [UInt8](), "", false)
    repeat {
      let piece = Array(toClient.prefix(pieces))
      toClient.removeFirst(piece.count)
      _ = try piece.withUnsafeBytes { raw throws(ClientFailure) in
        try session.receive(raw, into: scratch, established: { isUp = true }) { bytes in
          #expect(isUp)
          said += String(decoding: bytes, as: UTF8.self)
          return true
        }
      }
      session.takeLeaving(&toServer)
      while !toServer.isEmpty {
        let piece = Array(toServer.prefix(pieces))
        toServer.removeFirst(piece.count)
        toClient += peer.answer(piece, saying: "welcome\n")
      }
    } while !toClient.isEmpty
    #expect(said == "welcome\n")
    #expect(session.send(Array("hello\n".utf8)))
    session.takeLeaving(&toServer)
    toClient = peer.answer(toServer, saying: "")
    #expect(peer.heard() == "hello\n")
    return peer.askedFor
  }

  private func verifies(_ host: String, _ certificate: Certificate) throws -> Bool {
    try meet(host, certificate)
    defer { try? FileManager.default.removeItem(atPath: folder.path + "/known_servers") }
    let remembered = try #require(written.split(separator: " ").last)
    #expect(remembered == "verified\n" || remembered.count == 65)
    return remembered == "verified\n"
  }

  @Test(arguments: [
    ("match.example.org", "DNS:match.example.org", true), ("MATCH.example.org.", "DNS:match.example.org", true),
    ("match.example.org", "DNS:other.example.org", false),
    ("match.example.org", "DNS:a.org,DNS:match.example.org", true),
    ("match.example.org", "DNS:*.example.org", true), ("example.org", "DNS:*.example.org", false),
    ("a.match.example.org", "DNS:*.example.org", false), ("match.example.org", "DNS:m*.example.org", false),
    ("match.example.org", "IP:127.0.0.1", false), ("127.0.0.1", "IP:127.0.0.1", true),
    ("127.0.0.1", "DNS:127.0.0.1", false), ("127.0.0.1", "IP:127.0.0.2", false), ("127.0.0.1", "DNS:localhost", false),
    ("::1", "IP:0:0:0:0:0:0:0:1", true), ("::1", "IP:127.0.0.1", false),
  ]) func `an authority vouches for the names and addresses in a certificate and for no others`(
    host: String, names: String, isVerified: Bool
  ) throws {
    #expect(try verifies(host, Certificate("any", names: names, issuer: authority)) == isVerified)
  }

  @Test func `a certificate is refused without alternative names, out of date, or from an unknown signer`() throws {
    let (host, names) = ("match.example.org", "DNS:match.example.org")
    #expect(try verifies(host, Certificate("any", names: names, issuer: authority)))
    #expect(try !verifies(host, Certificate(host, issuer: authority)))
    #expect(try !verifies(host, Certificate("any", names: names, until: -60, issuer: authority)))
    #expect(try !verifies(host, Certificate("any", names: names, from: 60, issuer: authority)))
    #expect(try !verifies(host, Certificate("any", names: names, issuer: Certificate("Authority"))))
    #expect(try !verifies(host, Certificate("any", names: names)))
  }

  @Test func `a server verified once must stay verified, and is never pinned afterwards`() throws {
    let (host, names) = ("match.example.org", "DNS:match.example.org")
    try meet(host, Certificate("any", names: names, issuer: authority))
    let before = written
    #expect(before == "\(host):1 verified\n")
    for wrong in [
      Certificate("any", names: names), Certificate("any", names: "DNS:other.org", issuer: authority),
      Certificate("any", names: names, until: -60, issuer: authority),
    ] {
      #expect(throws: ClientFailure.tls(.untrusted)) { try meet(host, wrong) }
    }
    try meet(host, Certificate("any", names: names, issuer: authority))
    #expect(written == before)
  }

  @Test func `a pinned server must keep its certificate: even one signed by an authority may not replace it`() throws {
    let (host, names) = ("match.example.org", "DNS:match.example.org")
    let first = Certificate("any", names: "DNS:elsewhere.org", until: -60)
    try meet(host, first)
    let pin = try #require(known(host).pin)
    let before = written
    try meet(host, first)
    let failure = #expect(throws: ClientFailure.self) {
      try meet(host, Certificate("any", names: names, issuer: authority))
    }
    guard case .fingerprintChanged(pin, let found)? = failure else { return #expect(Bool(false), "\(failure as Any)") }
    #expect(found.count == 64 && found != pin && written == before)
  }

  @Test func `the server name is sent for host names, not for addresses`() throws {
    let certificate = Certificate("any", names: "DNS:a.org")
    #expect(try meet("match.example.org.", certificate) == "match.example.org")
    #expect(try meet("127.0.0.1", certificate) == nil)
    #expect(try meet("fe80::1%eth0", certificate) == nil)
  }

  @Test func `TLS records may arrive byte by byte`() throws {
    try meet("match.example.org", Certificate("any", names: "DNS:match.example.org", issuer: authority), pieces: 1)
    #expect(written == "match.example.org:1 verified\n")
  }

  @Test func `a peer that does not speak TLS is recognised`() throws {
    let session = try TLSSession(host: "localhost", known: nil, context: .success(context))
    let greeting = Array("{\"t\":\"greeting\"}\n".utf8)
    let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 64, alignment: 8)
    defer { scratch.deallocate() }
    #expect(throws: ClientFailure.tls(.absent)) {
      _ = try greeting.withUnsafeBytes { raw throws(ClientFailure) in
        try session.receive(raw, into: scratch, established: {}) { _ in true }
      }
    }
    #expect(throws: TLSFailure.self) { try TLSContext(authorities: folder.path + "/none.pem") }
  }
}
