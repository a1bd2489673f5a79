import Foundation
import Opponents
import TicTacToe

/// Plays the games of a wave on several threads and hands them out in order of their index.
///
/// The wave is cut into chunks of whole rounds. Games that anyone may play at any time are taken chunk by chunk by the
/// worker threads; the games of a pairing in which someone learns are a lane that is played in order, by one thread at a
/// time; pairings with engines have threads of their own, so that an engine that hangs holds up nobody else.
final class WaveRunner: @unchecked Sendable {
  /// Games of one chunk, filled in part by part.
  private final class Chunk {
    var games: [PackedGame?]
    var reasons: [Int: String] = [:]
    var partsLeft: Int

    init(count: Int, parts: Int) {
      games = .init(repeating: nil, count: count)
      partsLeft = parts
    }
  }

  /// Pairings whose games are played under one rule of order.
  private final class Lane {
    let pairings: [Int]
    let isSerial: Bool
    /// Whether its games are handed over some at a time.
    let isGathered: Bool
    var nextChunk: Int
    var isBusy = false
    /// When its games were handed over last, in milliseconds.
    var lastCall = 0.0

    init(pairings: [Int], isSerial: Bool, isGathered: Bool, nextChunk: Int) {
      (self.pairings, self.isSerial, self.isGathered, self.nextChunk) = (pairings, isSerial, isGathered, nextChunk)
    }
  }

  /// What the games of a chunk come out as.
  struct Finished {
    var firstOffset: Int
    var games: [PackedGame]
    var reasons: [Int: String]
  }

  /// Milliseconds for which the games of an engine may wait to be written.
  private static let gathering = 5.0

  private let wave: Wave
  private let players: PlayerPool
  private let roundsPerChunk: Int
  private let chunkCount: Int
  private let firstOffset: Int
  private let condition = NSCondition()
  private let lanes: [Lane]
  private let groups: [[Int]]
  private var chunks: [Int: Chunk] = [:]
  private var emitted: Int
  private var isCancelled = false
  private var running = 0
  /// Chunks that may be ahead of the one that is due; 16 million games.
  private let window: Int

  /// Prepares a wave of which the first `firstOffset` games are known already.
  init(wave: Wave, players: PlayerPool, firstOffset: Int) {
    (self.wave, self.players, self.firstOffset) = (wave, players, firstOffset)
    let configuration = players.configuration
    var kinds: [[Int]] = [[], []]
    var serial: [(pairing: Int, hasEngine: Bool)] = []
    var isSlow = false
    for (number, pairing) in wave.pairings.enumerated() {
      let specs = [pairing.a, pairing.b].map { configuration.entrants[$0].spec }
      let hasEngine = specs.contains(where: \.isEngine)
      isSlow = isSlow || hasEngine || specs.contains { if case .mcts = $0 { true } else { false } }
      if specs.contains(where: \.isLearner), !configuration.isFrozen {
        serial.append((number, hasEngine))
      } else {
        kinds[hasEngine ? 1 : 0].append(number)
      }
    }
    let pairs = wave.pairings.count
    roundsPerChunk = isSlow ? 1 : max(1, min(4096 / pairs, wave.rounds))
    chunkCount = (wave.rounds + roundsPerChunk - 1) / roundsPerChunk
    window = max(64, (1 << 24) / (roundsPerChunk * pairs * 2))
    let firstChunk = firstOffset / (roundsPerChunk * pairs * 2)
    emitted = firstChunk
    var lanes: [Lane] = []
    // The worker threads' lanes first, then one group of threads for each engine pairing.
    var groups: [[Int]] = [[]]
    func add(_ pairings: [Int], isSerial: Bool, group: Int) {
      groups[group].append(lanes.count)
      let isGathered = group > 0 && !isSerial
      lanes.append(Lane(pairings: pairings, isSerial: isSerial, isGathered: isGathered, nextChunk: firstChunk))
    }
    if !kinds[0].isEmpty { add(kinds[0], isSerial: false, group: 0) }
    for lane in serial where !lane.hasEngine { add([lane.pairing], isSerial: true, group: 0) }
    for pairing in kinds[1] {
      groups.append([])
      add([pairing], isSerial: false, group: groups.count - 1)
    }
    for lane in serial where lane.hasEngine {
      groups.append([])
      add([lane.pairing], isSerial: true, group: groups.count - 1)
    }
    (self.lanes, self.groups) = (lanes, groups)
  }

