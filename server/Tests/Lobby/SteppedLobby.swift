import Base
import MatchProtocol
import ServerTestSupport
import Testing
import TicTacToe

@testable import Lobby
@testable import MatchStore

/// A lobby driven by hand: the test sends lines, reads lines and moves the clock. The store answers at once unless told to wait.
struct SteppedLobby {
  enum Store {
    case well
    /// The disk is full: every change fails.
    case full
    /// Every unit fails, but questions that change the store succeed.
    case refusing
    /// Units are stored, but the lobby gets the verdict `unknown`.
    case mute
    /// Units are not stored, and the lobby gets the verdict `unknown`.
    case deaf
  }

  var lobby: Lobby
  var sessions: [ServerSession] = []
  var said: [(connection: Int, line: String)] = []
  var closed: [Int: ByeCode] = [:]
  var now: Int64 = 1_000_000
  /// How many milliseconds the wall clock is ahead of the monotonic clock.
  var wallAhead: Int64 = 1_699_999_000_000 { didSet { setClock() } }
  /// `nil` if the store failed.
  var orderCompleted: [UInt64: Bool?] = [:]
  var told: [(node: NodeID, text: String)] = []
  /// How often the lobby was woken up.
  var ticks = 0
  var mood = Store.well
  /// Whether verdicts and answers are delayed.
  var isSlow = false
  /// Whether verdicts alone are delayed.
  var isSlowToJudge = false
  var late: [LobbyInput] = []
  /// Whether the store answers no questions.
  var isSilent = false
  /// Whether the store carries out the given question but loses the answer.
  var loses: ((StoreQuestion) -> Bool)?
  /// Called before the next unit is applied, to change the store as a faster node would.
  var before: ((MemoryStore, StoreUnit) -> Void)?
  var units: [(unit: StoreUnit, verdict: Verdict)] = []
  let store: MemoryStore
  let clock: TestClock

  init(_ configuration: LobbyConfiguration = .init(), seed: UInt64 = 1) throws {
    let clock = TestClock()
    try self.init(
      configuration, store: MemoryStore { clock.wall }, clock: clock, node: "node\(seed)", seed: seed)
  }

  /// Uses the store of an earlier lobby, like the next process of the server.
  init(after other: SteppedLobby, _ configuration: LobbyConfiguration = .init(), seed: UInt64) throws {
    try self.init(
      configuration, store: other.store, clock: other.clock, node: "node\(seed)", seed: seed, wall: other.clock.wall)
  }

  init(
    _ configuration: LobbyConfiguration, store: MemoryStore, clock: TestClock, node: NodeID, seed: UInt64,
    wall: Int64 = 1_700_000_000_000
  ) throws {
    (self.store, self.clock) = (store, clock)
    wallAhead = wall - now
    lobby = Lobby(
      configuration, node: node, random: Entropy(seed: seed), now: Moment(monotonic: now, wall: wall))
    setClock()
    step(.tick)
    try #require(lobby.isReady, "a lobby is ready when its store has answered")
  }

  private func setClock() { clock.wall = wallAhead + now }

  mutating func step(_ input: LobbyInput) {
    setClock()
    var inputs = [input]
    while !inputs.isEmpty {
      let effects = lobby.reduce(inputs.removeFirst(), now: Moment(monotonic: now, wall: wallAhead + now))
      for effect in effects {
        switch effect {
        case .send(let id, let line, _): said.append((Int(id), String(decoding: line.dropLast(), as: UTF8.self)))
        case .close(let id, let code, let text, let retry):
          closed[Int(id)] = code
          let line = ServerMessage.bye(code, text, retry: retry).bytes()
          said.append((Int(id), String(decoding: line.dropLast(), as: UTF8.self)))
        case .store(let number, let unit): hear(.verdict(number, judge(unit)), &inputs)
        case .ask(let number, let question): hear(.answer(number, answer(question)), &inputs)
        case .publish(let nodes, let text): told += nodes.map { ($0, text) }
        case .orderCompleted(let number, let done): orderCompleted[number] = .some(done)
        case .note: break
        }
      }
      for wrong in lobby.checkInvariants() { Issue.record("\(wrong)") }
    }
  }

  private mutating func judge(_ unit: StoreUnit) -> Verdict {
    if let before {
      self.before = nil
      before(store, unit)
    }
    let verdict: Verdict
    switch mood {
    case .well: verdict = store.apply([unit])[0]
    case .full, .refusing: verdict = .failed("no room")
    case .mute:
      _ = store.apply([unit])
      verdict = .unknown("the answer was lost")
    case .deaf: verdict = .unknown("the answer was lost")
    }
    units.append((unit, verdict))
    return verdict
  }

  private func answer(_ question: StoreQuestion) -> StoreAnswer? {
    guard !isSilent, mood != .full || !question.changes else { return nil }
    let answer = try? store.answer(question).summarized
    return loses?(question) == true ? nil : answer
  }

  private mutating func hear(_ input: LobbyInput, _ inputs: inout [LobbyInput]) {
    let isVerdict = if case .verdict = input { true } else { false }
    if isSlow || isSlowToJudge && isVerdict { late.append(input) } else { inputs.append(input) }
  }

  /// Afterwards the store answers at once, unless `staysSlow`.
  mutating func hearLate(staysSlow: Bool = false) {
    if !staysSlow { (isSlow, isSlowToJudge) = (false, false) }
    let inputs = late
    late = []
    for input in inputs { step(input) }
  }

