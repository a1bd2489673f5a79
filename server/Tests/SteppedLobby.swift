import Base
import MatchProtocol
import Testing
import TicTacToe

@testable import Lobby
@testable import MatchStore

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

extension SteppedLobby {
  /// Connects and says hello with a name as a program does.
  mutating func login(_ name: String, caps: String = "[]", resume: String? = nil, token: String? = nil) -> Int {
    let id = connect()
    let secret = resume.map { #","resume":"\#($0)""# } ?? token.map { #","token":"\#($0)""# } ?? #","guest":"\#(name)""#
    type(id, #"{"t":"hello","v":[1],"client":"t","caps":\#(caps)\#(secret)}"#)
    return id
  }

  mutating func drop(_ id: Int) { step(.disconnected(UInt64(id), clean: false)) }

  /// The field of the last line to a connection that has it.
  func field(_ name: String, of connection: Int, in type: String? = nil) -> String? {
    for (id, line) in said.reversed() where id == connection {
      guard let fields = try? JSONObject(line: Array(line.utf8), with: "t") else { continue }
      if let type, fields["t"]?.string != type { continue }
      if let value = fields[name]?.string { return value }
    }
    return nil
  }

  func heardAny(_ connection: Int, _ text: String) -> Bool {
    said.contains { $0.connection == connection && $0.line.contains(text) }
  }

  /// Two people in a live match; returns X's connection, O's, and the match.
  mutating func pair(_ terms: String = #""clock":"60+2","rated":false"#) -> (x: Int, o: Int, m: String) {
    let a = login("Ann"), b = login("Bob")
    type(a, #"{"t":"seek",\#(terms),"key":"a"}"#)
    type(b, #"{"t":"seek",\#(terms),"key":"b"}"#)
    let m = field("m", of: a, in: "paired") ?? ""
    return field("side", of: a, in: "paired") == "x" ? (a, b, m) : (b, a, m)
  }

  mutating func move(_ id: Int, _ m: String, _ ply: Int, _ cell: String) {
    type(id, #"{"t":"move","id":"r","m":"\#(m)","ply":\#(ply),"cell":"\#(cell)","mid":"p\#(ply)"}"#)
  }

  func state(_ m: String) throws -> MatchState {
    let id = try #require(MatchID(rawValue: m))
    return try #require(lobby.matches[id]?.state)
  }
}
