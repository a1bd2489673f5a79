import ClientModel
import Desk
import MatchProtocol
import Play
import TicTacToe

/// A client model over the page's WebSocket: one text message is one line. It heals itself.
final class WebConnection {
  private var model: ClientModel
  private var inbox: [ClientEvent] = [.status(.connecting)]
  private var isUp = false
  private var isWanted = true
  private var tries = 0
  private var problem: ConnectionProblem?
  /// When to try again, and when the server was last heard, in the clock of matches.
  private var retryAt: Int64?
  private var heard: Int64 = 0
  private let pause: (Int) -> Int

  private static let credentials = "data/credentials"
  private static let longestPause = 8_000

  /// Goes to the server that the page came from; `pause` gives a random number under its argument.
  init(guest: String?, seed: UInt64, pause: @escaping (Int) -> Int) {
    var identity = ClientModel.Identity(client: "alina web", guest: guest)
    let lines = String(decoding: Page.ask(.file, WebConnection.credentials) ?? [], as: UTF8.self).split(separator: "\n")
    for line in lines {
      let words = line.split(separator: " ")
      guard words.count == 2 else { continue }
      if words[0] == "token" { identity.token = String(words[1]) }
      if words[0] == "resume" { identity.resume = String(words[1]) }
    }
    model = ClientModel(identity, seed: seed)
    self.pause = pause
    Page.tell(.open)
  }

  static var milliseconds: Int64 { Int64(scriptNow() * 1_000) }

  /// The connection as the game knows it.
  var connection: Connection {
    Connection(
      poll: { self.poll() }, match: { self.model.matches[$0] }, perform: { self.perform($0) },
      disconnect: { self.close() })
  }

  private func poll() -> [ClientEvent] {
    let now = WebConnection.milliseconds
    if let at = retryAt, now >= at, isWanted {
      retryAt = nil
      inbox.append(.status(.connecting))
      Page.tell(.open)
    }
    if isUp {
      let silence = now - heard
      if silence > Int64(Limits.silence) {
        problem = .silent
        Page.tell(.close)
        cameDown("")
      } else if silence > Int64(Limits.heartbeat), !hasPinged {
        hasPinged = true
        send([ClientLine(.ping(now)).bytes])
      }
    }
    defer { inbox = [] }
    return inbox
  }

  private var hasPinged = false

  private func close() {
    isWanted = false
    retryAt = nil
    if isUp { send([ClientLine(.bye).bytes]) }
    Page.tell(.close)
    isUp = false
    model.disconnected()
    inbox.append(.status(.closed))
  }

  // MARK: What the socket says

  func cameUp() {
    isUp = true
    (heard, hasPinged) = (WebConnection.milliseconds, false)
    carryOut(model.connected())
  }

  func received(_ line: [UInt8]) {
    (heard, hasPinged) = (WebConnection.milliseconds, false)
    line.withUnsafeBytes { carryOut(model.receive($0, now: heard)) }
  }

  func cameDown(_ words: String) {
    let wasUp = isUp
    isUp = false
    model.disconnected()
    guard isWanted else { return }
    if wasUp, let failure = model.failure {
      isWanted = false
      return inbox.append(.status(.failed(failure)))
    }
    let half = min(WebConnection.longestPause, 250 << min(tries, 5)) / 2
    let wait = max(model.retry ?? 0, half) + pause(half + 1)
    tries += 1
    retryAt = WebConnection.milliseconds + Int64(wait)
    let reason = problem ?? (wasUp ? .lost : .unreachable(Page.text(.address)))
    problem = nil
    inbox.append(.status(.waiting(milliseconds: wait, reason: reason)))
  }

  // MARK: Carrying out

  private func carryOut(_ output: ClientModel.Output) {
    send(output.lines)
    for case .status(.online) in output.events { tries = 0 }
    if output.credentialsChanged {
      let words = [("token", model.identity.token), ("resume", model.identity.resume)]
      let text = words.compactMap { name, value in value.map { "\(name) \($0)\n" } }.joined()
      _ = Page.write(WebConnection.credentials, Array(text.utf8))
    }
    inbox += output.events
    if output.close, isUp {
      if model.failure == nil, let retry = model.retry { problem = .asked(milliseconds: retry) }
      Page.tell(.close)
      cameDown("")
    }
  }

  private func send(_ lines: [[UInt8]]) {
    guard isUp else { return }
    for line in lines {
      // A message has no line end: the frame is the line.
      Page.tell(.send, String(decoding: line.last == 10 ? line.dropLast() : line[...], as: UTF8.self))
    }
  }

  private func perform(_ command: Command) {
    let now = WebConnection.milliseconds
    func ask(_ message: ClientMessage) { carryOut(model.ask(message)) }
    func act(_ m: MatchID, _ action: MatchAction) { carryOut(model.act(m, action, now: now)) }
    switch command {
    case .seek(let terms): ask(.seek(.init(terms, range: nil, bots: false, key: nil)))
    case .acceptBots:
      guard var seek = model.currentSeek else { return }
      seek.bots = true
      ask(.seek(seek))
    case .unseek: ask(.unseek)
    case .create(let terms): ask(.create(terms, key: nil))
    case .join(let code): ask(.join(code: code))
    case .watch(let m, let code): ask(.watch(m, code: code))
    case .unwatch(let m): ask(.unwatch(m))
    case .list: ask(.list)
    case .register(let name): ask(.register(name: name))
    case .forget(let m): model.forget(m)
    case .move(let m, let square):
      guard let view = model.matches[m] else { return }
      act(m, .move(ply: view.state.position.ply, cell: square))
    case .resign(let m): act(m, .resign)
    case .offerDraw(let m): act(m, .draw(.offer, offer: nil))
    case .answerDraw(let m, let accept):
      guard let offer = model.matches[m]?.state.offer else { return }
      act(m, .draw(accept ? .accept : .decline, offer: offer.seq))
    case .rematch(let m): act(m, .rematch)
    case .abort(let m): act(m, .abort)
    case .claim(let m): act(m, .claim)
    case .say(let m, let text): ask(.say(m, String(String.UnicodeScalarView(text.unicodeScalars.prefix(Limits.say)))))
    case .emote(let m, let emote): ask(.emote(m, emote))
    case .mute(let isMuted): ask(.mute(on: isMuted))
    case .block(let name, let isBlocked): ask(.block(name: name, on: isBlocked))
    case .report(let m, let text): ask(.report(m, text: text))
    }
  }
}
