import ClientModel
import MatchProtocol
import TicTacToe

/// Runs a `ClientModel` over connections on the loop's thread: connects, encrypts, and connects again after a loss.
final class ClientRunner: @unchecked Sendable {  // all state is confined to `loop`
  /// The longest pause in milliseconds with several nodes: short, because the next node can probably be reached.
  private static let longestPauseOfMany = 600
  /// With several nodes: milliseconds of silence after which the client pings the node, and after which it tries the next.
  private static let (askNode, leaveNode): (Int64, Int64) = (1000, 2500)
  /// With several nodes: milliseconds for the TLS handshake, and again for the first line. A connection alone does not show that the node
  /// runs, as the kernel accepts connections for a stopped process, too.
  private static let greetNode: Int64 = 1500

  private let configuration: MatchClient.Configuration
  private let loop = PollLoop.shared
  private let folder: ClientFolder?
  /// The nodes of the configuration come first; `current` is the node in use.
  private var nodes: [ServerAddress.Node]
  private var current = 0
  /// Until when a node has asked the client to stay away, by `PollLoop.now`.
  private var awayUntil: [ServerAddress.Node: Int64] = [:]
  /// For each node after the first, the fingerprint of its certificate: each node has its own.
  private var pins: [ServerAddress.Node: ClientFolder] = [:]
  private var model: ClientModel
  private var connection: SocketConnection?
  private var isUp = false
  private var framer = LineFramer(limit: Limits.lineOut)
  private var wanted = false
  private var tries = 0
  private var retry: PollLoop.Timer?
  private var heartbeat: PollLoop.Timer?
  /// When the connection was established or last brought bytes, by `PollLoop.now`. `hasHeard`: whether it has brought a line.
  private var heard: Int64 = 0
  private var hasHeard = false
  private var lastProblem: ConnectionProblem?
  /// Receives new events and all matches that the client knows. Set once, before any other function is called.
  var deliver: (@Sendable ([MatchClient.Event], [MatchID: MatchView]) -> Void)?

  init(_ configuration: MatchClient.Configuration) {
    self.configuration = configuration
    nodes = [configuration.server.first]
    for other in configuration.server.others where !nodes.contains(other) { nodes.append(other) }
    var identity = configuration.identity
    // Send tokens over protected connections only. Keep a token that was received over an unprotected connection in a separate file.
    let first = configuration.server.first
    let mayUseToken = configuration.protects(first)
    folder = configuration.folder.map {
      ClientFolder($0, host: first.host, port: first.port, isExposed: !mayUseToken)
    }
    if !mayUseToken { (identity.token, identity.newToken) = (nil, nil) }
    if let saved = folder?.credentials, identity.token == nil || identity.token == saved.token {
      if mayUseToken { (identity.token, identity.account) = (saved.token, saved.account) }
      identity.resume = identity.resume ?? saved.resume
      identity.guest = identity.guest ?? saved.guest
    }
    model = ClientModel(identity)
  }

  // MARK: commands, from any thread

  func open() {
    loop.execute {
      self.wanted = true
      self.tries = 0
      self.retry?.cancel()
      if self.connection == nil { self.dial() }
    }
  }

  func close() {
    // At once: the program may make its next client before the loop's thread has closed this one.
    folder?.release()
    loop.execute {
      self.wanted = false
      self.retry?.cancel()
      self.heartbeat?.cancel()
      if self.isUp { self.connection?.finish(ClientLine(.bye).bytes) } else { self.connection?.close() }
      (self.connection, self.isUp) = (nil, false)
      self.model.disconnected()
      self.report(.closed)
    }
  }

  func drop() { loop.execute { if self.isUp { self.hangUp() } } }
  func ask(_ message: ClientMessage) { loop.execute { self.carryOut(self.model.ask(message)) } }

  func perform(_ command: ClientModel.Command) {
    loop.execute {
      self.carryOut(self.model.perform(command))
    }
  }

  // MARK: connecting

  private var node: ServerAddress.Node { nodes[current] }
  private var hasSeveral: Bool { nodes.count > 1 }

  /// The stored fingerprint of the current node's certificate.
  private var known: ClientFolder? {
    guard current > 0, let path = configuration.folder else { return folder }
    if let known = pins[node] { return known }
    let fresh = ClientFolder(path, host: node.host, port: node.port, hasSession: false)
    pins[node] = fresh
    return fresh
  }

  private func dial() {
    report(.connecting)
    var tls: TLSSession?
    if configuration.usesTLS(to: node) {
      do throws(ClientFailure) {
        tls = try TLSSession(host: node.host, known: known)
      } catch { return failed(error) }
    }
    let connection = SocketConnection(loop, tls: tls) { event in
      switch event {
      case .up: self.cameUp()
      case .bytes(let bytes): self.received(bytes)
      case .down(let ending): self.cameDown(ending)
      }
    }
    self.connection = connection
    let timeout: Int64 = hasSeveral ? 1000 : 5000
    connection.connect(to: node, within: timeout, handshake: hasSeveral ? ClientRunner.greetNode : timeout)
  }

