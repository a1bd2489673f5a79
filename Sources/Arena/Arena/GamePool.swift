import Base
import Foundation
import TicTacToe

/// Plays the games of a stage on several threads and delivers the batches in order. The thread that finishes a batch also delivers all
/// batches that are due, so that no thread has to be woken for the delivery.
final class GamePool: @unchecked Sendable {
  /// The games of some pairings, batch by batch. In a batch, one thread plays all games of these pairings.
  private struct Sequence {
    var pairings: [Int]
    /// Whether a player learns, so that the games are played one after the other.
    var isSerial: Bool
    /// The next batch to play; `stride` is the difference between the numbers of successive batches.
    var next: Int
    let stride: Int
    var isBusy = false
  }

  struct Consumer {
    /// Called by any thread.
    var prepare: (GameBatch) -> GameBatch.Summary
    /// Called in order of the batches. Returns whether to continue.
    var take: (GameBatch, GameBatch.Summary) throws(ArenaError) -> Bool
    /// Called five times a second.
    var progress: () -> Void
  }

  private let stage: Stage
  private let players: Players
  private let indices: Range<Int>
  private let batchSize: Int
  /// Whether a pair of games begins only after the previous pair was counted.
  private let isCautious: Bool
  private let lastBatch: Int
  private let consumer: Consumer
  private let condition = NSCondition()
  /// Entered until the last thread has ended. A group waits by the monotonic clock; a semaphore's limit is a time of the system's clock,
  /// which may be set back.
  private let playing = DispatchGroup()
  private var sequences: [Sequence] = []
  private var batches: [Int: GameBatch] = [:]
  private var ready: [Int: (GameBatch, GameBatch.Summary)] = [:]
  private var due: Int
  private var isHandingOut = false
  private var isCancelled = false
  /// Whether delivery has ended, because the test decided or an error occurred.
  private var isClosed = false
  private var failure: ArenaError?
  private var running = 0
  /// The number of batches by which play may run ahead of the delivery.
  private var window = 0

  /// If the file of a resumed run ends with the first game of a pair, `known` is that game, and `indices` begin with it.
  init(_ stage: Stage, indices: Range<Int>, known: PlayedGame?, players: Players, consumer: Consumer) {
    (self.stage, self.indices, self.players, self.consumer) = (stage, indices, players, consumer)
    let specs = stage.pairings.map { pairing in
      [pairing.a, pairing.b].map { players.configuration.entrants[$0].spec }
    }
    // The games of engines and of searching players are slow: each batch is then a single pair of games.
    let isSlow = specs.joined().contains { $0.isEngine || $0.isSearch(in: players.configuration.variant) }
    let isSerial = specs.map {
      !players.configuration.isFrozen && $0.contains { $0.isLearner(in: players.configuration.variant) }
    }
    // A learner must not learn from games after the verdict of the SPRT, which do not count: play a pair only when the previous pair is
    // counted.
    isCautious = players.configuration.sprt != nil && isSerial.contains(true)
    batchSize = isSlow || isCautious ? 2 : GameBatch.size
    due = indices.lowerBound / batchSize
    lastBatch = (indices.upperBound - 1) / batchSize
    if isSlow {
      for pair in due..<due + min(stage.pairings.count, lastBatch + 1 - due) {
        let number = stage.game(2 * pair).pairing
        sequences.append(
          Sequence(pairings: [number], isSerial: isSerial[number], next: pair, stride: stage.pairings.count))
      }
    } else {
      let free = stage.pairings.indices.filter { !isSerial[$0] }
      if !free.isEmpty { sequences.append(Sequence(pairings: free, isSerial: false, next: due, stride: 1)) }
      for number in stage.pairings.indices where isSerial[number] {
        sequences.append(Sequence(pairings: [number], isSerial: true, next: due, stride: 1))
      }
    }
    guard let known else { return }
    let first = makeBatch(due)
    first.set(indices.lowerBound, known)
    first.known = 1
    batches[due] = first
  }

  private func makeBatch(_ number: Int) -> GameBatch {
    GameBatch(
      (number * batchSize..<(number + 1) * batchSize).clamped(to: indices), parts: batchSize == 2 ? 1 : sequences.count)
  }

  /// Returns whether all games were played.
  func run(threads: Int) throws(ArenaError) -> Bool {
    (running, window) = (threads, isCautious ? 0 : batchSize == 2 ? 4096 : 2 * threads + 2)
    playing.enter()
    for _ in 0..<threads where !startThread({ self.work() }) {
      condition.withLock { cancel(.resourceExhausted("threads")) }
      leave()
    }
    while playing.wait(timeout: .now() + 0.2) == .timedOut {
      consumer.progress()
      if players.stop.isSet { condition.withLock { cancel(nil) } }
    }
    if let failure { throw failure }
    if due > lastBatch { return true }
    // The run was interrupted: also deliver the games of the due batch that come before its first game that was not played.
    if players.stop.isSet, !isClosed, let batch = batches[due], batch.isPlayed(batch.indices.lowerBound) {
      batch.cut(to: batch.indices.firstIndex { !batch.isPlayed($0) } ?? batch.indices.upperBound)
      _ = try consumer.take(batch, consumer.prepare(batch))
    }
    return false
  }

  /// The caller holds the lock.
  private func cancel(_ error: ArenaError?) {
    failure = failure ?? error
    isCancelled = true
    condition.broadcast()
  }

