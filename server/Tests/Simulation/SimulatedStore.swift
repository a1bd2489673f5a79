import MatchProtocol
import ServerTestSupport
import TicTacToe

@testable import Lobby
@testable import MatchStore

/// The one store of a simulated world, and what happened to it and when.
struct SimulatedStore {
  /// A match as it is stored.
  struct Log {
    var state: MatchState
    var record: MatchRecord
    /// When the log grew last, and when its position changed last, on the steady clock of the world.
    var grewAt: Int64
    var movedAt: Int64
  }

  let clock = TestClock()
  let memory: MemoryStore
  /// Whether a log that grows must have the length that was expected. Only a test takes that away.
  let checksLength: Bool
  private(set) var logs: [MatchID: Log] = [:]
  /// The matches that go on.
  private(set) var live: Set<MatchID> = []
  /// Those that have ended, in that order.
  private(set) var ends: [MatchID] = []
  /// What is wrong.
  private(set) var faults: [String] = []
  private var tickets: [String: MatchID] = [:]

  init(isShared: Bool, checksLength: Bool) {
    let clock = clock
    memory = MemoryStore(shared: isShared) { clock.wall }
    self.checksLength = checksLength
  }

  /// Stores a unit at a time.
  mutating func apply(_ wanted: StoreUnit, now: Int64) -> Verdict {
    let unit = checksLength ? wanted : asLongAsItIs(wanted)
    let verdict = memory.apply([unit])[0]
    guard case .applied = verdict else { return verdict }
    for log in unit.logs { grow(log, now) }
    guard let m = unit.logs.first?.m else { return verdict }
    for ticket in unit.tickets {
      // After a match that came to nothing it may wait on.
      if let before = tickets.updateValue(m, forKey: ticket), logs[before]?.state.end?.reason != .aborted {
        faults.append("ticket \(ticket) has led to \(before) and to \(m)")
      }
    }
    return verdict
  }

  private mutating func grow(_ added: StoreUnit.Log, _ now: Int64) {
    let m = added.m
    let empty = MatchRecord(id: m, created: 0)
    var log = logs[m] ?? Log(state: MatchState(id: m), record: empty, grewAt: now, movedAt: now)
    for body in added.bodies {
      let before = (log.state.position.plies, log.state.phase)
      do throws(ProtocolError) { try log.state.append(body: body) } catch {
        faults.append("match \(m) seq \(log.state.seq + 1) cannot follow what is stored: \(error.message)")
      }
      if before != (log.state.position.plies, log.state.phase) { log.movedAt = now }
      log.grewAt = now
    }
    if let record = added.record { log.record = record }
    logs[m] = log
    if log.record.ended == nil { live.insert(m) } else if live.remove(m) != nil { ends.append(m) }
  }

  /// The same unit for logs of whatever length they have.
  private func asLongAsItIs(_ wanted: StoreUnit) -> StoreUnit {
    var unit = wanted
    for i in unit.logs.indices {
      unit.logs[i].after = logs[unit.logs[i].m]?.state.seq ?? 0
    }
    return unit
  }

  /// The answer to a question, if it has one.
  func answer(_ question: StoreQuestion) -> StoreAnswer? { try? memory.answer(question).summarized }

  /// How many events a log has.
  func length(_ m: MatchID) -> Int { logs[m]?.state.seq ?? 0 }
}