  private func cameUp() {
    isUp = true
    framer = LineFramer(limit: Limits.lineOut)
    heard = PollLoop.now
    hasHeard = false
    carryOut(model.connected())
    startBeating()
  }

  private func startBeating() {
    heartbeat?.cancel()
    heartbeat = loop.after(hasSeveral ? 250 : 1000) { self.sendHeartbeat() }
  }

  /// Pings a silent server after `Limits.heartbeat` ms, and gives it up after `Limits.serverSilence` ms; sooner with several nodes.
  private func sendHeartbeat() {
    let silence = PollLoop.now - heard
    let longest = hasHeard ? ClientRunner.leaveNode : ClientRunner.greetNode
    if silence > (hasSeveral ? longest : Int64(Limits.serverSilence)) {
      lastProblem = .silent
      return hangUp()
    }
    if silence > (hasSeveral ? ClientRunner.askNode : Int64(Limits.heartbeat)) {
      send([ClientLine(.ping(PollLoop.now)).bytes])
    }
    startBeating()
  }

  private func received(_ bytes: UnsafeRawBufferPointer) {
    var framer = framer
    framer.feed(bytes) { piece in
      heard = PollLoop.now
      guard case .line(let line) = piece else { return true }
      hasHeard = true
      carryOut(model.receive(line, now: PollLoop.now))
      return isUp
    }
    self.framer = framer
  }

  /// Closes the connection and reconnects after a pause, as after a loss.
  private func hangUp() {
    connection?.close()
    cameDown(.lost)
  }

  private func cameDown(_ ending: SocketConnection.Ending) {
    let wasUp = isUp
    (connection, isUp) = (nil, false)
    heartbeat?.cancel()
    model.disconnected()
    if wasUp, let failure = model.failure { return failed(failure) }
    if wasUp, let asked = model.retry {
      awayUntil[node] = PollLoop.now + Int64(min(asked, ClientModel.longestWait))
    }
    switch ending {
    case .failed(let failure): return failed(failure)
    case .unreachable: lastProblem = .unreachable(node.description)
    case .lost:
      let isWordless = wasUp && !hasHeard && !configuration.usesTLS(to: node)
      lastProblem = lastProblem ?? (isWordless ? .wordless : .lost)
    }
    scheduleRetry()
  }

  private func failed(_ failure: ClientFailure) {
    wanted = false
    report(.failed(failure))
  }

  /// Tries the next node after a pause, which grows each time that all nodes were tried. Passes over a node that has asked the client to
  /// stay away. If all nodes have asked, waits for the one that can be tried first.
  private func scheduleRetry() {
    let now = PollLoop.now
    let waits = nodes.map { max(0, Int((awayUntil[$0] ?? now) - now)) }
    let inTurn = (1...nodes.count).map { (current + $0) % nodes.count }
    current = inTurn.min { waits[$0] < waits[$1] } ?? current
    let (round, asked) = (tries / nodes.count, waits[current])
    let wait =
      hasSeveral && asked == 0
      ? ClientModel.pause(after: round, from: 100, to: ClientRunner.longestPauseOfMany, asked: 0)
      : ClientModel.pause(after: round, asked: asked)
    tries += 1
    report(.waiting(milliseconds: wait, reason: lastProblem ?? .lost))
    lastProblem = nil
    retry = loop.after(Int64(wait)) { if self.wanted, self.connection == nil { self.dial() } }
  }

  // MARK: output

  private func carryOut(_ output: ClientModel.Output) {
    send(output.lines)
    for case (.status(.online), _) in output.events { tries = 0 }
    learn(output.nodes)
    var isSaved = true
    if output.credentialsChanged, let folder {
      let identity = model.identity
      isSaved = folder.save(
        .init(token: identity.token, account: identity.account, guest: identity.guest, resume: identity.resume))
    }
    deliver?(output.events + (isSaved ? [] : [(.loginNotSaved, nil)]), model.matches)
    if output.close, isUp {
      if model.failure == nil, let retry = model.retry { lastProblem = .asked(milliseconds: retry) }
      hangUp()
    }
  }

  /// Adds the nodes that a server names, up to 16 in all, without those whose connection is less protected than the configured server's.
  private func learn(_ addresses: [String]) {
    let hadSeveral = hasSeveral
    for node in addresses.compactMap({ ServerAddress.Node($0) }) where nodes.count < 16 {
      if !nodes.contains(node), configuration.mayKnow(node) { nodes.append(node) }
    }
    if hasSeveral, !hadSeveral { startBeating() }
  }

  private func send(_ lines: [[UInt8]]) {
    if isUp, !lines.isEmpty { connection?.send(Array(lines.joined())) }
  }

  private func report(_ status: ConnectionStatus) { deliver?([(.status(status), nil)], model.matches) }
}