  private func work() {
    let worker = Players.Worker(players)
    condition.lock()
    var last: Int?
    while !isCancelled, sequences.contains(where: { $0.next <= lastBatch }) {
      guard let number = choose(last) else {
        condition.wait()
        continue
      }
      last = number
      let index = sequences[number].next
      sequences[number].next += sequences[number].stride
      sequences[number].isBusy = true
      let batch = batches[index] ?? makeBatch(index)
      batches[index] = batch
      let pairings = sequences[number].pairings
      condition.unlock()
      let played: Result<Bool, ArenaError>
      do {
        switch players.configuration.variant {
        case .classic: played = .success(try play(Classic.self, pairings, batch, worker))
        case .infinite: played = .success(try play(Infinite.self, pairings, batch, worker))
        case .misere: played = .success(try play(Misere.self, pairings, batch, worker))
        case .ultimate: played = .success(try play(Ultimate.self, pairings, batch, worker))
        }
      } catch { played = .failure(error) }
      condition.lock()
      sequences[number].isBusy = false
      switch played {
      case .failure(let error): cancel(error)
      case .success(false): cancel(nil)
      case .success(true):
        batch.partsLeft -= 1
        if batch.partsLeft == 0 {
          condition.unlock()
          let summary = consumer.prepare(batch)
          condition.lock()
          batches[index] = nil
          ready[index] = (batch, summary)
          deliverInOrder()
        } else {
          condition.broadcast()
        }
      }
    }
    condition.broadcast()
    condition.unlock()
    worker.end()
    leave()
  }

  private func leave() {
    condition.withLock {
      running -= 1
      if running == 0 { playing.leave() }
    }
  }

  /// Returns the thread's last sequence, because its players are ready, unless that sequence must wait or is 16 batches ahead of another
  /// one.
  private func choose(_ last: Int?) -> Int? {
    func isFree(_ sequence: Sequence) -> Bool {
      sequence.next <= min(lastBatch, due + window) && !(sequence.isSerial && sequence.isBusy)
    }
    let free = sequences.indices.lazy.filter { isFree(self.sequences[$0]) }
    guard let first = free.min(by: { sequences[$0].next < sequences[$1].next }) else { return nil }
    if let last, isFree(sequences[last]), sequences[last].next < sequences[first].next + 16 * sequences[last].stride {
      return last
    }
    return first
  }

  /// The caller holds the lock.
  private func deliverInOrder() {
    guard !isHandingOut else { return }
    isHandingOut = true
    while !isClosed, let (batch, summary) = ready.removeValue(forKey: due) {
      condition.unlock()
      let result: Result<Bool, ArenaError>
      do { result = .success(try consumer.take(batch, summary)) } catch { result = .failure(error) }
      condition.lock()
      due += 1
      switch result {
      case .success(true): continue
      // The SPRT has decided: stop the games in progress, which do not count.
      case .success(false):
        players.stop.set()
        cancel(nil)
      case .failure(let error): cancel(error)
      }
      isClosed = true
    }
    isHandingOut = false
    condition.broadcast()
  }

  /// `false` if the run is stopped.
  private func play<R: ArenaRules>(
    _ rules: R.Type, _ pairings: [Int], _ batch: GameBatch, _ worker: Players.Worker
  ) throws(ArenaError) -> Bool {
    let (configuration, seed) = (players.configuration, players.configuration.seed)
    let first = (batch.indices.lowerBound - stage.firstGame) / 2
    let end = (batch.indices.upperBound - stage.firstGame) / 2
    for number in pairings {
      let ahead = (number - first % stage.pairings.count + stage.pairings.count) % stage.pairings.count
      let pairs = stride(from: first + ahead, to: end, by: stage.pairings.count)
      if let (one, other) = worker.tables(of: stage.pairings[number]) {
        if one.isRandom, other.isRandom, configuration.openings == .none {
          batch.play(worker.random, seed: seed, pairs: pairs, from: stage.firstGame)
        } else {
          for pair in pairs {
            let index = stage.firstGame + 2 * pair
            let opening = configuration.openings.opening(pair: stage.game(index).opening, seed: seed, R.self)
            var generator = SplitMix64(seed: seed, index: UInt64(index))
            batch.set(index, playTables(one, other, opening, using: &generator))
            generator = SplitMix64(seed: seed, index: UInt64(index + 1))
            batch.set(index + 1, playTables(other, one, opening, using: &generator))
          }
        }
        if players.stop.isSet { return false }
        continue
      }
      let (a, b) = try worker.players(of: stage.pairings[number], R.self)
      for pair in pairs {
        for index in stage.firstGame + 2 * pair...stage.firstGame + 2 * pair + 1 where !batch.isPlayed(index) {
          let game = stage.game(index)
          let opening = configuration.openings.opening(pair: game.opening, seed: seed, R.self)
          var generator = SplitMix64(seed: seed, index: UInt64(index))
          let (x, o) = game.isSwapped ? (b, a) : (a, b)
          worker.forget()
          guard !players.stop.isSet,
            let played = try R.playGame(
              x: x, o: o, opening: opening, adjudication: configuration.adjudication, stop: players.stop,
              using: &generator)
          else { return false }
          batch.set(index, played)
          worker.noteGame()
        }
      }
    }
    return true
  }
}

private final class ThreadBody {
  let run: @Sendable () -> Void

  init(_ run: @escaping @Sendable () -> Void) { self.run = run }
}

/// `false` if the system refuses a thread.
func startThread(_ body: @escaping @Sendable () -> Void) -> Bool {
  var (thread, attributes) = (pthread_t(), pthread_attr_t())
  pthread_attr_init(&attributes)
  defer { pthread_attr_destroy(&attributes) }
  pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
  pthread_attr_setstacksize(&attributes, 1 << 20)
  let held = Unmanaged.passRetained(ThreadBody(body))
  let code = pthread_create(
    &thread, &attributes,
    { pointer in
      if let pointer { Unmanaged<ThreadBody>.fromOpaque(pointer).takeRetainedValue().run() }
      return nil
    }, held.toOpaque())
  if code != 0 { held.release() }
  return code == 0
}
