import Base
import Foundation
import MatchProtocol
import Testing
import TicTacToe

@testable import MatchServer

/// A lobby stepped by hand: lines in, lines out, a clock that moves a second a line, commits that are instant.
struct SteppedLobby {
  var lobby: Lobby
  var sessions: [ServerSession] = []
  var said: [(connection: Int, line: String)] = []
  var closed: [Int: ByeCode] = [:]
  var now: Int64 = 1_000_000
  /// What the wall clock is ahead of the steady one.
  var wallAhead: Int64 = 1_699_999_000_000
  /// What pages were told of.
  var published: [MatchID] = []
  /// How often it was woken.
  var ticks = 0
  let store: MemoryStore

  init(_ configuration: LobbyConfiguration = .init(), store: MemoryStore = MemoryStore(), seed: UInt64 = 1) throws {
    self.store = store
    lobby = Lobby(
      configuration, recovery: try store.recover(), random: .seeded(SplitMix64(seed: seed)),
      now: Moment(steady: 1_000_000, wall: 1_700_000_000_000))
    step(.tick)
  }

  mutating func step(_ input: LobbyInput) {
    var inputs = [input]
    while !inputs.isEmpty {
      let effects = lobby.reduce(inputs.removeFirst(), now: Moment(steady: now, wall: wallAhead + now))
      for effect in effects {
        switch effect {
        case .send(let id, let line, _): said.append((Int(id), String(decoding: line.dropLast(), as: UTF8.self)))
        case .close(let id, let code, let text, let retry, let node):
          closed[Int(id)] = code
          let line = ServerMessage.bye(code, text, retry: retry, node: node).bytes()
          said.append((Int(id), String(decoding: line.dropLast(), as: UTF8.self)))
        case .commit(let transaction):
          try? store.commit([transaction])
          inputs.append(.durable(transaction.number))
        case .load(let m): inputs.append(.loaded(m, try? store.match(m)))
        case .history(let id, let re, let account, let before):
          let found = (try? store.history(of: account, before: before, limit: 20)) ?? []
          inputs.append(.history(id, re: re, found, more: nil))
        case .publish(let m): published.append(m)
        case .note, .cluster: break
        }
      }
    }
  }

  /// Connects; returns the connection's number.
  mutating func connect() -> Int {
    sessions.append(ServerSession(.init(), now: now))
    step(.connected(UInt64(sessions.count - 1), address: nil))
    return sessions.count - 1
  }

  /// Types a line.
  mutating func type(_ connection: Int, _ text: String) {
    var delivered: [LobbyInput] = []
    var direct: [String] = []
    Array((text + "\n").utf8).withUnsafeBytes { raw in
      sessions[connection].receive(raw, now: now) { action in
        switch action {
        case .deliver(let line, let at): delivered.append(.line(UInt64(connection), line, at: at, roundTrip: 0))
        case .send(let line): direct.append(String(decoding: line.dropLast(), as: UTF8.self))
        case .close(let code, let text, let re):
          direct.append(
            String(decoding: ServerMessage.bye(code, text, retry: nil).bytes(re: re).dropLast(), as: UTF8.self))
          delivered.append(.disconnected(UInt64(connection), clean: code == .bye))
        }
      }
    }
    for line in direct { said.append((connection, line)) }
    for input in delivered { step(input) }
  }

  /// Lets time pass.
  mutating func wait(_ milliseconds: Int64) {
    let end = now + milliseconds
    while let due = lobby.nextDue, due <= end {
      now = max(now, due)
      ticks += 1
      step(.tick)
    }
    now = end
    step(.tick)
  }

  /// What was said to a connection since the last call.
  mutating func heard(_ connection: Int) -> [String] {
    defer { said.removeAll { $0.connection == connection } }
    return said.filter { $0.connection == connection }.map(\.line)
  }
}

@Suite struct ProtocolDocumentTests {
  private static let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "docs/protocol.md")

  private func block(_ name: String) throws -> [String] {
    let text = try String(contentsOf: Self.file, encoding: .utf8)
    let start = try #require(text.range(of: "```\(name)\n"))
    let end = try #require(text.range(of: "\n```", range: start.upperBound..<text.endIndex))
    return text[start.upperBound..<end.lowerBound].split(separator: "\n").map(String.init)
  }

  @Test func `the hash vectors of the page are those of this build`() throws {
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

  @Test func `the transcript of the page is what the server says`() throws {
    var world = try SteppedLobby()
    var transcript: [String] = []
    var connections: [String: Int] = ["A": world.connect(), "B": world.connect()]
    func name(_ connection: Int) -> String { connection == 0 ? "A" : "B" }
    func flush() {
      transcript += world.said.map { "\(name($0.connection))< \($0.line)" }
      world.said = []
    }
    flush()
    var m = ""
    let typed = try block("transcript").filter { $0.dropFirst().hasPrefix("> ") }
    #expect(typed.count > 15)
    for line in typed {
      world.now += 1000
      let who = String(line.prefix(1))
      let text = String(line.dropFirst(3)).replacingOccurrences(of: "@M", with: m)
      let connection = try #require(connections[who])
      transcript.append("\(name(connection))> \(text)")
      world.type(connection, text)
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
      let start = try #require(text.range(of: "```transcript\n"))
      let end = try #require(text.range(of: "\n```", range: start.upperBound..<text.endIndex))
      text.replaceSubrange(start.upperBound..<end.lowerBound, with: transcript.joined(separator: "\n"))
      try text.write(to: Self.file, atomically: true, encoding: .utf8)
    }
    let written = try block("transcript")
    #expect(written == transcript, "UPDATE_GOLDENS=1 writes the new one")
  }
}
