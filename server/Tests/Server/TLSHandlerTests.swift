import COpenSSL
import NIOCore
import NIOEmbedded
import TLS
import TestSupport
import Testing

@testable import Lobby
@testable import MatchStore
@testable import ServerTransport

/// The client's end, driven by hand with the system's OpenSSL.
private final class Caller {
  private let (context, ssl, arrived, leaving): (OpaquePointer, OpaquePointer, OpaquePointer, OpaquePointer)

  init(newest: Int32 = TLS1_3_VERSION) throws {
    context = try #require(SSL_CTX_new(TLS_client_method()))
    SSL_CTX_ctrl(context, SSL_CTRL_SET_MAX_PROTO_VERSION, Int(newest), nil)
    SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(TLS1_VERSION), nil)
    // Obsolete ciphers must be enabled explicitly.
    SSL_CTX_set_cipher_list(context, "ALL:@SECLEVEL=0")
    ssl = try #require(SSL_new(context))
    (arrived, leaving) = (try #require(BIO_new(BIO_s_mem())), try #require(BIO_new(BIO_s_mem())))
    SSL_set_bio(ssl, arrived, leaving)
    SSL_set_connect_state(ssl)
  }

  deinit {
    SSL_free(ssl)
    SSL_CTX_free(context)
  }

  var isEstablished: Bool { SSL_is_init_finished(ssl) == 1 }
  var isOver: Bool { SSL_get_shutdown(ssl) & SSL_RECEIVED_SHUTDOWN != 0 }

  /// Continues the handshake, or encrypts `text` once it is complete. Returns the bytes to send.
  func sent(_ text: String = "") -> [UInt8] {
    if !isEstablished { SSL_do_handshake(ssl) }
    if isEstablished, !text.isEmpty { SSL_write(ssl, text, Int32(text.utf8.count)) }
    var bytes = [UInt8](repeating: 0, count: BIO_ctrl_pending(leaving))
    BIO_read(leaving, &bytes, Int32(bytes.count))
    return bytes
  }

  func hear(_ sealed: [UInt8]) -> String {
    BIO_write(arrived, sealed, Int32(sealed.count))
    if !isEstablished { SSL_do_handshake(ssl) }
    var (said, piece) = ([UInt8](), [UInt8](repeating: 0, count: 20_000))
    while isEstablished, case let count = SSL_read(ssl, &piece, Int32(piece.count)), count > 0 {
      said += piece.prefix(Int(count))
    }
    return String(decoding: said, as: UTF8.self)
  }

  func sayGoodbye() { SSL_shutdown(ssl) }
  func renegotiate() { SSL_renegotiate(ssl) }
}

/// The channel handler above the handler under test; records what reaches it.
private final class Above: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  var (said, happened) = ("", [String]())

  func channelRead(context: ChannelHandlerContext, data: NIOAny) { said += String(buffer: unwrapInboundIn(data)) }
  func channelInactive(context: ChannelHandlerContext) { happened.append("inactive") }
  func errorCaught(context: ChannelHandlerContext, error: any Error) { happened.append("error") }
}

private final class Below: ChannelOutboundHandler {
  typealias OutboundIn = ByteBuffer
  var reads = 0
  func read(context: ChannelHandlerContext) { reads += 1 }
}

@Suite struct TLSHandlerTests {
  private let folder = TemporaryFolder()
  private let tls: ServerTLS
  private let channel = EmbeddedChannel()
  private let above = Above()
  private let below = Below()

  init() throws {
    tls = try ServerTLS.selfSigned(in: folder.path, names: ["localhost"])
    try channel.pipeline.syncOperations.addHandlers(below, tls.handler(), above)
    try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
  }

  private func sent() throws -> [UInt8] {
    var bytes: [UInt8] = []
    while let next = try channel.readOutbound(as: ByteBuffer.self) { bytes += next.readableBytesView }
    return bytes
  }

  private func take(_ bytes: [UInt8], pieces: Int = .max) throws {
    var rest = bytes[...]
    while !rest.isEmpty {
      channel.pipeline.fireChannelRead(ByteBuffer(bytes: rest.prefix(pieces)))
      channel.pipeline.fireChannelReadComplete()
      channel.embeddedEventLoop.run()
      rest = rest.dropFirst(pieces)
    }
  }

  /// Exchanges bytes until there are none left; returns the text that the client received.
  @discardableResult private func talk(_ caller: Caller, _ text: String = "", pieces: Int = .max) throws -> String {
    var heard = ""
    var bytes = caller.sent(text)
    repeat {
      try take(bytes, pieces: pieces)
      heard += caller.hear(try sent())
      bytes = caller.sent()
    } while !bytes.isEmpty
    return heard
  }

  private func write(_ text: String) -> EventLoopFuture<Void> { channel.writeAndFlush(ByteBuffer(string: text)) }

