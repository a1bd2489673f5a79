import Base
import Foundation
import MatchProtocol
import TestSupport
import Testing
import TicTacToe

@testable import Lobby
@testable import MatchStore

@Suite struct ProtocolDocumentTests {
  private static let file = repository.appending(path: "docs/protocol.md")

  private func block(_ name: String) throws -> [String] {
    let text = try String(contentsOf: Self.file, encoding: .utf8)
    let start = try #require(text.range(of: "```\(name)\n"))
    let end = try #require(text.range(of: "\n```", range: start.upperBound..<text.endIndex))
    return text[start.upperBound..<end.lowerBound].split(separator: "\n").map(String.init)
  }

  @Test func `the hash examples in docs are those of this build`() throws {
    let lines = try block("hash-vectors").map { $0.split(separator: " ", maxSplits: 1).map(String.init) }
    let m = try #require(MatchID(rawValue: lines[0][1]))
    var hash = LogHash(start: m)
    var hashes = [hash.digest.hex]
    for line in lines where line[0] == "body" {
      hash = hash.adding(Array(line[1].utf8))
      hashes.append(hash.digest.hex)
    }
    #expect(hashes == lines.filter { $0[0].hasPrefix("h") }.map { $0[1] })
    #expect(hashes.count == 4)
  }

  @Test(.serialized, arguments: ["transcript", "tournament"])
  func `the transcripts in docs are the server's output`(name block: String) throws {
    var world = try SteppedLobby()
    var transcript: [String] = []
    var connections: [String: Int] = ["A": world.connect(), "B": world.connect()]
    func name(_ connection: Int) -> String { connection == 0 ? "A" : "B" }
    func flush() {
      transcript += world.said.map { "\(name($0.connection))< \($0.line)" }
      world.said = []
    }
    flush()
    var (m, code, secret) = ("", "", "")
    let typed = try self.block(block).filter { $0.dropFirst().hasPrefix("> ") }
    #expect(typed.count > 12)
    for line in typed {
      world.now += 1000
      let who = String(line.prefix(1))
      let text = String(line.dropFirst(3)).replacingOccurrences(of: "@M", with: m)
        .replacingOccurrences(of: "@CODE", with: code).replacingOccurrences(of: "@SECRET", with: secret)
      let connection = try #require(connections[who])
      transcript.append("\(name(connection))> \(text)")
      world.type(connection, text)
      code = world.field("code", of: 0, in: "tournament") ?? code
      secret = world.field("secret", of: 0, in: "tournament") ?? secret
      for said in world.said where said.line.contains(#""t":"paired""#) && m.isEmpty {
        let fields = try JSONObject(line: Array(said.line.utf8), with: "t")
        m = try #require(fields["m"]?.string)
        let side = try #require(fields["side"]?.string?.uppercased())
        connections[side] = said.connection
        connections[side == "X" ? "O" : "X"] = 1 - said.connection
      }
      flush()
    }
    if ProcessInfo.processInfo.environment["UPDATE_GOLDENS"] == "1" {
      var text = try String(contentsOf: Self.file, encoding: .utf8)
      let start = try #require(text.range(of: "```\(block)\n"))
      let end = try #require(text.range(of: "\n```", range: start.upperBound..<text.endIndex))
      text.replaceSubrange(start.upperBound..<end.lowerBound, with: transcript.joined(separator: "\n"))
      try text.write(to: Self.file, atomically: true, encoding: .utf8)
    }
    let written = try self.block(block)
    #expect(written == transcript, "UPDATE_GOLDENS=1 writes the new one")
  }
}
