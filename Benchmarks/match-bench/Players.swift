import Foundation
import Histogram
import MatchProtocol
import NIOCore
import TicTacToe

/// Plays many matches at once, as fast as the server answers or at a given pace: rematches with sides swapped, or against new opponents.
final class Players: @unchecked Sendable {  // confined to the one event loop of the load
  /// A game drawn in nine moves.
  private static let cells = ["b2", "a3", "c3", "a1", "a2", "c2", "b3", "b1", "c1"]

  /// `seq` is the number of the move's event in the game's log.
  struct Answer {
    let game: Int
    let ply: Int
    let seq: Int
  }

  private final class Seat {
    var game = -1
    var side = 0
    var ply = 0
  }

  let loop: any EventLoop
  private var seats: [Seat] = []
  private var links: [Link] = []
  private var numbers: [String: Int] = [:]
  /// The games' ids in starting order.
  private(set) var games: [String] = []
  /// The state hash in each game's last `end` event; empty before the first.
  private(set) var shown: [String] = []
  private(set) var answers: [Answer] = []
  /// Moves that arrived at the opponents.
  private(set) var moves = 0
  private(set) var refusals: [String] = []
  /// Nanoseconds from a move's due time to its arrival at the opponent; recorded only if `pace` is set.
  private(set) var latency = Histogram<UInt32>(
    highestTrackableValue: 60_000_000_000, numberOfSignificantValueDigits: .three)
  /// Nanoseconds from a move's due time until it was sent: the part of `latency` that this program causes.
  private(set) var lateness = Histogram<UInt32>(
    highestTrackableValue: 60_000_000_000, numberOfSignificantValueDigits: .three)
  /// Nanoseconds from the mover's acknowledgement until the opponent, on another node, receives the move; 0 if the opponent is first.
  private(set) var passage = Histogram<UInt32>(
    highestTrackableValue: 60_000_000_000, numberOfSignificantValueDigits: .three)
  /// For each game, whether the mover or the opponent learnt of the latest move first, on which node, and when.
  private var first: [Int: (ply: Int, node: Int, isMover: Bool, at: UInt64)] = [:]
  private var nodes = 1
  /// When each game's current move is due, in monotonic nanoseconds; 0 before the first move.
  private var due: [UInt64] = []
  private let pace: UInt64?
  private let keepsNeighbours: Bool
  /// The code of the tournament that the players enter; empty to seek games without a tournament; `nil` to play rematches.
  private let tournament: String?
  private var seeks = 0
  private var isOver = false

  /// `pace`: nanoseconds between a match's moves. `keepsNeighbours`: players 0 and 1, 2 and 3, … play each other, in at most 3,000 matches.
  init(_ loop: any EventLoop, pace: UInt64? = nil, keepsNeighbours: Bool = false, tournament: String? = nil) {
    (self.loop, self.pace, self.keepsNeighbours, self.tournament) = (loop, pace, keepsNeighbours, tournament)
  }

  var lines: Int { links.reduce(0) { $0 + $1.lines } }
  var bytes: Int { links.reduce(0) { $0 + $1.bytes } }

  func join(_ matches: Int, ports: [Int]) throws {
    try loop.submit {
      self.nodes = ports.count
      for _ in 0..<(matches * 2) { self.seats.append(Seat()) }
    }.wait()
    let links = try Link.open(matches * 2, ports: ports, on: loop) { i, link in
      link.onLine = { self.take($0, i, link) }
    }
    try loop.submit { self.links = links }.wait()
  }

  func clearLatency() {
    latency.reset()
    lateness.reset()
    passage.reset()
  }

  func stop() { isOver = true }

