import Base

/// The server's end of one connection as a pure state machine: it takes bytes and time, and returns commands and lines. It has no data
/// about matches.
package struct ServerSession: Sendable {
  package enum Action: Sendable, Hashable {
    /// Pass a message to the lobby. `at` is the time, in monotonic milliseconds, at which the message was decoded.
    case deliver(ClientLine, at: Int64)
    case send([UInt8])
    /// Send `bye`, as the answer to `re`, and close.
    case close(ByeCode, String, re: String? = nil)
  }

  /// Limits that a server's flags may change.
  package struct Configuration: Sendable, Hashable {
    /// Best first.
    package var versions = protocolVersions
    /// Messages a second. A line counts as one message, and as one more for each full KiB.
    package var rate = 20
    /// The most messages that a client may send at once after a pause.
    package var burst = 40
    /// For a bot: messages a second. If `burst` is lower, a bot may also send this many messages at once.
    package var botRate = 200
    /// A connection is closed after this many messages came too fast. The count falls by `rate` / 10 each second.
    package var refusalLimit = 100
    /// Milliseconds from connecting to `hello`.
    package var helloWithin = 10_000
    package var heartbeat = Limits.heartbeat
    package var silence = Limits.silence
    /// Milliseconds of silence after which a person's connection (bare commands, no heartbeats) is given up.
    package var personSilence = 600_000
    package init() {}
  }

  private enum State: Hashable {
    case greeting(since: Int64)
    case open
    case closed
  }

  private let configuration: Configuration
  private var state: State
  private var framer = LineFramer(limit: Limits.lineIn)
  /// Bytes received since the last complete line, without those already charged against the rate limit. Only bytes that `framer` has
  /// dropped are charged from here: empty lines, and the rest of a line that is too long.
  private var unpaid = 0
  private var malformedLines = 0
  private var refused = 0.0
  private var tokens: Double
  private var refilled: Int64
  private var heard: Int64
  private var pinged: Int64
  /// Whether the peer is a person who types bare commands, and so answers no heartbeats.
  package private(set) var isPerson = false
  package private(set) var isBot = false
  /// The shortest of the last six round trips in milliseconds, so that one late `pong` does not count; 0 before the first `pong`.
  package var roundTrip: Int { roundTrips.min() ?? 0 }
  private var roundTrips: [Int] = []
  /// Whether `hello` was received and the session has not ended.
  package var isOpen: Bool { state == .open }

  /// `now` is in milliseconds of any monotonic clock.
  package init(_ configuration: Configuration, now: Int64) {
    self.configuration = configuration
    state = .greeting(since: now)
    tokens = Double(configuration.burst)
    (refilled, heard, pinged) = (now, now, now)
  }

  package mutating func receive(_ bytes: UnsafeRawBufferPointer, now: Int64, _ act: (Action) -> Void) {
    guard state != .closed else { return }
    var framer = framer
    unpaid += bytes.count
    framer.feed(bytes) { piece in
      unpaid = 0
      // Only a whole line counts as a sign of life.
      heard = now
      switch piece {
      case .tooLong: refuseMalformed("a line has at most \(Limits.lineIn) bytes", act)
      case .line(let line):
        if admit(line.count, now) { take(line, now, act) } else { refuse(line, act) }
      }
      return state != .closed
    }
    self.framer = framer
    // The framer drops empty lines and the rest of a line that is too long. Charge each KiB of dropped bytes as one message.
    while state != .closed, unpaid - framer.held >= 1024 {
      unpaid -= 1024
      if !admit(0, now), refused > Double(configuration.refusalLimit) { closeFlood(act) }
    }
  }

  private mutating func take(_ line: UnsafeRawBufferPointer, _ now: Int64, _ act: (Action) -> Void) {
    let parsed: ClientLine
    do throws(ProtocolError) { parsed = try ClientLine(line) } catch {
      if error.isMalformed { return refuseMalformed(error.message, act) }
      return act(.send(ServerMessage.err(.bad, error.message).bytes(re: ServerSession.id(of: line))))
    }
    switch (state, parsed.message) {
    case (_, .pong(let ts)): if ts == pinged, now >= ts { roundTrips = roundTrips.suffix(5) + [Int(now - ts)] }
    case (_, .ping(let ts)): act(.send(ServerMessage.pong(ts, now: now).bytes(re: parsed.id)))
    case (_, .help): act(.send(ServerMessage.help(ClientLine.help).bytes(re: parsed.id)))
    case (_, .bye):
      if state == .open { act(.deliver(parsed, at: now)) }
      close(.bye, "good bye", re: parsed.id, act)
    case (.greeting, .hello(let hello)):
      guard hello.common(with: configuration.versions) != nil else {
        let text = "this server speaks version \(configuration.versions.map(String.init).joined(separator: ", ")) only"
        act(.send(ServerMessage.err(.version, text).bytes(re: parsed.id)))
        close(.bye, text, act)
        return
      }
      state = .open
      isPerson = ClientLine.isBare(line)
      isBot = hello.caps.contains("bot")
      if isBot { tokens += Double(max(0, configuration.botRate - configuration.burst)) }
      act(.deliver(parsed, at: now))
    case (.greeting, _): act(.send(ServerMessage.err(.auth, "say hello first").bytes(re: parsed.id)))
    case (.open, .hello):
      act(.send(ServerMessage.err(.bad, "hello was said; connect again to be somebody else").bytes(re: parsed.id)))
    case (.open, _): act(.deliver(parsed, at: now))
    case (.closed, _): break
    }
  }

  /// The `id` of a refused JSON line, which the refusal repeats.
  private static func id(of line: UnsafeRawBufferPointer) -> String? {
    guard let id = try? JSONObject(line: line, with: "id")["id"]?.string, id.utf8.count <= Limits.id else { return nil }
    return id
  }

  private var rate: Int { isBot ? configuration.botRate : configuration.rate }

  /// Charges a line of this many bytes against the rate limit; `false` if the line has to be refused.
  private mutating func admit(_ bytes: Int, _ now: Int64) -> Bool {
    let burst = isBot ? max(configuration.burst, configuration.botRate) : configuration.burst
    let earned = Double(now - refilled) * Double(rate) / 1000
    tokens = min(Double(burst), tokens + earned)
    refused = max(0, refused - earned / 10)
    refilled = now
    let cost = Double(1 + bytes / 1024)
    guard tokens >= min(cost, Double(burst)) else {
      refused += 1
      return false
    }
    tokens -= cost
    return true
  }

  private mutating func refuse(_ line: UnsafeRawBufferPointer, _ act: (Action) -> Void) {
    guard refused <= Double(configuration.refusalLimit) else { return closeFlood(act) }
    act(.send(ServerMessage.err(.rate, "at most \(rate) messages a second").bytes(re: ServerSession.id(of: line))))
  }

  private mutating func closeFlood(_ act: (Action) -> Void) {
    close(.flood, "more than \(rate) messages a second, and no pause", act)
  }

  private mutating func refuseMalformed(_ text: String, _ act: (Action) -> Void) {
    malformedLines += 1
    act(.send(ServerMessage.err(.bad, text).bytes()))
    if malformedLines >= Limits.malformedLines {
      close(.malformed, "\(Limits.malformedLines) lines were not messages", act)
    }
  }

  /// Sends heartbeats, and closes the connection of a silent peer. Call it about once a second.
  package mutating func tick(now: Int64, _ act: (Action) -> Void) {
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

  private mutating func close(_ code: ByeCode, _ text: String, re: String? = nil, _ act: (Action) -> Void) {
    state = .closed
    act(.close(code, text, re: re))
  }
}
