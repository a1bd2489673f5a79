import ClientModel
import WindowLogic
import MatchProtocol
import Play
import TicTacToe

/// A connection to the match server over the page's WebSocket, with one line per text message. Reconnects by itself.
final class WebConnection {
  private var model: ClientModel
  private var inbox: [(event: ClientEvent, match: MatchView?)] = [(.status(.connecting), nil)]
  private var isUp = false
  private var isWanted = true
  private var tries = 0
  private var problem: ConnectionProblem?
  /// By the clock `milliseconds`: since when the socket is being opened, when to connect again, and when the server's last message came.
  private var openingSince: Int64?
  private var retryAt: Int64?
  private var heard: Int64 = 0

  private static let credentials = "data/credentials"
  /// The longest time in milliseconds for opening a socket. Browsers wait up to two minutes if the network drops all packets.
  private static let longestOpening: Int64 = 10_000

  init(name: String?, newToken: String?) {
    var identity = ClientModel.Identity(client: "alina web", newToken: newToken, guest: name)
    var saved: [String: String] = [:]
    for line in Page.text(.file, WebConnection.credentials).split(separator: "\n") {
      let words = line.split(separator: " ")
      if words.count == 2 { saved[String(words[0])] = String(words[1]) }
    }
    (identity.token, identity.account, identity.resume) = (saved["token"], saved["account"], saved["resume"])
    identity.guest = identity.guest ?? saved["guest"]
    model = ClientModel(identity)
    open()
  }

  static var milliseconds: Int64 { Int64(scriptNow() * 1_000) }

  var connection: Connection {
    Connection(
      poll: { self.poll() }, match: { self.model.matches[$0] },
      perform: { self.carryOut(self.model.perform($0)) },
      disconnect: { self.close() })
  }

  private func open() {
    openingSince = WebConnection.milliseconds
    Page.tell(.open)
  }

  private func poll() -> [(event: ClientEvent, match: MatchView?)] {
    let now = WebConnection.milliseconds
    if let at = retryAt, now >= at, isWanted {
      retryAt = nil
      inbox.append((.status(.connecting), nil))
      open()
    }
    if let since = openingSince, now - since > WebConnection.longestOpening {
      Page.tell(.close)
      cameDown("")
    }
    if isUp {
      let silence = now - heard
      if silence > Int64(Limits.serverSilence) {
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
    (openingSince, retryAt) = (nil, nil)
    if isUp { send([ClientLine(.bye).bytes]) }
    Page.tell(.close)
    isUp = false
    model.disconnected()
    inbox.append((.status(.closed), nil))
  }

  // MARK: Events of the socket

  func cameUp() {
    isUp = true
    openingSince = nil
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
    openingSince = nil
    model.disconnected()
    guard isWanted else { return }
    if wasUp, let failure = model.failure {
      isWanted = false
      return inbox.append((.status(.failed(failure)), nil))
    }
    // The wait that the server asked for has passed once, so it does not count again if a socket cannot be opened.
    let wait = ClientModel.pause(after: tries, asked: wasUp ? model.retry ?? 0 : 0)
    tries += 1
    retryAt = WebConnection.milliseconds + Int64(wait)
    let reason = problem ?? (wasUp ? .lost : .unreachable(Page.text(.host)))
    problem = nil
    inbox.append((.status(.waiting(milliseconds: wait, reason: reason)), nil))
  }

  // MARK: Output

  private func carryOut(_ output: ClientModel.Output) {
    send(output.lines)
    for case (.status(.online), _) in output.events { tries = 0 }
    if output.credentialsChanged {
      let identity = model.identity
      let words = [
        ("token", identity.token), ("account", identity.account), ("guest", identity.guest),
        ("resume", identity.resume),
      ]
      let text = words.compactMap { name, value in value.map { "\(name) \($0)\n" } }.joined()
      if !Page.write(WebConnection.credentials, Array(text.utf8)) { inbox.append((.loginNotSaved, nil)) }
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
      // Each line is a WebSocket message of its own.
      Page.tell(.send, String(decoding: line.last == 10 ? line.dropLast() : line[...], as: UTF8.self))
    }
  }
}
