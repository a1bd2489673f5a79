import Foundation
import MatchClient
import MatchProtocol
import NIOCore
import NIOPosix
import TLS
import TLSChannel
import TestSupport
import Testing
import TicTacToe

@testable import Lobby
@testable import MatchStore
@testable import ServerTransport

/// Three nodes in this process, with real links between them, on a store they share in memory.
final class TestCluster {
  private(set) var nodes: [TestServer] = []
  let cluster = MemoryCluster { Moment.current.wall }
  let folder = TemporaryFolder()
  private(set) var certificates: [NodeTLS] = []

  init(_ count: Int = 3) async throws {
    for i in 0..<count { try await add("n\(i)") }
    for i in 0..<count { try await meet(i) }
  }

  private func add(_ name: String) async throws {
    try NodeTLS.make(in: folder.path, name: name)
    let tls = try NodeTLS(folder: folder.path, name: name)
    certificates.append(tls)
    let view = cluster.view()
    nodes.append(
      try await TestServer(cluster: { loop in
        NodeSeat(
          store: view,
          port: NodePort(
            host: "127.0.0.1", port: 0, tls: tls, loop: loop,
            logger: Logger(from: nil)),
          description: NodeDescription(name: name, address: "", peer: "127.0.0.1:0"))
      }))
  }

  /// Waits until a node knows all others.
  private func meet(_ i: Int) async throws {
    let count = nodes.count
    for _ in 0..<400 {
      if try await nodes[i].host.inspect({ $0.otherNodes.count }) == count - 1 { return }
      try await Task.sleep(for: .milliseconds(20))
    }
    Issue.record("node \(i) does not find the others")
  }

  /// A client that starts at a node and knows the others only from what it is told.
  func client(_ node: Int, _ guest: String) -> Watcher { Watcher(nodes[node].client(guest)) }

  /// The node that owns a match.
  func owner(of m: MatchID) async throws -> Int? {
    for (i, node) in nodes.enumerated() {
      if try await node.host.inspect({ $0.matches[m].map { !$0.isOver } ?? false }) { return i }
    }
    return nil
  }

  /// Whether a node answers over a link that is opened with some certificates: to who opens it a handshake alone looks well.
  func answers(_ tls: TLSContext, by i: Int, after frames: [NodeFrame] = []) async -> Bool {
    guard let node = try? await nodes[1 - i].host.inspect({ $0.otherNodes.first { $0.node.name == "n\(i)" } }),
      let port = node.node.peer.split(separator: ":").last.flatMap({ Int($0) })
    else { return false }
    let ping = ([.hello(epoch: 1, to: node.epoch)] + frames + [.ping]).flatMap(\.bytes)
    let answered = MultiThreadedEventLoopGroup.singleton.any().makePromise(of: Void.self)
    let channel = try? await ClientBootstrap(group: answered.futureResult.eventLoop)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandlers(
            TLSHandler(tls, calling: "n\(i)"), Caller(ping, answered))
        }
      }
      .connect(host: "127.0.0.1", port: port).get()
    if channel == nil { answered.fail(ChannelError.eof) }
    defer { channel?.close(promise: nil) }
    return (try? await answered.futureResult.get()) != nil
  }

  func stop(_ i: Int) async throws { try await nodes[i].stop() }
  func forget(_ i: Int) { nodes.remove(at: i) }
}

/// Asks for a sign of life, and tells whether it came.
private final class Caller: ChannelInboundHandler, Sendable {
  typealias InboundIn = ByteBuffer
  private let ping: [UInt8]
  private let answered: EventLoopPromise<Void>

  init(_ ping: [UInt8], _ answered: EventLoopPromise<Void>) { (self.ping, self.answered) = (ping, answered) }

