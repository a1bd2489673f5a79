import Base
import MatchProtocol
import TicTacToe

/// The client's end as a pure state machine: lines, commands and time in; lines and events out.
///
/// The model keeps what a lost connection must not lose: the session's resume token, the seek, and every command
/// without an answer. After a reconnect it sends each of these commands again with the same `mid`.
package struct ClientModel: Sendable {
  package struct Identity: Sendable, Hashable {
    /// The program's name for the server's log.
    package var client = "alina 1.0"
    /// An account's or guest's token.
    package var token: String?
    /// A guest name to ask for.
    package var guest: String?
    /// The resume token of a session to continue.
    package var resume: String?
    package var isBot = false
    package init(
      client: String = "alina 1.0", token: String? = nil, guest: String? = nil, resume: String? = nil,
      isBot: Bool = false
    ) {
      (self.client, self.token, self.guest, self.resume) = (client, token, guest, resume)
      self.isBot = isBot
    }
  }

  /// What the owner must do after a step.
  package struct Output: Sendable {
    /// Lines to send, in order.
    package var lines: [[UInt8]] = []
    package var events: [ClientEvent] = []
    package var close = false
    /// Whether `resume` or `token` changed and should be saved.
    package var credentialsChanged = false
    /// Addresses of other nodes of the server, `HOST:PORT`.
    package var nodes: [String] = []
  }

  package private(set) var identity: Identity
  /// The known matches, live and just over.
  package private(set) var matches: [MatchID: MatchView] = [:]
  /// The answer to the last `hello`, while connected.
  package private(set) var welcome: ServerMessage.Welcome?
  /// Why the client must not connect again.
  package private(set) var failure: ClientFailure?
  /// Milliseconds that the server asked the client to wait before it returns.
  package private(set) var retry: Int?

  private var random: SplitMix64
  private var nextID = 1
  private var helloID: String?
  /// Commands that are not answered.
  private(set) var outstanding: [ClientLine] = []
  /// The seek that is waiting, if there is one.
  package private(set) var currentSeek: ClientMessage.Seek?
  /// The line that asked for it last.
  private var seekID: String?
  /// The requests for missed events that are not answered, by their ids.
  private var syncing: [MatchID: String] = [:]
  private var watching: [MatchID: String?] = [:]

  /// Makes a model. Its ids come from `seed`; they must be unique for this client only.
  package init(_ identity: Identity, seed: UInt64) {
    self.identity = identity
    random = SplitMix64(seed: seed)
  }

  // MARK: the connection

  /// A connection is established: says hello.
  package mutating func connected() -> Output {
    var out = Output()
    (welcome, failure, retry) = (nil, nil, nil)
    syncing = [:]
    let id = freshID()
    helloID = id
    let hello = ClientMessage.Hello(
      client: identity.client, caps: (identity.isBot ? ["bot"] : []) + ["confirm"] + Variant.capabilities,
      token: identity.resume == nil ? identity.token : nil,
      guest: identity.resume == nil && identity.token == nil ? identity.guest : nil, resume: identity.resume)
    out.lines.append(ClientLine(id: id, .hello(hello)).bytes)
    out.events.append(.status(.connecting))
    return out
  }

  /// The connection ended. Commands without an answer are kept.
  package mutating func disconnected() { welcome = nil }

  // MARK: commands

  /// Sends a command and keeps it until it is answered. A move shows at once.
  package mutating func act(_ m: MatchID, _ action: MatchAction) -> Output {
    if case .move(let ply, let name) = action, let ply {
      guard let view = matches[m], view.canMove, let cell = view.state.terms.rules.cell(named: name.text) else {
        return Output()
      }
      matches[m]?.pending = .init(ply: ply, cell: cell)
    }
    return ask(.act(m, action, mid: freshMid()))
  }

  /// Sends any other message. Messages that change something are sent again after a reconnect.
  package mutating func ask(_ message: ClientMessage) -> Output {
    var out = Output()
    var message = message
    switch message {
    case .seek(var seek):
      if seek.key == nil { seek.key = freshMid() }
      currentSeek = seek
      message = .seek(seek)
    case .unseek: currentSeek = nil
    case .create(let terms, nil): message = .create(terms, key: freshMid())
    case .watch(let m, let code): watching[m] = .some(code)
    case .unwatch(let m): watching[m] = nil
    default: break
    }
    let line = ClientLine(id: freshID(), message)
    switch message {
    case .act, .create, .join, .register, .token, .mute, .block, .say, .emote:
      outstanding.append(line)
    case .seek: seekID = line.id
    default: break
    }
    if welcome != nil { out.lines.append(line.bytes) }
    return out
  }

  // MARK: what the server says

  /// Takes one line without its end. `now` is any steady clock in milliseconds.
  package mutating func receive(_ line: UnsafeRawBufferPointer, now: Int64) -> Output {
    var out = Output()
    let parsed: ServerLine
    do throws(ProtocolError) { parsed = try ServerLine(line) } catch {
      // A newer server may send messages that this build does not know. A peer that speaks no protocol at all is
      // refused.
      if error.isMalformed {
        failure = .refused(.malformed, "\(ClientFailure.isNoServer) (\(error.message))")
        out.close = true
      }
      return out
    }
    switch parsed.message {
    case .greeting(_, let versions):
      if !versions.contains(where: protocolVersions.contains) { fail(.version(server: versions), &out) }
    case .welcome(let welcome): welcomed(welcome, &out)
    case .state(let state, let left, let you): take(state, left, you, now, &out)
    case .event(let m, let seq, let hash, let body): take(m, seq, hash, body, now, &out)
    case .ok:
      let asked = outstanding.first { $0.id == parsed.re }?.message
      settle(parsed.re)
      // The client's own chat shows only after the server has taken it.
      let me = welcome?.you.name ?? ""
      if case .say(let m?, let text) = asked { out.events.append(.chat(m, from: me, text: text, emote: nil)) }
      if case .emote(let m?, let emote) = asked { out.events.append(.chat(m, from: me, text: nil, emote: emote)) }
    case .err(let code, let text): refused(code, text, parsed, now, &out)
    case .queued(_, let waited, let bots):
      if currentSeek != nil { out.events.append(.queued(waited: waited, bots: bots)) }
    case .paired(let m, let side, let confirmIn):
      currentSeek = nil
      settle(parsed.re)
      if confirmIn != nil { out.lines.append(ClientLine(id: freshID(), .confirm(m)).bytes) }
      out.events.append(.paired(m, side))
      if matches[m] == nil {
        matches[m] = MatchView(state: MatchState(id: m), you: side)
        if parsed.re != nil { sync(m, &out) }
      }
    case .room(let m, let code, let expiresIn):
      settle(parsed.re)
      if matches[m] == nil { matches[m] = MatchView(state: MatchState(id: m), you: nil) }
      out.events.append(.room(m, code: code, expiresIn: expiresIn))
      sync(m, &out)
    case .gone(let m, let side, let claimIn):
      matches[m]?.claimableAt = now + Int64(claimIn)
      out.events.append(.gone(m, side, claimIn: claimIn))
    case .chat(let m, let from, let text, let emote): out.events.append(.chat(m, from: from, text: text, emote: emote))
    case .page(let of, let rows, let more): out.events.append(.page(of, rows: rows, more: more))
    case .token(let token, let name):
      settle(parsed.re)
      identity.token = token
      out.credentialsChanged = true
      out.events.append(.registered(name: name))
    case .ping(let ts): out.lines.append(ClientLine(.pong(ts)).bytes)
    case .pong, .help: break
    case .nodes(let addresses): out.nodes = addresses
    case .drain(let milliseconds):
      retry = milliseconds
      out.events.append(.draining(retry: milliseconds))
    case .bye(let code, let text, let milliseconds): bye(code, text, milliseconds, &out)
    }
    return out
  }

  private mutating func welcomed(_ welcome: ServerMessage.Welcome, _ out: inout Output) {
    self.welcome = welcome
    identity.resume = welcome.resume
    if let token = welcome.token { identity.token = token }
    out.credentialsChanged = true
    out.nodes = welcome.nodes
    out.events.append(.status(.online(welcome)))
    // The first message on the new connection tells the server that its new resume token has arrived.
    if outstanding.isEmpty, currentSeek == nil, watching.isEmpty,
      !matches.values.contains(where: { $0.state.phase != .over })
    {
      out.lines.append(ClientLine(id: freshID(), .me).bytes)
    }
    for (m, view) in matches.sorted(by: { $0.key < $1.key }) where view.state.phase != .over {
      if !welcome.matches.contains(m), view.you != nil || view.state.phase == .open { sync(m, &out) }
    }
    for (m, code) in watching.sorted(by: { $0.key < $1.key }) {
      out.lines.append(ClientLine(id: freshID(), .watch(m, code: code)).bytes)
    }
    for waiting in outstanding { out.lines.append(waiting.bytes) }
    if let currentSeek { out.lines += ask(.seek(currentSeek)).lines }
  }

  private mutating func take(_ state: MatchState, _ left: Int?, _ you: Player?, _ now: Int64, _ out: inout Output) {
    syncing[state.id] = nil
    if let known = matches[state.id], known.state.seq > state.seq { return }
    var view = matches[state.id] ?? MatchView(state: state, you: you)
    view.state = state
    view.you = you ?? view.you
    view.left = left
    view.leftAt = now
    if let pending = view.pending, pending.ply < state.position.plies || state.phase == .over { view.pending = nil }
    if let you = view.you, !state.away[you.opponent] { view.claimableAt = nil }
    matches[state.id] = view
    out.events.append(.state(state.id))
  }

  private mutating func take(
    _ m: MatchID, _ seq: Int, _ hash: String, _ body: [UInt8], _ now: Int64, _ out: inout Output
  ) {
    var view = matches[m] ?? MatchView(state: MatchState(id: m), you: nil)
    guard seq > view.state.seq else { return }
    var next = view.state
    guard seq == next.seq + 1, let event = try? MatchEvent(body: body), (try? next.append(event, body: body)) != nil,
      next.hash.short == hash
    else { return sync(m, &out) }
    if case .start(let players, _, _, _, _, _) = event.kind, view.you == nil, let name = welcome?.you.name {
      view.you = Player.allCases.first { players[$0].name == name && !(players.x.name == players.o.name) }
    }
    view.state = next
    // Only an event that changes the clocks says how they stand. At an offer or an absence they keep running.
    if event.clocks != nil || next.phase != .live || view.left == nil {
      view.left = next.phase == .live ? next.clocks?[next.turn] : nil
      view.leftAt = now
    }
    if let pending = view.pending, pending.ply < next.position.plies || next.phase == .over { view.pending = nil }
    if case .back = event.kind, event.side != view.you { view.claimableAt = nil }
    matches[m] = view
    if case .rematch(let match?) = event.kind, matches[match] == nil, let you = view.you {
      matches[match] = MatchView(state: MatchState(id: match), you: you.opponent)
    }
    out.events.append(.event(m, seq: seq, event))
  }

  /// Asks for missed events, with one request at a time.
  private mutating func sync(_ m: MatchID, _ out: inout Output) {
    guard welcome != nil, syncing[m] == nil else { return }
    let id = freshID()
    syncing[m] = id
    if watching[m] != nil {
      out.lines.append(ClientLine(id: id, .watch(m, code: watching[m] ?? nil)).bytes)
    } else {
      // From the beginning, so that the answer is a whole state: the client's own may be wrong.
      out.lines.append(ClientLine(id: id, .sync(m, seq: 0)).bytes)
    }
  }

  private mutating func refused(
    _ code: ErrorCode, _ text: String, _ line: ServerLine, _ now: Int64, _ out: inout Output
  ) {
    if line.re == helloID {
      if code == .auth {
        // The resume token is too old; the account's token may still work.
        let hadResume = identity.resume != nil
        identity.resume = nil
        out.credentialsChanged = true
        if !hadResume || identity.token == nil { failure = hadResume && identity.token == nil ? nil : .notAccepted }
        if let failure { out.events.append(.status(.failed(failure))) }
        out.close = true
        return
      }
      if code == .version { return fail(.version(server: []), &out) }
    }
    // The next event that does not fit asks again.
    if let m = syncing.first(where: { $0.value == line.re })?.key { syncing[m] = nil }
    let asked = outstanding.first { $0.id == line.re }
    // What a stopping server refuses is asked of the next one, except what is done in a match: the player decides anew.
    if code != .draining {
      settle(line.re)
      if let id = line.re, id == seekID { currentSeek = nil }
    }
    if case .state(let state, let left, let you)? = line.state { take(state, left, you, now, &out) }
    guard case .act(let m?, let action, _)? = asked?.message else {
      switch asked?.message {
      case .say, .emote: out.events.append(.unsaid(code, text))
      default: out.events.append(.refused(code, text, nil))
      }
      return
    }
    settle(line.re)
    if case .move(_, let cell) = action {
      matches[m]?.pending = nil
      out.events.append(.movePutRight(m, cell, code, text))
      if line.state == nil { sync(m, &out) }
    } else {
      out.events.append(.refused(code, text, m))
    }
  }

  private mutating func bye(_ code: ByeCode, _ text: String, _ milliseconds: Int?, _ out: inout Output) {
    out.close = true
    switch code {
    case .restart, .slow, .timeout, .full: retry = milliseconds
    case .replaced: fail(.replaced, &out)
    case .banned: fail(.banned, &out)
    case .revoked: if identity.resume == nil, identity.token != nil { fail(.notAccepted, &out) }
    case .bye: break
    case .malformed, .flood: fail(.refused(code, text), &out)
    }
  }

  private mutating func fail(_ reason: ClientFailure, _ out: inout Output) {
    failure = reason
    out.events.append(.status(.failed(reason)))
    out.close = true
  }

  private mutating func settle(_ re: String?) {
    guard let re else { return }
    outstanding.removeAll { $0.id == re }
  }

  private mutating func freshID() -> String {
    defer { nextID += 1 }
    return "c\(nextID)"
  }

  private mutating func freshMid() -> String { crockford(bits: random.next(), count: 12, lowercase: true) }

  /// Forgets a match that is over.
  package mutating func forget(_ m: MatchID) {
    guard matches[m]?.state.phase == .over else { return }
    matches[m] = nil
    watching[m] = nil
  }
}