  /// Plays the wave; `consume` gets the chunks in order and answers whether to go on. Returns whether all was played.
  func run(
    threads: Int, isInterrupted: () -> Bool, consume: (Finished) throws(ArenaError) -> Bool
  ) throws(ArenaError) -> Bool {
    guard emitted < chunkCount else { return true }
    for (number, group) in groups.enumerated() where !group.isEmpty {
      let count = number > 0 && lanes[group[0]].isSerial ? 1 : threads
      for _ in 0..<count {
        running += 1
        let thread = Thread { [self] in work(group) }
        thread.stackSize = 1 << 20
        thread.start()
      }
    }
    defer { finishThreads() }
    while emitted < chunkCount {
      condition.lock()
      while (chunks[emitted]?.partsLeft ?? 1) > 0, !isInterrupted() {
        _ = condition.wait(until: Date(timeIntervalSinceNow: 0.1))
      }
      let chunk = (chunks[emitted]?.partsLeft ?? 1) == 0 ? chunks.removeValue(forKey: emitted) : nil
      condition.unlock()
      guard let chunk else { return false }
      let begin = emitted * gamesPerChunk
      let from = max(begin, firstOffset)
      let finished = Finished(
        firstOffset: from, games: chunk.games[(from - begin)...].compactMap { $0 }, reasons: chunk.reasons)
      let goesOn = try consume(finished)
      condition.lock()
      emitted += 1
      condition.broadcast()
      condition.unlock()
      if !goesOn { return false }
    }
    return true
  }

  private var gamesPerChunk: Int { roundsPerChunk * wave.pairings.count * 2 }

  private func finishThreads() {
    condition.lock()
    isCancelled = true
    condition.broadcast()
    while running > 0 { condition.wait() }
    condition.unlock()
  }

  /// One thread: takes the earliest work of its lanes until there is none.
  private func work(_ group: [Int]) {
    let table = players.makeTable()
    condition.lock()
    while !isCancelled {
      let free = group.filter { lanes[$0].nextChunk < chunkCount && !(lanes[$0].isSerial && lanes[$0].isBusy) }
      guard let number = free.min(by: { lanes[$0].nextChunk < lanes[$1].nextChunk }) else {
        if group.allSatisfy({ lanes[$0].nextChunk >= chunkCount }) { break }
        condition.wait()
        continue
      }
      let lane = lanes[number]
      guard lane.nextChunk < emitted + window else {
        condition.wait()
        continue
      }
      let index = lane.nextChunk
      lane.nextChunk += 1
      lane.isBusy = true
      let size = min(gamesPerChunk, wave.games - index * gamesPerChunk)
      let chunk = chunks[index] ?? Chunk(count: size, parts: lanes.count)
      chunks[index] = chunk
      condition.unlock()
      let played = play(lane, index, size, table)
      condition.lock()
      for (offset, game) in played {
        chunk.games[offset] = game.packed
        if let reason = game.reason { chunk.reasons[index * gamesPerChunk + offset] = reason }
      }
      chunk.partsLeft -= 1
      lane.isBusy = false
      // Waking the thread that writes can take as long as a game of quick engines: it is called for some at a time.
      let now = monotonicMilliseconds()
      if !lane.isGathered || lane.nextChunk >= chunkCount || now - lane.lastCall >= WaveRunner.gathering {
        lane.lastCall = now
        condition.broadcast()
      }
    }
    table.stop()
    running -= 1
    condition.broadcast()
    condition.unlock()
  }

  private func play(_ lane: Lane, _ index: Int, _ size: Int, _ table: PlayerPool.Table) -> [(Int, PlayedGame)] {
    let begin = index * gamesPerChunk
    let count = wave.pairings.count
    let rounds = size / (2 * count)
    var result: [(Int, PlayedGame)] = []
    result.reserveCapacity(rounds * lane.pairings.count * 2)
    let seats = lane.pairings.map { table.seats(wave.pairings[$0]) }
    for round in 0..<rounds {
      if isCancelled { break }
      for (seat, pairing) in zip(seats, lane.pairings) {
        for swapped in 0..<2 {
          let offset = (round * count + pairing) * 2 + swapped
          guard begin + offset >= firstOffset else { continue }
          let game = wave.game(begin + offset)
          var generator = SplitMix64(seed: players.configuration.seed, index: UInt64(game.index))
          let opening = players.configuration.openings.opening(pair: game.opening, seed: players.configuration.seed)
          let (x, o) = game.isSwapped ? (seat.b, seat.a) : (seat.a, seat.b)
          result.append((offset, playGame(x: x, o: o, opening: opening, using: &generator)))
          table.noteGame()
        }
      }
    }
    return result
  }
}
