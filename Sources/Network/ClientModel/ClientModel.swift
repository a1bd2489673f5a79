import Base
import MatchProtocol
import TicTacToe

/// The client as a pure state machine: it takes lines, commands and time, and returns lines and events.
///
/// After a reconnect it sends unanswered commands again with the same `mid`, by which the server recognises a command that it has carried
/// out already.
package struct ClientModel: Sendable {
  package struct Identity: Sendable, Hashable {
    /// The program's name for the server's log.
    package var client = "alina 1.0"
    /// An account's or guest's token.
    package var token: String?
    /// The registered name that `token` belongs to; `nil` if the token is a guest's.
    package var account: String?
    /// A token that the player has just entered. It is tried once, before the login that the client already has.
    package var newToken: String?
    /// A guest name to ask for.
    package var guest: String?
    /// The resume token of a session to continue.
    package var resume: String?
    package var isBot = false
    package init(
      client: String = "alina 1.0", token: String? = nil, newToken: String? = nil, guest: String? = nil,
      resume: String? = nil, isBot: Bool = false
    ) {
      (self.client, self.token, self.newToken, self.guest, self.resume) = (client, token, newToken, guest, resume)
      self.isBot = isBot
    }
  }

  /// The results of a call, which the owner of the model must carry out.
  package struct Output: Sendable {
    /// Lines to send, in order.
    package var lines: [[UInt8]] = []
    /// The events, each with its match as it was after the event.
    package var events: [(event: ClientEvent, match: MatchView?)] = []
    package var close = false
    /// Whether the resume token or the token changed, so that both should be saved.
    package var credentialsChanged = false
    /// Addresses of other nodes of the server, `HOST:PORT`.
    package var nodes: [String] = []
  }

  package private(set) var identity: Identity
  /// The matches that this client plays, watches or waits in, and finished matches until `forget` drops them.
  package private(set) var matches: [MatchID: MatchView] = [:]
  /// The answer to the last `hello`, while connected.
  package private(set) var welcome: ServerMessage.Welcome?
  /// The reason the client must not connect again.
  package private(set) var failure: ClientFailure?
  /// Milliseconds that the server asked the client to wait before reconnecting.
  package private(set) var retry: Int?

  private var random: Entropy
  private var nextID = 1
  private var helloID: String?
  /// Whether the server has refused a login since the last successful login.
  private var hasLostLogin = false
  /// Whether the server has refused the token, which is then not sent again.
  private var isTokenRefused = false
  /// Whether the server has refused the entered token, and the event `tokenRefused` has yet to be sent.
  private var isNewTokenRefused = false
  /// The messages without an answer so far.
  private(set) var outstanding: [ClientLine] = []
  package private(set) var currentSeek: ClientMessage.Seek?
  /// For each match, the id of the unanswered request for its missed events.
  private var syncing: [MatchID: String] = [:]
  /// The matches of which the server has sent events or the state on this connection.
  private var received: Set<MatchID> = []
  /// Requests that a busy server refused, and that are repeated at its next `ping`: for the states of matches, and to end the seek.
  private var stale: Set<MatchID> = []
  private var isUnseekPostponed = false
  private var watching: [MatchID: String?] = [:]
  /// The tournament that the client follows. Late notices of `leftTournament`, which the client left last, are ignored.
  package private(set) var tournament: TournamentView?
  private var leftTournament: String?
  /// The organiser's secrets that this client has, by the codes of the tournaments.
  private var secrets: [String: String] = [:]
  /// The id of the last request to follow the tournament. If a busy server refused the request, `isFollowPostponed` is set, and the request
  /// is repeated at the server's next `ping`.
  private var followID: String?
  private var isFollowPostponed = false

  /// Draws `mid`, `key` and `secret` at random, or in tests from `seed`.
  package init(_ identity: Identity, seed: UInt64? = nil) {
    self.identity = identity
    random = Entropy(seed: seed)
  }

  // MARK: the connection

  /// Starts a session on a new connection by sending `hello`.
  package mutating func connected() -> Output {
    var out = Output()
    (welcome, failure, retry) = (nil, nil, nil)
    syncing = [:]
    received = []
    let id = freshID()
    helloID = id
    let resume = identity.newToken == nil ? identity.resume : nil
    let token = identity.newToken ?? (resume == nil && !isTokenRefused ? identity.token : nil)
    let hello = ClientMessage.Hello(
      client: identity.client, caps: (identity.isBot ? ["bot"] : []) + ClientMessage.Hello.allCaps,
      token: token, guest: resume == nil && token == nil ? identity.guest : nil, resume: resume)
    out.lines.append(ClientLine(id: id, .hello(hello)).bytes)
    emit(.status(.connecting), &out)
    return out
  }

  /// Drops unanswered messages, except those that are sent again after a reconnect (`isSentAgain`).
  package mutating func disconnected() {
    welcome = nil
    outstanding.removeAll { !$0.message.isSentAgain }
    (stale, isUnseekPostponed, isFollowPostponed) = ([], false, false)
  }

  // MARK: commands

  /// The match's view shows a move at once. A move that is impossible now is ignored.
  package mutating func act(_ m: MatchID, _ action: MatchAction) -> Output {
    if case .move(let ply, let name) = action, let ply {
      guard let view = matches[m], view.canMove, let cell = view.state.terms.rules.cell(named: name.text) else {
        // The caller does not know the match's newest state yet, which is on its way.
        return Output()
      }
      matches[m]?.pending = .init(ply: ply, cell: cell)
    }
    return ask(.act(m, action, mid: freshMid()))
  }

  /// Sends a message. A message that changes something on the server is sent again after a reconnect.
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
    case .host(let terms, nil): message = .host(terms, secret: freshMid() + freshMid())
    case .tournament(var order):
      order.code = canonicalCode(order.code) ?? order.code
      if let secret = order.secret { secrets[order.code] = secret }
      if order.isOrganisers || order.operation == .follow { order.secret = secrets[order.code] }
      if order.code == leftTournament { leftTournament = nil }
      if [.leave, .unfollow].contains(order.operation) { (tournament, leftTournament) = (nil, order.code) }
      if [.pause, .leave, .unfollow].contains(order.operation), currentSeek?.terms.tournament == order.code {
        currentSeek = nil
      }
      message = .tournament(order)
    case .watch(let m, let code): watching[m] = .some(code)
    case .unwatch(let m): watching[m] = nil
    default: break
    }
    let line = ClientLine(id: freshID(), message)
    if welcome != nil || message.isSentAgain { outstanding.append(line) }
    if welcome != nil { out.lines.append(line.bytes) }
    return out
  }

  // MARK: messages from the server

  /// `line` has no line end. `now` is any monotonic clock in milliseconds.
  package mutating func receive(_ line: UnsafeRawBufferPointer, now: Int64) -> Output {
    var out = Output()
    let parsed: ServerLine
    do throws(ProtocolError) { parsed = try ServerLine(line) } catch {
      // Ignore an unknown message, which a newer server may send. A line that is not JSON shows that the peer is not a match server.
      if error.isMalformed {
        fail(.notServer, &out)
      }
      return out
    }
    switch parsed.message {
    case .greeting(_, let versions):
      if !versions.contains(where: protocolVersions.contains) { fail(.version(server: versions), &out) }
    case .welcome(let welcome): welcomed(welcome, &out)
    case .state(let state, let left, let you):
      takeAnswered(parsed.re)
      take(state, left, you, now, &out)
    case .event(let m, let seq, let hash, let body): take(m, seq, hash, body, now, &out)
    case .ok:
      // The server sends a chat line to everybody except its sender, so show the player's own line once the server has accepted it.
      let me = welcome?.you.name ?? ""
      switch takeAnswered(parsed.re) {
      case .say(let m?, let text): emit(.chat(m, from: me, text: text, emote: nil), &out)
      case .emote(let m?, let emote): emit(.chat(m, from: me, text: nil, emote: emote), &out)
      case .mute(let isOn): emit(.muted(isOn), &out)
      case .block(let name, let isOn): emit(.blocked(name, isOn), &out)
      case .report: emit(.reported, &out)
      default: break
      }
    case .err(let code, let text): refused(code, text, parsed, now, &out)
    case .queued(_, let waited, let bots):
      takeAnswered(parsed.re)
      if currentSeek != nil { emit(.queued(waited: waited, bots: bots), &out) }
    case .paired(let m, let side):
      currentSeek = nil
      takeAnswered(parsed.re)
      if matches[m] == nil {
        matches[m] = MatchView(state: MatchState(id: m), you: side)
        if parsed.re != nil { sync(m, &out) }
      }
      emit(.paired(m, side), &out)
    case .room(let m, let code, let expiresIn):
      takeAnswered(parsed.re)
      if matches[m] == nil { matches[m] = MatchView(state: MatchState(id: m), you: nil) }
      emit(.room(m, code: code, expiresIn: expiresIn), &out)
      sync(m, &out)
    case .gone(let m, let side, let claimIn):
      matches[m]?.claimableAt = now + Int64(claimIn)
      emit(.gone(m, side, claimIn: claimIn), &out)
    case .chat(let m, let from, let text, let emote): emit(.chat(m, from: from, text: text, emote: emote), &out)
    case .page(let of, let rows, let more):
      takeAnswered(parsed.re)
      emit(.page(of, rows: rows, more: more), &out)
    case .tournament(let notice):
      takeAnswered(parsed.re)
      if let secret = notice.secret { secrets[notice.code] = secret }
      // Ignore a notice that the server sent before `unfollow` arrived.
      let isOpen = tournament?.code == notice.code
      guard isOpen || parsed.re != nil && notice.code != leftTournament else { break }
      if !isOpen { tournament = TournamentView(code: notice.code) }
      tournament?.take(notice, now, secret: secrets[notice.code])
      tellTournament(&out)
    case .standings(let code, let rows, let isWhole):
      guard tournament?.code == code else { break }
      tournament?.take(rows, isWhole: isWhole)
      tellTournament(&out)
    case .token(let token, let name):
      takeAnswered(parsed.re)
      (identity.token, identity.account, isTokenRefused) = (token, name, false)
      out.credentialsChanged = true
      emit(.registered(name: name), &out)
    case .ping(let ts):
      out.lines.append(ClientLine(.pong(ts)).bytes)
      for m in stale.sorted() { sync(m, &out) }
      if isUnseekPostponed { out.lines += ask(.unseek).lines }
      (stale, isUnseekPostponed) = ([], false)
      if isFollowPostponed { followAgain(&out) }
    case .pong, .help: break
    case .nodes(let addresses): out.nodes = addresses
    case .drain(let milliseconds):
      retry = milliseconds
      emit(.draining(retry: milliseconds), &out)
    case .bye(let code, let text, let milliseconds): bye(code, text, milliseconds, &out)
    }
    return out
  }

  private func emit(_ event: ClientEvent, _ out: inout Output) {
    out.events.append((event, event.match.flatMap { matches[$0] }))
  }

  /// Asks again to follow the tournament: on a new connection, or after a busy server has refused the request.
  private mutating func followAgain(_ out: inout Output) {
    guard let code = tournament?.code else { return }
    let id = freshID()
    (followID, isFollowPostponed) = (id, false)
    out.lines.append(ClientLine(id: id, .tournament(TournamentOrder(.follow, code, secret: secrets[code]))).bytes)
  }

  private func tellTournament(_ out: inout Output) {
    if let tournament { emit(.tournament(tournament), &out) }
  }

  private mutating func welcomed(_ welcome: ServerMessage.Welcome, _ out: inout Output) {
    self.welcome = welcome
    identity.resume = welcome.resume
    if let token = identity.newToken {
      (identity.token, identity.account, identity.newToken, isTokenRefused) = (token, nil, nil, false)
    }
    let isNewGuest = hasLostLogin && welcome.token != nil
    hasLostLogin = false
    if welcome.you.guest {
      // Keep the name: if the guest account expires, the client asks for a new one with the same name.
      identity.guest = String(welcome.you.name.dropFirst("guest-".count))
      // The server sends a token only to a new guest. If the client has the token of a registered account, keep this token: the server may
      // accept it again later.
      if let token = welcome.token, identity.account == nil || identity.token == nil {
        (identity.token, identity.account, isTokenRefused) = (token, nil, false)
      }
    } else {
      identity.account = welcome.you.name
    }
    out.credentialsChanged = true
    out.nodes = welcome.nodes
    emit(.status(.online(welcome)), &out)
    if isNewGuest { becameGuest(&out) }
    if isNewTokenRefused { emit(.tokenRefused, &out) }
    isNewTokenRefused = false
    // Any message shows the server that its new resume token has arrived. Send `me` if no other message follows.
    if outstanding.isEmpty, currentSeek == nil, watching.isEmpty, tournament == nil,
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
    followAgain(&out)
    for waiting in outstanding { out.lines.append(waiting.bytes) }
    if let currentSeek { out.lines += ask(.seek(currentSeek)).lines }
  }

  /// Drops the unanswered commands and messages of the previous account.
  private mutating func becameGuest(_ out: inout Output) {
    outstanding.removeAll { line in
      switch line.message {
      case .act, .say, .emote, .report: true
      default: false
      }
    }
    for m in matches.filter({ $0.value.you != nil && $0.value.state.phase != .over }).keys.sorted() { lost(m, &out) }
    emit(.becameGuest(login: identity.account), &out)
  }

  private mutating func lost(_ m: MatchID, _ out: inout Output) {
    (matches[m], watching[m]) = (nil, nil)
    emit(.lost(m), &out)
  }

  private mutating func take(_ state: MatchState, _ left: Int?, _ you: Player?, _ now: Int64, _ out: inout Output) {
    syncing[state.id] = nil
    // A node may lack the last events that another node has sent: ignore a connection's first state if the client has more events. A later
    // state with fewer events is a correction by the server.
    let isFirst = received.insert(state.id).inserted
    if isFirst, let known = matches[state.id], known.state.seq > state.seq { return }
    var view = matches[state.id] ?? MatchView(state: state, you: you)
    view.state = state
    view.you = you ?? view.you
    view.left = left
    view.leftAt = now
    if let pending = view.pending, pending.ply < state.position.plies || state.phase == .over { view.pending = nil }
    if let you = view.you, !state.away[you.opponent] { view.claimableAt = nil }
    matches[state.id] = view
    emit(.state(state.id), &out)
  }

  private mutating func take(
    _ m: MatchID, _ seq: Int, _ hash: String, _ body: [UInt8], _ now: Int64, _ out: inout Output
  ) {
    var view = matches[m] ?? MatchView(state: MatchState(id: m), you: nil)
    guard seq > view.state.seq else { return }
    var next = view.state
    guard seq == next.seq + 1, let fields = try? JSONObject(line: body, with: "k").withoutControls,
      let event = try? MatchEvent(fields), (try? next.append(event, body: body)) != nil, next.hash.short == hash
    else { return sync(m, &out) }
    if case .start(let players, _, _, _, _, _) = event.kind, view.you == nil, let name = welcome?.you.name {
      view.you = Player.allCases.first { players[$0].name == name && !(players.x.name == players.o.name) }
    }
    view.state = next
    // An event without clocks, such as a draw offer or an absence, leaves the running clock as it is.
    if event.clocks != nil || next.phase != .live || view.left == nil {
      view.left = next.phase == .live ? next.clocks?[next.turn] : nil
      view.leftAt = now
    }
    if let pending = view.pending, pending.ply < next.position.plies || next.phase == .over { view.pending = nil }
    if case .back = event.kind, event.side != view.you { view.claimableAt = nil }
    matches[m] = view
    received.insert(m)
    if case .rematch(let match?) = event.kind, matches[match] == nil, let you = view.you {
      matches[match] = MatchView(state: MatchState(id: match), you: you.opponent)
    }
    emit(.event(m, seq: seq, event), &out)
  }

  /// Asks for the missed events of a match, unless an earlier request for them is unanswered.
  private mutating func sync(_ m: MatchID, _ out: inout Output) {
    guard welcome != nil, syncing[m] == nil else { return }
    let id = freshID()
    syncing[m] = id
    if watching[m] != nil {
      out.lines.append(ClientLine(id: id, .watch(m, code: watching[m] ?? nil)).bytes)
    } else {
      // Request all events from the first one, as the client's own state may be wrong.
      out.lines.append(ClientLine(id: id, .sync(m, seq: 0)).bytes)
    }
  }

  private mutating func refused(
    _ code: ErrorCode, _ text: String, _ line: ServerLine, _ now: Int64, _ out: inout Output
  ) {
    if line.re == helloID { return helloRefused(code, &out) }
    if let followID, line.re == followID {
      isFollowPostponed = code.isPassing
      if code.isPassing { return }
      tournament = nil
    }
    if let m = syncing.first(where: { $0.value == line.re })?.key { return syncRefused(code, m, &out) }
    var asked = outstanding.first { $0.id == line.re }?.message
    // Without `re`, these codes mean that the server has ended the waiting seek.
    if line.re == nil, code == .midReused || code == .occupied || code == .over {
      asked = currentSeek.map { .seek($0) }
    }
    // A stopping server refuses every message. Keep the message for the next server, except a command in a match: the player may decide
    // differently by then.
    if code == .draining, asked?.isAct == false { return }
    takeAnswered(line.re)
    if case .state(let state, let left, let you)? = line.state { take(state, left, you, now, &out) }
    switch asked {
    case .act(let m?, let action, _):
      if case .move(_, let cell) = action {
        matches[m]?.pending = nil
        emit(.moveRejected(m, cell, code, text), &out)
      } else {
        emit(.refused(code, text, asked), &out)
      }
      if line.state == nil, !code.isPassing { sync(m, &out) }
    case .seek(let seek):
      if currentSeek?.key == seek.key { currentSeek = nil }
      emit(.refused(code, text, asked), &out)
    case .unseek: isUnseekPostponed = code.isPassing
    case .watch(let m, _) where code.isPassing && watching[m] != nil: stale.insert(m)
    case .watch(let m, _):
      watching[m] = nil
      emit(.refused(code, text, asked), &out)
    // The program repeats `list` and `me` by itself, and `unwatch` needs no answer.
    case .list, .me, .unwatch: break
    default: emit(.refused(code, text, asked), &out)
    }
  }

  private mutating func helloRefused(_ code: ErrorCode, _ out: inout Output) {
    switch code {
    case .auth where identity.newToken != nil:
      (identity.newToken, isNewTokenRefused) = (nil, true)
      out.close = true
    case .auth:
      if identity.resume != nil {
        // Log in again without the refused resume token: the account's token may still be valid.
        identity.resume = nil
      } else if identity.token != nil, !isTokenRefused {
        isTokenRefused = true
        if identity.account == nil { identity.token = nil }
      } else {
        return fail(.notAccepted, &out)
      }
      hasLostLogin = true
      out.credentialsChanged = true
      out.close = true
    case .version: fail(.version(server: []), &out)
    // After this refusal the server sends `bye`, which says how long the client must wait.
    case .busy, .rate: break
    default: out.close = true
    }
  }

  private mutating func syncRefused(_ code: ErrorCode, _ m: MatchID, _ out: inout Output) {
    syncing[m] = nil
    if code.isPassing { stale.insert(m) } else { lost(m, &out) }
  }

  private mutating func bye(_ code: ByeCode, _ text: String, _ milliseconds: Int?, _ out: inout Output) {
    out.close = true
    switch code {
    case .restart, .slow, .timeout, .full: retry = milliseconds
    case .replaced: fail(.replaced, &out)
    case .banned: fail(.banned, &out)
    // Connect again: the answer to the next `hello` shows whether the login is still valid.
    case .revoked, .bye: break
    case .malformed: fail(.malformed, &out)
    case .flood: fail(.flood, &out)
    }
  }

  private mutating func fail(_ reason: ClientFailure, _ out: inout Output) {
    failure = reason
    out.close = true
  }

  /// Removes and returns the unanswered message with the id `re`.
  @discardableResult
  private mutating func takeAnswered(_ re: String?) -> ClientMessage? {
    guard let re, let at = outstanding.firstIndex(where: { $0.id == re }) else { return nil }
    return outstanding.remove(at: at).message
  }

  private mutating func freshID() -> String {
    defer { nextID += 1 }
    return "c\(nextID)"
  }

  private mutating func freshMid() -> String { crockford(bits: random.next(), count: 12, lowercase: true) }

  package mutating func forget(_ m: MatchID) {
    guard matches[m]?.state.phase == .over else { return }
    matches[m] = nil
    watching[m] = nil
  }
}