  private func take(_ line: UnsafeRawBufferPointer, _ i: Int, _ link: Link) {
    if line.has(#"{"t":"event","m":""#) { return event(line, i, link) }
    let seat = seats[i]
    if line.has(#"{"t":"ok","re":"m"#) {
      guard let seq = line.after(#""seq":"#, from: 17) else { return }
      let ply = line.number(at: 17)
      answers.append(Answer(game: seat.game, ply: ply, seq: line.number(at: seq)))
      told(i, ply, isMover: true)
    } else if line.has(#"{"t":"paired","m":""#) {
      let name = line.word(at: 19)
      seat.side = line.has(#"","side":"x"#, at: 19 + name.utf8.count) ? 0 : 1
      seat.ply = 0
      seat.game = numbers[name] ?? begin(name)
    } else if line.has(#"{"t":"state","m":""#) {
      // A server of a cluster may announce a new match by a `state` line instead of a `start` event.
      if seat.side == 0, seat.ply == 0, seat.game >= 0, line.after(#""moves":[]"#, from: 40) != nil { move(i, link) }
    } else if line.has(#"{"t":"ping""#) {
      link.send("{\"t\":\"pong\",\"ts\":\(line.number(at: 17))}\n")
    } else if line.has(#"{"t":"hello""#) {
      let caps = tournament == nil ? "" : #","caps":["event"]"#
      link.send("{\"t\":\"hello\",\"v\":[1],\"client\":\"match-bench\"\(caps)}\n")
    } else if line.has(#"{"t":"welcome""#) {
      if let tournament {
        guard !tournament.isEmpty else { return seekAny(link) }
        return link.send(#"{"t":"tournament","id":"enter","op":"enter","code":"\#(tournament)"}"# + "\n")
      }
      // The server pairs players with equal clocks; each pair of neighbours has its own, such as 3599+0.
      let clock = keepsNeighbours ? 3600 - i / 2 : 3600
      link.send("{\"t\":\"seek\",\"clock\":\"\(clock)+0\",\"rated\":false,\"key\":\"k\"}\n")
    } else if line.has(#"{"t":"tournament","re":"enter""#) {
      seekAny(link)
    } else if line.has(#"{"t":"err""#) || line.has(#"{"t":"bye""#) {
      refusals.append(String(decoding: line, as: UTF8.self))
    }
  }

  private func seekAny(_ link: Link) {
    guard !isOver, let tournament else { return }
    seeks += 1
    let terms = tournament.isEmpty ? #""clock":"20+1","rated":false"# : #""tournament":"\#(tournament)""#
    link.send(#"{"t":"seek",\#(terms),"key":"k\#(seeks)"}"# + "\n")
  }

  private func begin(_ name: String) -> Int {
    numbers[name] = games.count
    games.append(name)
    shown.append("")
    due.append(0)
    return games.count - 1
  }

  private func event(_ line: UnsafeRawBufferPointer, _ i: Int, _ link: Link) {
    guard let body = line.after(#""body":{"k":""#, from: 40) else { return }
    let seat = seats[i]
    if line.has("move", at: body) {
      seat.ply += 1
      guard seat.ply & 1 == seat.side else { return }
      moves += 1
      if pace != nil { latency.record(steadyNanoseconds() - due[seat.game]) }
      told(i, seat.ply - 1, isMover: false)
      if seat.ply < 9 { move(i, link) }
    } else if line.has("start", at: body) {
      if seat.side == 0 { move(i, link) }
    } else if line.has("end", at: body) {
      if let hash = line.after(#""hash":""#, from: 30) { shown[seat.game] = line.word(at: hash) }
      guard !isOver else { return }
      guard tournament == nil else {
        loop.scheduleTask(in: .seconds(2)) { self.seekAny(link) }
        return
      }
      link.send("{\"t\":\"rematch\",\"m\":\"\(games[seat.game])\",\"mid\":\"again\"}\n")
    }
  }

  /// Records the time at which a player learnt of a move: the mover by the acknowledgement, the opponent by the event.
  private func told(_ i: Int, _ ply: Int, isMover: Bool) {
    guard pace != nil else { return }
    let (game, now) = (seats[i].game, steadyNanoseconds())
    if let before = first[game], before.ply == ply, before.isMover != isMover {
      first[game] = nil
      if before.node != i % nodes { passage.record(isMover ? 0 : now - before.at) }
    } else {
      first[game] = (ply, i % nodes, isMover, now)
    }
  }

  private func move(_ i: Int, _ link: Link) {
    let seat = seats[i]
    let line =
      "{\"t\":\"move\",\"id\":\"m\(seat.ply)\",\"m\":\"\(games[seat.game])\",\"ply\":\(seat.ply),\"cell\":\""
      + "\(Players.cells[seat.ply])\",\"mid\":\"p\(seat.ply)\"}\n"
    guard let pace else { return link.send(line) }
    // The next move is due `pace` after the move before was due, not after its arrival: else a slow server would slow the load.
    let now = steadyNanoseconds()
    let before = due[seat.game]
    let at = before == 0 ? now + UInt64.random(in: 0..<pace) : max(before + pace, now)
    due[seat.game] = at
    loop.scheduleTask(in: .nanoseconds(Int64(at - now))) {
      self.lateness.record(steadyNanoseconds() - at)
      link.send(line)
    }
  }

  // MARK: Checking the logs afterwards

  /// Compares each game's log with the events and acknowledgements received; returns the faults.
  func check() throws -> [String] {
    let work = Export(self, links)
    try loop.flatSubmit { work.start(self.loop) }.wait()
    return try loop.submit {
      work.compareAnswers()
      return work.faults
    }.wait()
  }
}

func steadyNanoseconds() -> UInt64 {
  var now = timespec()
  clock_gettime(CLOCK_MONOTONIC, &now)
  return UInt64(now.tv_sec) * 1_000_000_000 + UInt64(now.tv_nsec)
}
