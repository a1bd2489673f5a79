import MatchProtocol
import NIOCore
import TicTacToe

/// Fetches the log of every game, checks the log's hashes, and compares its end and moves with what the players received.
final class Export: @unchecked Sendable {  // confined to the one event loop of the load
  private let players: Players
  private let links: [Link]
  private var next = 0
  private var open = 0
  private var states: [MatchState?]
  private var mids: [[Int: Int]]
  private var done: EventLoopPromise<Void>?
  /// The game whose log each connection has requested; `nil` once no game is left.
  private var asked: [String?]
  private var answered = 0
  private(set) var faults: [String] = []

  init(_ players: Players, _ links: [Link]) {
    (self.players, self.links) = (players, links)
    states = players.games.map { MatchID(rawValue: $0).map { MatchState(id: $0) } }
    mids = .init(repeating: [:], count: states.count)
    asked = .init(repeating: nil, count: links.count)
  }

  func start(_ loop: any EventLoop) -> EventLoopFuture<Void> {
    let promise = loop.makePromise(of: Void.self)
    done = promise
    watch(loop, answered: 0)
    for (i, link) in links.enumerated() {
      open += 1
      var game = -1
      link.onLine = { [self] line in
        if line.has(#"{"t":"event""#) {
          fold(line, game)
        } else if line.has(#"{"t":"page""#) {
          finish(line, game)
          game = ask(link, i)
        } else if line.has(#"{"t":"ping""#) {
          link.send("{\"t\":\"pong\",\"ts\":\(line.number(at: 17))}\n")
        } else if line.has(#"{"t":"bye""#) {
          faults.append("sent away: \(String(decoding: line, as: UTF8.self))")
        } else if line.has(#"{"t":"err""#) {
          let text = String(decoding: line, as: UTF8.self)
          if text.contains(#""code":"busy""#) {
            loop.scheduleTask(in: .milliseconds(200)) { [self, game] in send(game, to: link) }
          } else {
            faults.append("export refused: \(text)")
            game = ask(link, i)
          }
        }
      }
      link.onEnd = { [self] in faults.append("connection \(i) ended, having asked for \(asked[i] ?? "nothing")") }
      game = ask(link, i)
    }
    return promise.futureResult
  }

  private func watch(_ loop: any EventLoop, answered before: Int) {
    loop.scheduleTask(in: .seconds(10)) { [self] in
      guard open > 0 else { return }
      guard answered == before else { return watch(loop, answered: answered) }
      faults += asked.compactMap { $0 }.map { "\($0): its export is not answered" }
      open = 0
      done?.succeed()
    }
  }

  private func ask(_ link: Link, _ i: Int) -> Int {
    if asked[i] != nil { answered += 1 }
    guard next < states.count else {
      asked[i] = nil
      open -= 1
      if open == 0 { done?.succeed() }
      return -1
    }
    defer { next += 1 }
    asked[i] = players.games[next]
    send(next, to: link)
    return next
  }

  private func send(_ game: Int, to link: Link) {
    link.send("{\"t\":\"export\",\"id\":\"x\",\"m\":\"\(players.games[game])\"}\n")
  }

  private func fold(_ line: UnsafeRawBufferPointer, _ game: Int) {
    guard game >= 0, let message = try? ServerLine(line),
      case .event(let m, let seq, let hash, let body) = message.message,
      m.rawValue == players.games[game]
    else { return }
    do throws(ProtocolError) {
      let event = try MatchEvent(body: body)
      try states[game]?.append(event, body: body)
      if let state = states[game], state.seq != seq || state.hash.short != hash {
        faults.append("\(m): seq \(seq) is not what its hash says")
      }
      if let mid = event.mid, mid.hasPrefix("p"), let ply = Int(mid.dropFirst()) {
        if mids[game].updateValue(seq, forKey: ply) != nil { faults.append("\(m): move \(ply) twice") }
      }
    } catch { faults.append("\(m) seq \(seq): \(error.message)") }
  }

  private func finish(_ line: UnsafeRawBufferPointer, _ game: Int) {
    guard game >= 0, let state = states[game] else { return }
    let shown = players.shown[game]
    if !shown.isEmpty, state.phase != .over { faults.append("\(state.id): its end was shown and is not there") }
    if line.after("\"hash\":\"", from: 0).map({ String(line.word(at: $0).prefix(32)) }) != state.hash.short {
      faults.append("\(state.id): the page's hash is not that of the log")
    }
    states[game] = nil
  }

  func compareAnswers() {
    for answer in players.answers where mids[answer.game][answer.ply] != answer.seq {
      faults.append("\(players.games[answer.game]): acknowledged move \(answer.ply) at \(answer.seq) is lost or moved")
    }
  }
}