  @Test(arguments: [TLS1_2_VERSION, TLS1_3_VERSION]) func `TLS records may arrive byte by byte`(version: Int32) throws {
    let caller = try Caller(newest: version)
    try talk(caller, pieces: 1)
    #expect(caller.isEstablished)
    try talk(caller, "hello\nand more\n", pieces: 1)
    #expect(above.said == "hello\nand more\n")
    #expect(below.reads > 100, "after an incomplete record the socket is read again")
    try talk(caller, "all at once\n")
    #expect(above.said.hasSuffix("all at once\n"))
  }

  @Test func `bytes written before the handshake ends are sent after it, in order and encrypted`() throws {
    let early = ["greeting\n", "and another\n"].map(write)
    #expect(try sent() == [])
    let caller = try Caller()
    #expect(try talk(caller) == "greeting\nand another\n")
    for future in early { try future.wait() }
    let late = write("later\n")
    #expect(caller.hear(try sent()) == "later\n")
    try late.wait()
  }

  @Test func `after an incomplete handshake nothing is sent, and waiting writes fail`() throws {
    let early = write("greeting\n")
    let caller = try Caller()
    try take(Array(caller.sent().dropLast(10)))
    #expect(try sent() == [] && above.happened == [])
    channel.close(promise: nil)
    #expect(throws: ChannelError.self) { try early.wait() }
    #expect(throws: ChannelError.self) { try write("more").wait() }
    #expect(try sent() == [] && above.happened == ["inactive"])
  }

  @Test(arguments: [
    "GET / HTTP/1.1\r\n\r\n", "{\"t\":\"hello\"}\n", "\u{16}\u{3}\u{1}\u{0}\u{5}aaaaa", "\u{0}\u{0}\u{0}\u{0}\u{0}",
  ])
  func `a peer that does not speak TLS is closed, with an alert at most`(garbage: String) throws {
    _ = write("greeting\n")
    try take(Array(garbage.utf8))
    #expect(try sent().first ?? 0x15 == 0x15)
    #expect(above.happened == ["error", "inactive"] && above.said == "")
    #expect(!channel.isActive)
  }

  @Test func `a corrupt TLS record ends the connection, and earlier records are delivered`() throws {
    let caller = try Caller()
    try talk(caller)
    var bytes = caller.sent("good\n") + caller.sent("bad\n")
    bytes[bytes.count - 3] ^= 1
    try take(bytes)
    #expect(above.said == "good\n" && above.happened == ["error", "inactive"])
    #expect(try sent().first == 0x17, "the alert is sent encrypted")
    channel.pipeline.fireChannelRead(ByteBuffer(string: "more"))
    #expect(above.happened == ["error", "inactive"])
  }

  @Test func `a connection may end without a close notification, and a close notification is answered`() throws {
    let first = try Caller()
    try talk(first)
    try take(Array(first.sent("half a record").dropLast(5)))
    channel.pipeline.fireChannelInactive()
    #expect(above.said == "" && above.happened == ["inactive"])
    let other = try TLSHandlerTests()
    let second = try Caller()
    try other.talk(second)
    let last = second.sent("last words\n")
    second.sayGoodbye()
    try other.take(last + second.sent())
    #expect(other.above.said == "last words\n" && other.above.happened == ["inactive"])
    _ = second.hear(try other.sent())
    #expect(second.isOver)
  }

  @Test func `closing sends a close notification and nothing after it`() throws {
    let caller = try Caller()
    try talk(caller)
    let last = write("bye\n")
    channel.close(promise: nil)
    #expect(caller.hear(try sent()) == "bye\n")
    #expect(caller.isOver && !channel.isActive)
    try last.wait()
    #expect(throws: ChannelError.self) { try write("more").wait() }
    #expect(try sent() == [])
  }

  @Test func `a half-closed connection is still read`() throws {
    let caller = try Caller()
    try talk(caller)
    channel.close(mode: .output, promise: nil)
    _ = caller.hear(try sent())
    #expect(caller.isOver)
    try take(caller.sent("an answer\n"))
    #expect(above.said == "an answer\n")
  }

  @Test func `large messages pass in both directions`() throws {
    let caller = try Caller()
    try talk(caller)
    let text = String(repeating: "0123456789abcdef", count: 40_000)
    let written = write(text)
    #expect(caller.hear(try sent()) == text)
    try written.wait()
    try talk(caller, text, pieces: 1000)
    #expect(above.said == text)
    try write("").wait()
    #expect(try sent() == [])
  }

  @Test func `TLS 1.1 is refused, and so is a second handshake`() throws {
    let old = try Caller(newest: TLS1_1_VERSION)
    try talk(old)
    #expect(!old.isEstablished && above.happened == ["error", "inactive"])
    let other = try TLSHandlerTests()
    let caller = try Caller(newest: TLS1_2_VERSION)
    try other.talk(caller)
    caller.renegotiate()
    let asked = caller.sent("still here\n")
    try other.take(asked)
    let answered = try other.sent()
    #expect(answered.first == 0x15, "the answer is an alert, not a handshake")
  }
}
