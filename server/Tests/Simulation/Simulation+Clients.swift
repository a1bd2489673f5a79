import ClientModel
import MatchProtocol
import TicTacToe

@testable import Lobby
@testable import MatchStore

extension Simulation {
  // MARK: clients

  mutating func dial(_ i: Int) {
    guard clients[i].connection == nil, clients[i].model.failure == nil, !clients[i].isAbsent else { return }
    let home = random.below(nodes.count)
    guard nodes[home].lobby != nil, !isStopped(home) else {
      return queue.set(.dial(i), at: now + 200 + Int64(random.below(400)))
    }
    let id = nextConnection
    nextConnection += 1
    owner[id] = i
    homes[id] = home
    alive.insert(id)
    clients[i].connection = id
    clients[i].upAt = now
    clients[i].downAt = now
    count("connect")
    reduce(home, .connected(id, address: nil))
    carryOut(i, clients[i].model.connected())
    queue.set(.think(i), at: now + 30 + Int64(random.below(500)))
  }

  /// With `oldClients` one client in four says in `hello` that it speaks version 0.
  func spoken(_ line: ClientLine, by i: Int?) -> ClientLine {
    guard options.oldClients, let i, i % 4 == 3, case .hello(var hello) = line.message else { return line }
    hello.versions = [0]
    return ClientLine(id: line.id, .hello(hello))
  }

  /// The server may notice the lost connection much later, or never.
  mutating func lose(_ i: Int) {
    guard let id = clients[i].connection else { return }
    clients[i].connection = nil
    clients[i].model.disconnected()
    let late = random.below(3) == 0 ? 25_000 : 100
    queue.set(.serverHears(id), at: now + Int64(random.below(late)))
    if options.absences, clients[i].model.failure != nil { return giveUp(i) }
    queue.set(.dial(i), at: now + 20 + Int64(random.below(isCalm ? 200 : 3000)))
  }

  mutating func receive(_ i: Int, _ line: [UInt8]) {
    if let parsed = try? line.dropLast().withUnsafeBytes({ raw in try ServerLine(raw) }),
      case .ok(let m?, let seq?) = parsed.message, let re = parsed.re, let (asked, mid) = clients[i].mids[re],
      asked == m,
      let side = clients[i].model.matches[m]?.you
    {
      checker.acknowledged.insert(.init(m: m, side: side, mid: mid, seq: seq))
      count("ok")
    }
    let output = line.dropLast().withUnsafeBytes { raw in clients[i].model.receive(raw, now: now) }
    for (event, _) in output.events {
      switch event {
      case .room(_, let code, _): codes.append(code)
      case .tournament(let view):
        tournament = view.code
        // The organiser's program saves the secret, so that a reload does not lose it.
        if let secret = view.secret { organisersSecret = secret }
      case .event(let m, _, let event):
        count("saw \(event.name)")
        if isCalm, event.name == "end", clients[i].model.matches[m]?.you != nil { clients[i].hasPlayed = true }
      case .moveRejected: count("put right")
      case .becameGuest(let login?): checker.faults.append("\(login) could not log in after an absence")
      case .becameGuest: count("became a guest anew")
      default: break
      }
    }
    carryOut(i, output)
  }

  mutating func carryOut(_ i: Int, _ output: ClientModel.Output) {
    guard let id = clients[i].connection else { return }
    for line in output.lines {
      guard let parsed = try? line.dropLast().withUnsafeBytes({ raw in try ClientLine(raw) }) else {
        checker.faults.append("the client sent an invalid line: \(String(decoding: line, as: UTF8.self))")
        continue
      }
      if case .act(let m?, _, let mid?) = parsed.message, let re = parsed.id { clients[i].mids[re] = (m, mid) }
      if case .pong = parsed.message { continue }
      // If the connection ends first, the line may still arrive, and the client may send the same command again on its next connection.
      clients[i].upAt = max(clients[i].upAt, now + 1 + Int64(random.below(random.below(20) == 0 ? 600 : 40)))
      queue.set(.toServer(id, parsed), at: clients[i].upAt)
    }
    if output.close { lose(i) }
  }