  func channelActive(context: ChannelHandlerContext) {
    context.writeAndFlush(NIOAny(ByteBuffer(bytes: ping)), promise: nil)
  }
  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if unwrapInboundIn(data).readableBytesView.elementsEqual(NodeFrame.pong.bytes) { answered.succeed() }
  }
  func errorCaught(context: ChannelHandlerContext, error: any Error) { answered.fail(error) }
  func channelInactive(context: ChannelHandlerContext) { answered.fail(ChannelError.eof) }
}

@Suite(.serialized) struct ClusterEndToEndTests {
  private func pair(_ cluster: TestCluster, _ a: Int, _ b: Int) async throws -> (x: Watcher, o: Watcher, m: MatchID) {
    let one = cluster.client(a, "one")
    let other = cluster.client(b, "two")
    let welcome = try await one.online()
    #expect(welcome.nodes.count == cluster.nodes.count - 1)
    _ = try await other.online()
    one.client.perform(.seek(MatchTerms()))
    other.client.perform(.seek(MatchTerms()))
    let (m, side) = try await one.paired()
    _ = try await other.paired()
    for watcher in [one, other] { try await live(watcher, m) }
    return side == .x ? (one, other, m) : (other, one, m)
  }

  private func live(_ watcher: Watcher, _ m: MatchID) async throws {
    if watcher.client.match(m)?.state.phase == .live { return }
    _ = try await watcher.wait("the start") { event -> Bool? in
      switch event {
      case .event(m, _, _), .state(m): watcher.client.match(m)?.state.phase == .live ? true : nil
      default: nil
      }
    }
  }

  @Test func `players of two nodes play one match, watched at a third, with chat and a rematch`() async throws {
    let cluster = try await TestCluster()
    var (x, o, m) = try await pair(cluster, 0, 1)
    let viewer = cluster.client(2, "viewer")
    _ = try await viewer.online()
    viewer.client.perform(.watch(m, code: nil))
    _ = try await viewer.wait("the board") { if case .state(m) = $0 { true } else { nil } }
    for (ply, cell) in [4, 0, 2, 6, 3, 5, 1, 7].enumerated() {
      (ply % 2 == 0 ? x : o).client.perform(.move(m, Cell(cell)))
      for watcher in [x, o, viewer] { try await watcher.move(ply: ply) }
    }
    x.client.perform(.say(m, "nearly"))
    _ = try await o.wait("the word") { if case .chat(m, _, "nearly"?, _) = $0 { true } else { nil } }
    x.client.perform(.move(m, Cell(8)))
    for watcher in [x, o, viewer] {
      _ = try await watcher.event("the end") { if case .end = $0 { true } else { false } }
    }
    x.client.perform(.rematch(m))
    _ = try await o.event("the wish") { if case .rematch = $0 { true } else { false } }
    o.client.perform(.rematch(m))
    let next = try await x.paired()
    #expect(next.1 == .o)
    try await live(x, next.0)
    try await live(o, next.0)
    (x, o) = (o, x)
    m = next.0
    x.client.perform(.move(m, Cell(4)))
    try await o.move(ply: 0)
    for watcher in [x, o, viewer] { watcher.client.disconnect() }
    for i in cluster.nodes.indices { try await cluster.stop(i) }
    var checker = HistoryChecker()
    try checker.check(cluster.cluster.view())
    #expect(checker.faults.isEmpty, "\(checker.faults)")
  }

  @Test func `sixty who seek at once at three nodes are paired at once, each with one other`() async throws {
    let cluster = try await TestCluster()
    let crowd = (0..<60).map { cluster.client($0 % 3, "crowd\($0)") }
    for watcher in crowd { _ = try await watcher.online() }
    for watcher in crowd { watcher.client.perform(.seek(MatchTerms())) }
    var seats: [MatchID: Set<Player>] = [:]
    for watcher in crowd {
      let (m, side) = try await watcher.paired()
      #expect(seats[m, default: []].insert(side).inserted)
    }
    #expect(seats.count == 30 && seats.values.allSatisfy { $0.count == 2 })
    for watcher in crowd { watcher.client.disconnect() }
    for i in cluster.nodes.indices { try await cluster.stop(i) }
  }

