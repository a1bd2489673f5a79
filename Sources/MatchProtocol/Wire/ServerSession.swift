/// The server's end of one connection as a pure state machine: bytes and time in, commands and lines out.
///
/// It knows framing, limits, strikes, heartbeats and the order of things, and nothing of matches. A transport feeds it
/// and does what it says.
public struct ServerSession: Sendable {
  /// What the transport must do.
  public enum Action: Sendable, Hashable {
    /// Hand a message to the lobby; the time is when its last byte was decoded.
    case deliver(ClientLine, at: Int64)
    /// Send a line.
    case send([UInt8])
    /// Send `bye` and close.
    case close(ByeCode, String)
  }

  /// Limits a server's flags may change.
  public struct Configuration: Sendable, Hashable {
    /// The versions spoken, best first.
    public var versions = protocolVersions
    /// Messages a second.
    public var rate = 20
    /// Messages at once.
    public var burst = 40
    /// Messages a second for a bot account.
    public var botRate = 200
    /// Milliseconds from connecting to `hello`.
    public var helloWithin = 10_000
    /// Milliseconds between two heartbeats.
    public var heartbeat = Limits.heartbeat
    /// Milliseconds of silence after which a peer is given up.
    public var silence = Limits.silence
    /// Milliseconds of silence after which a person's connection (bare commands, no heartbeats) is given up.
    public var personSilence = 600_000
    /// Makes the defaults.
    public init() {}
  }

  private enum State: Hashable {
    case greeting(since: Int64)
    case open
    case closed
  }

  private let configuration: Configuration
  private var state: State
  private var framer = LineFramer(limit: Limits.lineIn)
  private var strikes = 0
  private var refused = 0
  private var tokens: Double
  private var refilled: Int64
  private var heard: Int64
  private var pinged: Int64
  /// Whether the peer is a person typing bare commands, who answers no heartbeats.
  public private(set) var isPerson = false
  /// Whether the peer said that it is a bot.
  public private(set) var isBot = false
  /// Milliseconds from our last answered `ping` to its `pong`; 0 until there was one.
  public private(set) var roundTrip = 0

  /// Starts a session at a time in milliseconds of any steady clock; `deliver` times are on the same clock.
  public init(_ configuration: Configuration, now: Int64) {
    self.configuration = configuration
    state = .greeting(since: now)
    tokens = Double(configuration.burst)
    (refilled, heard, pinged) = (now, now, now)
  }

  /// Takes bytes as they arrived; O(n).
  public mutating func receive(_ bytes: UnsafeRawBufferPointer, now: Int64, _ act: (Action) -> Void) {
    guard state != .closed else { return }
    heard = now
    var framer = framer
    framer.feed(bytes) { piece in
      switch piece {
      case .tooLong: strike("a line has at most \(Limits.lineIn) bytes", now, act)
      case .line(let line): take(line, now, act)
      }
      return state != .closed
    }
    self.framer = framer
  }

  private mutating func take(_ line: UnsafeRawBufferPointer, _ now: Int64, _ act: (Action) -> Void) {
    let parsed: ClientLine
    do throws(ProtocolError) {
      parsed = try ClientLine(line)
    } catch {
      if error.isMalformed {
        strike(error.message, now, act)
      } else if admit(now, nil, act) {
        act(.send(ServerMessage.err(.bad, error.message).bytes(re: ServerSession.id(of: line))))
      }
      return
    }
    if case .pong(let ts) = parsed.message {
      if ts == pinged, now >= ts { roundTrip = Int(now - ts) }
      return
    }
    guard admit(now, parsed.id, act) else { return }
    switch (state, parsed.message) {
    case (_, .ping(let ts)): act(.send(ServerMessage.pong(ts, now: now).bytes(re: parsed.id)))
    case (_, .help): act(.send(ServerMessage.help(ClientLine.help).bytes(re: parsed.id)))
    case (_, .bye): close(.bye, "good bye", act)
    case (.greeting, .hello(let hello)):
      guard hello.common(with: configuration.versions) != nil else {
        let text = "this server speaks version \(configuration.versions.map(String.init).joined(separator: ", ")) only"
        act(.send(ServerMessage.err(.version, text).bytes(re: parsed.id)))
        close(.bye, text, act)
        return
      }
      state = .open
      isPerson = line.first != UInt8(ascii: "{")
      isBot = hello.caps.contains("bot")
      act(.deliver(parsed, at: now))
    case (.greeting, _): act(.send(ServerMessage.err(.auth, "say hello first").bytes(re: parsed.id)))
    case (.open, .hello):
      act(.send(ServerMessage.err(.bad, "hello was said; connect again to be somebody else").bytes(re: parsed.id)))
    case (.open, _): act(.deliver(parsed, at: now))
    case (.closed, _): break
    }
  }

  /// The `id` of a line that is JSON but no message, so that its refusal can be matched.
  private static func id(of line: UnsafeRawBufferPointer) -> String? {
    guard let value = try? JSONParser.parse(line), let id = value.object?["id"]?.string, id.utf8.count <= Limits.id
    else {
      return nil
    }
    return id
  }

  /// Takes one message from the rate allowed.
  private mutating func admit(_ now: Int64, _ id: String?, _ act: (Action) -> Void) -> Bool {
    let rate = isBot ? configuration.botRate : configuration.rate
    let burst = isBot ? max(configuration.burst, configuration.botRate) : configuration.burst
    tokens = min(Double(burst), tokens + Double(now - refilled) * Double(rate) / 1000)
    refilled = now
    if tokens >= 1 {
      tokens -= 1
      refused = 0
      return true
    }
    refused += 1
    if refused > 100 {
      close(.flood, "more than \(rate) messages a second, and no pause", act)
    } else {
      act(.send(ServerMessage.err(.rate, "at most \(rate) messages a second").bytes(re: id)))
    }
    return false
  }

  private mutating func strike(_ text: String, _ now: Int64, _ act: (Action) -> Void) {
    strikes += 1
    act(.send(ServerMessage.err(.bad, text).bytes()))
    if strikes >= Limits.strikes { close(.malformed, "\(Limits.strikes) lines were no messages", act) }
  }

  /// Looks at the time: sends a heartbeat when one is due, closes when the peer has been silent too long. Call it
  /// every second or so.
  public mutating func tick(now: Int64, _ act: (Action) -> Void) {
    switch state {
    case .closed: break
    case .greeting(let since):
      if now - since >= Int64(configuration.helloWithin) {
        close(.timeout, "no hello within \(configuration.helloWithin / 1000) s", act)
      }
    case .open:
      if now - heard >= Int64(isPerson ? configuration.personSilence : configuration.silence) {
        close(.timeout, "nothing heard for \((now - heard) / 1000) s", act)
      } else if !isPerson, now - pinged >= Int64(configuration.heartbeat) {
        pinged = now
        act(.send(ServerMessage.ping(now).bytes()))
      }
    }
  }

  private mutating func close(_ code: ByeCode, _ text: String, _ act: (Action) -> Void) {
    state = .closed
    act(.close(code, text))
  }
}