  mutating func think(_ i: Int) {
    guard let id = clients[i].connection else { return }
    // Without faults, clients that have no move to make act rarely; otherwise they would take half of the run's time.
    let plays = clients[i].model.matches.values.contains { $0.canMove && $0.state.phase == .live }
    let within = isCalm ? plays ? 300 : 3000 : options.absences ? 5000 : 1500
    queue.set(.think(i), at: now + 50 + Int64(random.below(within)))
    if clients[i].model.welcome == nil { return }
    if options.hasHostile, i == 0, !isCalm, random.below(3) == 0 { attack(id) }
    guard clients[i].connection == id else { return }
    if options.cuts, !isCalm, random.below(25) == 0 {
      count("cut")
      return lose(i)
    }
    if options.cuts, !isCalm, random.below(120) == 0 {
      // The client reconnects while the server still holds the dropped connection.
      count("duplicate")
      clients[i].connection = nil
      clients[i].model.disconnected()
      _ = id
      return dial(i)
    }
    let live = clients[i].model.matches.values.filter { $0.state.phase == .live && $0.you != nil }.sorted {
      $0.state.id < $1.state.id
    }
    if options.absences, !isCalm, random.below(live.isEmpty ? 30 : 300) == 0 { return leave(i) }
    if let view = live.first, isCalm || random.below(10) > 0 { return play(i, view) }
    if !isCalm { return idle(i) }
    if options.hasTournament, i == 0, let tournament, !isTournamentFinished {
      carryOut(i, clients[i].model.perform(.tournament(.init(.end, tournament, secret: organisersSecret))))
    }
    guard options.absences else { return }
    let isOver = clients.allSatisfy(\.hasPlayed)
    let (terms, seek) = (MatchTerms(clock: TimeControl("10+0")), clients[i].model.currentSeek)
    // At the end of a soak test all clients seek the same game (`terms`), so a client withdraws any other seek.
    if isOver ? seek != nil : seek?.terms != terms {
      carryOut(i, clients[i].model.ask(seek == nil ? .seek(.init(terms, key: nil)) : .unseek))
    }
  }

  mutating func play(_ i: Int, _ view: MatchView) {
    let m = view.state.id
    let roll = random.below(100)
    var action: MatchAction?
    switch isCalm ? 0 : roll {
    case 0..<70:
      if view.canMove, let cell = pick(view.position.moves) {
        action = .move(ply: view.state.position.plies, cell: CellName(cell, in: view.state.terms.rules))
      } else if isCalm, view.claimableAt.map({ $0 < now }) ?? false {
        action = .claim
      }
    case 70..<73: action = .move(ply: random.below(9), cell: CellName(Cell(random.below(81)), in: .ultimate))
    case 73..<78: action = .draw(.offer, offer: nil)
    case 78..<82:
      if let offer = view.state.offer { action = .draw(random.below(2) == 0 ? .accept : .decline, offer: offer.seq) }
    case 82..<83: action = .resign
    case 83..<85: action = .abort
    case 85..<88: action = .claim
    case 88..<94: return carryOut(i, clients[i].model.ask(.say(m, "hm")))
    default: break
    }
    if let action { carryOut(i, clients[i].model.act(m, action)) }
  }

  mutating func idle(_ i: Int) {
    if options.hasTournament, options.reload != nil || random.below(2) == 0 { return takePart(i) }
    let isNamed = clients[i].model.welcome?.you.guest == false
    switch random.below(20) {
    case 0..<8:
      guard clients[i].model.currentSeek == nil else { return }
      var terms = [
        MatchTerms(clock: TimeControl("10+0")), MatchTerms(clock: TimeControl("10+0"), rated: true),
        MatchTerms(clock: nil),
      ][random.below(isNamed ? 2 : 1) + (random.below(8) == 0 && !isNamed ? 2 : 0)]
      terms.rules = rules()
      carryOut(i, clients[i].model.ask(.seek(.init(terms, key: nil))))
    case 8:
      let terms = MatchTerms(rules: rules(), clock: TimeControl("10+1"))
      carryOut(i, clients[i].model.ask(.create(terms, key: nil)))
    case 9..<11:
      guard !codes.isEmpty else { return }
      carryOut(i, clients[i].model.ask(.join(code: codes[random.below(codes.count)])))
    case 11: carryOut(i, clients[i].model.ask(.register(name: "Name\(i)_\(random.below(1000))")))
    case 12..<15:
      let over = clients[i].model.matches.values.filter { $0.state.phase == .over && $0.you != nil }.map(\.state.id)
        .sorted()
      if let m = over.last { carryOut(i, clients[i].model.act(m, .rematch)) }
    case 15:
      let questions: [ClientMessage] = [
        .top(.classic), .top(.ultimate), .me, .list, .history(nil, before: nil), .history(.ultimate, before: nil),
      ]
      carryOut(i, clients[i].model.ask(questions[random.below(questions.count)]))
    case 16:
      let known = clients.flatMap { $0.model.matches.keys }.sorted()
      if !known.isEmpty { carryOut(i, clients[i].model.ask(.watch(known[random.below(known.count)], code: nil))) }
    case 17: carryOut(i, clients[i].model.ask(.unseek))
    default: break
    }
  }