  @Test func `a node that stops gives its matches away, and they go on at once`() async throws {
    let cluster = try await TestCluster()
    let (x, o, m) = try await pair(cluster, 0, 1)
    x.client.perform(.move(m, Cell(4)))
    try await o.move(ply: 0)
    let owner = try #require(try await cluster.owner(of: m))
    let before = MatchClient.now
    try await cluster.stop(owner)
    // Whoever was at the other node may move as soon as the match has found its new owner.
    var moved = false
    for _ in 0..<1000 where !moved {
      o.client.perform(.move(m, Cell(0)))
      try await Task.sleep(for: .milliseconds(10))
      moved = (o.client.match(m)?.state.moves.count ?? 0) > 1
    }
    #expect(moved)
    print("a match went on \(MatchClient.now - before) ms after its node began to stop")
    for _ in 0..<1000 where (x.client.match(m)?.state.moves.count ?? 0) < 2 {
      try await Task.sleep(for: .milliseconds(10))
    }
    #expect(x.client.match(m)?.state.moves.count == 2, "the other has come back too")
    x.client.perform(.resign(m))
    _ = try await o.event("the end") { if case .end = $0 { true } else { false } }
    x.client.disconnect()
    o.client.disconnect()
    cluster.forget(owner)
    for i in cluster.nodes.indices { try await cluster.stop(i) }
    var checker = HistoryChecker()
    try checker.check(cluster.cluster.view())
    #expect(checker.faults.isEmpty, "\(checker.faults)")
  }