  mutating func connect(from address: String? = nil) -> Int {
    sessions.append(ServerSession(.init(), now: now))
    step(.connected(UInt64(sessions.count - 1), address: address))
    return sessions.count - 1
  }

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

  mutating func wait(_ milliseconds: Int64) {
    let end = now + milliseconds
    while let due = lobby.nextDue, due <= end { wake(at: due) }
    now = end
    step(.tick)
  }

  mutating func wake(at time: Int64) {
    now = max(now, time)
    ticks += 1
    step(.tick)
  }

  /// The lines sent to a connection since the last call.
  mutating func heard(_ connection: Int) -> [String] {
    defer { said.removeAll { $0.connection == connection } }
    return said.filter { $0.connection == connection }.map(\.line)
  }
}

extension SteppedLobby {
  mutating func login(_ name: String, caps: String = "[]", resume: String? = nil, token: String? = nil) -> Int {
    let id = connect()
    let secret = resume.map { #","resume":"\#($0)""# } ?? token.map { #","token":"\#($0)""# } ?? #","guest":"\#(name)""#
    type(id, #"{"t":"hello","v":[1],"client":"t","caps":\#(caps)\#(secret)}"#)
    return id
  }

  mutating func named(_ name: String, caps: String = "[]") -> Int {
    let id = login(name, caps: caps)
    type(id, #"{"t":"register","name":"\#(name)"}"#)
    return id
  }

  mutating func reconnect(_ id: Int, after milliseconds: Int64) throws -> Int {
    let resume = try #require(field("resume", of: id, in: "welcome"))
    drop(id)
    wait(milliseconds)
    return login("", resume: resume)
  }

  mutating func drop(_ id: Int) { step(.disconnected(UInt64(id), clean: false)) }

  /// The value of the field `name` in the last line to a connection (of the type `type`, if given) that has it.
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

  func stored(_ m: String) throws -> MatchState {
    let id = try #require(MatchID(rawValue: m))
    return try #require(try store.match(id)).folded()
  }
}

/// Several lobbies driven by hand on one store. Their notifications arrive at once, or never if `losesNotifications` is set.
struct SteppedNodes {
  var nodes: [SteppedLobby] = []
  var losesNotifications = false

  init(_ count: Int = 2, _ configuration: LobbyConfiguration = .init()) throws {
    let clock = TestClock()
    let store = MemoryStore(shared: true) { clock.wall }
    for i in 0..<count {
      nodes.append(
        try SteppedLobby(configuration, store: store, clock: clock, node: "node\(i)", seed: UInt64(i + 1)))
    }
    // Waits until every node knows the others.
    wait(configuration.heartbeatInterval)
  }

  /// Setting a node delivers its notifications.
  subscript(i: Int) -> SteppedLobby {
    get { nodes[i] }
    set {
      nodes[i] = newValue
      pass()
    }
  }

  private mutating func pass() {
    while let from = nodes.firstIndex(where: { !$0.told.isEmpty }) {
      let notifications = nodes[from].told
      nodes[from].told = []
      for (name, text) in notifications where !losesNotifications {
        for i in nodes.indices where nodes[i].lobby.node == name { nodes[i].step(.notification(text)) }
      }
    }
  }

  mutating func wait(_ milliseconds: Int64, without stopped: Int? = nil) {
    let running = nodes.indices.filter { $0 != stopped }
    let end = (nodes.map(\.now).max() ?? 0) + milliseconds
    while let first = running.min(by: { due($0) < due($1) }), due(first) <= end {
      let time = due(first)
      for i in running where nodes[i].now < time { nodes[i].now = time }
      nodes[first].wake(at: time)
      pass()
    }
    for i in running {
      nodes[i].wake(at: end)
      pass()
    }
  }

  /// Shuts a node down properly, as for an update.
  mutating func leave(_ i: Int) throws {
    self[i].step(.drain(retry: 100))
    self[i].step(.leave)
    _ = try nodes[i].store.answer(.leave(nodes[i].lobby.node))
  }

  private func due(_ i: Int) -> Int64 { nodes[i].lobby.nextDue ?? .max }

  mutating func pair(
    _ terms: String = #""clock":"60+2","rated":false"#, named: Bool = false
  ) -> (x: (node: Int, id: Int), o: (node: Int, id: Int), m: String) {
    pair(
      named ? self[0].named("Ann") : self[0].login("Ann"), named ? self[1].named("Bob") : self[1].login("Bob"), terms)
  }

  mutating func pair(
    _ a: Int, _ b: Int, _ terms: String
  ) -> (x: (node: Int, id: Int), o: (node: Int, id: Int), m: String) {
    self[0].type(a, #"{"t":"seek",\#(terms),"key":"a"}"#)
    self[1].type(b, #"{"t":"seek",\#(terms),"key":"b"}"#)
    wait(3000)
    let m = self[0].field("m", of: a, in: "paired") ?? ""
    let (one, other) = ((node: 0, id: a), (node: 1, id: b))
    return self[0].field("side", of: a, in: "paired") == "x" ? (x: one, o: other, m: m) : (x: other, o: one, m: m)
  }
}

extension Lobby {
  func account(of id: ConnectionID) -> AccountRecord? {
    people.session(of: id).flatMap { people.accounts[$0.account] }
  }
}