  // MARK: hostile input

  /// Sends up to 300 hostile lines: typed commands, JSON commands and incomplete JSON. The JSON commands name a match of any client, or a
  /// match that does not exist; many repeat a `mid` that the attacking client has used before.
  private mutating func attack(_ id: ConnectionID) {
    var gate = gates[id] ?? ServerSession(.init(), now: now)
    var text = gates[id] == nil ? "{\"t\":\"hello\",\"v\":[1],\"client\":\"sim\"}\n" : ""
    let lines = [1, 5, 30, 300][random.below(4)]
    let known = clients.flatMap { $0.model.matches.keys.map(\.rawValue) }.sorted() + ["0123456789ab", "x", "queue"]
    let used = clients[0].mids.values.map(\.1).sorted() + ["srv-3", "same"]
    for _ in 0..<lines { text += insult(known, used) + "\n" }
    count(lines == 300 ? "flood" : "attack")
    var (delivered, isOver) = ([ClientLine](), false)
    Array(text.utf8).withUnsafeBytes { raw in
      gate.receive(raw, now: now) { action in
        switch action {
        case .deliver(let line, _): if case .hello = line.message {} else { delivered.append(line) }
        case .close: isOver = true
        case .send: break
        }
      }
    }
    gates[id] = gate
    clients[0].upAt = max(clients[0].upAt, now + 1)
    for line in delivered { queue.set(.toServer(id, line), at: clients[0].upAt) }
    if isOver {
      count("shut out")
      lose(0)
    }
  }

  private mutating func insult(_ known: [String], _ used: [String]) -> String {
    let m = known[random.below(known.count)]
    let mid = (used + ["h\(random.below(9))"])[random.below(used.count + 1)]
    let cell = "\("abc".dropFirst(random.below(3)).first ?? "a")\(1 + random.below(3))"
    let act = "\"m\":\"\(m)\",\"mid\":\"\(mid)\""
    switch random.below(18) {
    case 0..<5: return "{\"t\":\"move\",\(act),\"ply\":\(random.below(9)),\"cell\":\"\(cell)\"}"
    case 5: return "move \(cell)"
    case 6:
      return
        " {\"t\":\"draw\",\(act),\"a\":\"\(random.below(2) == 0 ? "offer\"" : "accept\",\"offer\":\(random.below(9))")}"
    case 7: return "{\"t\":\"claim\",\(act)}"
    case 8: return "draw offer"
    case 9: return "{\"t\":\"rematch\",\(act),\"key\":\"k\"}"
    case 10: return "seek"
    case 11: return "{\"t\":\"seek\",\"key\":\"k\",\"clock\":\"10+0\",\"rated\":false}"
    case 12: return random.below(2) == 0 ? "unseek" : "create"
    case 13: return "join \(codes.isEmpty ? "AAAAAA" : codes[random.below(codes.count)])"
    case 14: return "{\"t\":\"sync\",\"m\":\"\(m)\",\"seq\":\(random.below(20))}"
    case 15: return ["me", "top", "list", "history", "help", "resign"][random.below(random.below(9) == 0 ? 6 : 5)]
    case 16: return "{\"t\":\"watch\",\"m\":\"\(m)\"}"
    default: return random.below(20) == 0 ? "{\"t\":" : "say hm"
    }
  }

  /// A random variant, mostly Classic, so that seeks for the same variant are frequent.
  mutating func rules() -> Variant { [.classic, .classic, .classic, .infinite, .misere, .ultimate][random.below(6)] }

  mutating func pick(_ moves: MoveSet) -> Cell? { moves.isEmpty ? nil : moves.randomCell(using: &random) }
}