  @Test func `rooms are found from every node, bare commands too, and a name is one player's on all`() async throws {
    let cluster = try await TestCluster()
    let host = cluster.client(0, "host")
    _ = try await host.online()
    host.client.perform(.create(MatchTerms()))
    let (m, code) = try await host.wait("the room") {
      if case .room(let m, let code, _) = $0 { (m, code) } else { nil }
    }
    let peer = try RawPeer(cluster.nodes[2].port)
    peer.type("hello guest")
    try peer.wait(#""t":"welcome""#)
    peer.type("join \(code.lowercased())")
    try peer.wait(#""t":"event""#)
    try await live(host, m)
    let isX = host.client.match(m)?.you == .o
    if isX {
      peer.type("move b2")
      try await host.move(ply: 0)
    } else {
      host.client.perform(.move(m, Cell(4)))
      try peer.wait(#""ply":0"#)
      peer.type("move a1")
      try await host.move(ply: 1)
    }
    peer.type("register Someone")
    try peer.wait(#""t":"token""#)
    host.client.perform(.register("SOMEONE"))
    _ = try await host.wait("the refusal") { if case .refused(.name, _, _) = $0 { true } else { nil } }
    peer.type("resign")
    _ = try await host.event("the end") { if case .end = $0 { true } else { false } }
    peer.type("me")
    try peer.wait(#""name":"Someone""#)
    host.client.disconnect()
    for i in cluster.nodes.indices { try await cluster.stop(i) }
  }

  @Test func `the page of every node has the strongest players of all nodes`() async throws {
    let cluster = try await TestCluster(2)
    var ann = someAccount(9, "Ann")
    ann.ratedAt = 1
    try cluster.cluster.transact { [ann] in MemoryStore.apply(.account(ann), &$0.content) }
    for (i, node) in cluster.nodes.enumerated() {
      #expect(try RawPeer(node.page.port).http("top.json").body.contains(#""name":"Ann""#))
      try await cluster.stop(i)
    }
  }

  @Test func `a stranger without a certificate of the cluster is not listened to`() async throws {
    let cluster = try await TestCluster(2)
    let foreign = TemporaryFolder()
    try NodeTLS.make(in: foreign.path, name: "n0")
    let ca = cluster.folder.path + "/ca.crt"
    let own = cluster.certificates[0].context
    let none = try TLSContext(authorities: ca)
    let other = try TLSContext(
      among: TLSCertificate.chain(file: ca), showing: TLSCertificate.chain(file: foreign.path + "/n0.crt"),
      key: TLSKey(file: foreign.path + "/n0.key"))
    #expect(await cluster.answers(own, by: 1), "with its certificate a node is answered")
    let lost = NodeFrame.work(7, .caughtUp(someID(1)), someID(1), roundTrip: 0)
    #expect(await !cluster.answers(own, by: 1, after: [lost]), "but not when it speaks for nobody it has named")
    #expect(await !cluster.answers(none, by: 1), "without one")
    #expect(await !cluster.answers(other, by: 1), "with one of another authority")
    for i in cluster.nodes.indices { try await cluster.stop(i) }
  }

  @Test func `certificates that nobody would believe, and names that cannot be, are told in one line`() throws {
    let (folder, other) = (TemporaryFolder(), TemporaryFolder())
    let files = FileManager.default
    func isRefused(_ says: String, _ body: () throws -> Void) {
      #expect {
        try body()
      } throws: {
        if case .unusable(let text)? = $0 as? StoreError { text.contains(says) && !text.contains("\n") } else { false }
      }
    }
    try NodeTLS.make(in: folder.path, name: "a")
    try NodeTLS.make(in: other.path, name: "a")
    isRefused("exists") { try NodeTLS.make(in: folder.path, name: "a") }
    isRefused("cannot read") { _ = try NodeTLS(folder: folder.path, name: "b") }
    try files.copyItem(atPath: folder.path + "/a.crt", toPath: folder.path + "/c.crt")
    try files.copyItem(atPath: folder.path + "/a.key", toPath: folder.path + "/c.key")
    isRefused("not the certificate of a node named c") { _ = try NodeTLS(folder: folder.path, name: "c") }
    // The machine of a node has its own files and the authority's certificate, but not the key that makes more.
    let authority = try Data(contentsOf: URL(filePath: other.path + "/ca.crt"))
    try files.removeItem(atPath: other.path + "/ca.key")
    isRefused("where ca.key is kept") { try NodeTLS.make(in: other.path, name: "b") }
    #expect(try Data(contentsOf: URL(filePath: other.path + "/ca.crt")) == authority)
    #expect(!files.fileExists(atPath: other.path + "/ca.key") && !files.fileExists(atPath: other.path + "/b.crt"))
    try authority.write(to: URL(filePath: folder.path + "/ca.crt"))
    isRefused("a.crt was not made by the authority") { _ = try NodeTLS(folder: folder.path, name: "a") }
    isRefused("is not the certificate of") { try NodeTLS.make(in: folder.path, name: "b") }
    try files.removeItem(atPath: other.path + "/a.key")
    try files.copyItem(atPath: folder.path + "/a.key", toPath: other.path + "/a.key")
    isRefused("a.key is not the key of") { _ = try NodeTLS(folder: other.path, name: "a") }
    for (file, says) in [("a.key", "no private key"), ("a.crt", "no certificate"), ("ca.crt", "no certificate")] {
      try Data("nothing".utf8).write(to: URL(filePath: other.path + "/" + file))
      isRefused(says) { _ = try NodeTLS(folder: other.path, name: "a") }
    }
    let authorityKey = folder.path + "/ca.key"
    try NodeTLS.make(in: folder.path + "/old", name: "a")
    let old = try TLSCertificate.chain(file: folder.path + "/old/ca.crt")[0]
    try OpenSSL.make(
      name: "a", extensions: ["subjectAltName = DNS:a"], certificate: folder.path + "/old/a.crt",
      key: folder.path + "/old/a.key", by: (old, folder.path + "/old/ca.key"), from: Date(timeIntervalSince1970: 1e9))
    isRefused("not valid yet, or no longer") { _ = try NodeTLS(folder: folder.path + "/old", name: "a") }
    for file in [authorityKey, folder.path + "/a.key"] {
      #expect(try files.attributesOfItem(atPath: file)[.posixPermissions] as? Int == 0o600)
    }
    try Data("nothing".utf8).write(to: URL(filePath: authorityKey))
    isRefused("ca.key is no private key") { try NodeTLS.make(in: folder.path, name: "b") }
    #expect(try files.contentsOfDirectory(atPath: folder.path).allSatisfy { !$0.hasPrefix(".") })
    isRefused("cannot be made a folder") { try NodeTLS.make(in: "/proc/nope", name: "a") }
    for name in ["a", "n-1", "eu2"] { #expect(NodeTLS.isName(name)) }
    for name in ["", "A", "-a", "a-", "ca", "12", "a.b", String(repeating: "a", count: 33)] {
      #expect(!NodeTLS.isName(name))
    }
  }

  @Test func `every frame of the nodes' language is read back as it was`() throws {
    var account = someAccount(7, "Ann")
    account.token = nil
    account.guest = false
    let line = ClientLine(id: "c1", .act(someID(1), .move(ply: 3, cell: CellName(Cell(4), in: .classic)), mid: "m"))
    let bare = ClientLine(.act(someID(1), .move(ply: nil, cell: CellName(Cell(4), in: .classic)), mid: nil))
    let answer = ServerMessage.ok(someID(1), seq: 3).bytes(re: "c1")
    let seek = ClientMessage.Seek(MatchTerms(rated: true), range: 7, bots: true, key: "k")
    let seat = Ticket(id: "t", session: "s", player: account, seek: seek, isBot: true, since: 99, lost: someID(3))
    let pairing = Pairing(
      m: someID(1), seats: Sides(x: seat, o: seat))
    let frames: [NodeFrame] = [
      .hello(epoch: 3, to: 4), .detach(5, clean: true), .hint, .ping, .pong, .evict(session: "s", generation: .max),
      .refresh(account: 7), .work(1, .line(line, at: 12), someID(1), roundTrip: 40),
      .work(1, .line(bare, at: 0), someID(1), roundTrip: 0),
      .work(2, .follow(someID(1), re: "q", isNew: true), someID(1), roundTrip: 1),
      .work(2, .room(someID(1), re: nil), someID(1), roundTrip: 1),
      .work(2, .caughtUp(someID(1)), someID(1), roundTrip: 1),
      .notHere(9, .line(line, at: 1), someID(1), at: nil), .end(3, .replaced, "so", retry: 5),
      .notHere(9, .begin(pairing), someID(1), at: 7), .here(4, someID(1), ticket: "t"), .played(4, account),
      .work(4, .wait(seat), .queue, roundTrip: 0), .work(4, .leave("t"), .queue, roundTrip: 0),
      .notHere(4, .found("t", someID(1)), .queue, at: nil), .notHere(4, .refused("t", .occupied), .queue, at: nil),
      .send(1, .essential, answer), .send(1 << 62, .droppable, answer), .send(7, .spectator(someID(2)), answer),
      .attach(
        6,
        Attachment(
          session: "s", generation: 2, account: account, isBot: true, confirms: false,
          version: 2)),
    ]
    for frame in frames {
      let bytes = frame.bytes
      #expect(bytes.last == 10 && !bytes.dropLast().contains(10))
      #expect(try bytes.dropLast().withUnsafeBytes { try NodeFrame($0) } == frame)
      // What a later build says besides is passed over, but in a line for a client, whose end is the frame's.
      if case .send = frame { continue }
      let later = Array(bytes.dropLast(2)) + Array(#","later":{"x":[1]}}"#.utf8)
      #expect(try later.withUnsafeBytes { try NodeFrame($0) } == frame)
    }
    // A client's own bytes go on as they are, however deep the fields are that nobody knows.
    var said = line
    said.source = Array(#"{"t":"move","id":"c1","m":"\#(someID(1))","mid":"m","ply":3,"cell":"b2","x":[[[1]]]}"#.utf8)
    let forwarded = NodeFrame.work(1, .line(said, at: 12), someID(1), roundTrip: 40).bytes.dropLast()
    #expect(String(decoding: forwarded, as: UTF8.self).contains(String(decoding: said.source ?? [], as: UTF8.self)))
    #expect(
      try forwarded.withUnsafeBytes { try NodeFrame($0) }
        == frames[frames.firstIndex { $0 == .work(1, .line(line, at: 12), someID(1), roundTrip: 40) } ?? 0])
    // A build of before there were versions does not say which its client speaks: it can only be the first.
    let attach = String(decoding: try #require(frames.last).bytes.dropLast(), as: UTF8.self)
    let early = Array(attach.replacing(#","speaks":2"#, with: "").utf8)
    #expect(early.count < attach.utf8.count)
    guard case .attach(_, let attachment) = try early.withUnsafeBytes({ try NodeFrame($0) }) else {
      Issue.record("no attachment")
      return
    }
    #expect(attachment.version == 1)
  }

  @Test func `certificates of nodes are renewed without a restart, and broken ones leave the old`() async throws {
    let cluster = try await TestCluster(2)
    let (x, o, m) = try await pair(cluster, 0, 1)
    let (one, two) = (cluster.certificates[0], cluster.certificates[1])
    let old = [one.fingerprint, two.fingerprint]
    let (later, before) = (TemporaryFolder(), TemporaryFolder())
    for name in ["n0", "n1"] { try NodeTLS.make(in: later.path, name: name) }
    func read(_ folder: TemporaryFolder, _ name: String) throws -> Data {
      try Data(contentsOf: URL(filePath: folder.path + "/" + name))
    }
    func write(_ data: Data, _ name: String) throws {
      try data.write(to: URL(filePath: cluster.folder.path + "/" + name))
    }
    func copy(_ folder: TemporaryFolder, _ names: String...) throws {
      for name in names { try write(try read(folder, name), name) }
    }
    func expect(_ isMet: Bool, _ what: Comment) async {
      #expect(await cluster.answers(one.context, by: 1) == isMet, what)
      #expect(await cluster.answers(two.context, by: 0) == isMet, what)
    }
    let names = ["ca.crt", "n0.crt", "n0.key", "n1.crt", "n1.key"]
    for name in names { try read(cluster.folder, name).write(to: URL(filePath: before.path + "/" + name)) }
    await expect(true, "as they began")
    for name in ["ca.crt", "n1.key"] { try write(Data("nothing".utf8), name) }
    #expect(throws: (any Error).self) { try one.reload() }
    #expect(throws: (any Error).self) { try two.reload() }
    #expect([one.fingerprint, two.fingerprint] == old)
    await expect(true, "broken files leave the old")
    // A whole new authority: who has read it and who has not do not know one another.
    try copy(later, "ca.crt", "n1.crt", "n1.key")
    try two.reload()
    #expect(two.fingerprint != old[1])
    await expect(false, "two authorities")
    // So both are trusted first, then the certificates change one by one, and then only the new authority is trusted.
    try copy(before, "n1.crt", "n1.key")
    try write(try read(before, "ca.crt") + read(later, "ca.crt"), "ca.crt")
    for certificates in [one, two] { try certificates.reload() }
    await expect(true, "both trust both")
    try copy(later, "n1.crt", "n1.key")
    try two.reload()
    await expect(true, "one has its new certificate")
    try copy(later, "n0.crt", "n0.key")
    try one.reload()
    await expect(true, "both have")
    try copy(later, "ca.crt")
    for certificates in [one, two] { try certificates.reload() }
    await expect(true, "the old authority is no more")
    // The link between the players went on as it was opened.
    x.client.perform(.move(m, Cell(4)))
    try await o.move(ply: 0)
    o.client.perform(.move(m, Cell(0)))
    try await x.move(ply: 1)
    x.client.disconnect()
    o.client.disconnect()
    for i in cluster.nodes.indices { try await cluster.stop(i) }
  }
}
