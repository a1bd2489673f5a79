import MatchProtocol
import ServerTestSupport
import TicTacToe

@testable import Lobby
@testable import MatchStore

struct SimulatedStore {
  struct Log {
    var state: MatchState
    var record: MatchRecord
    /// When the log last grew, and when the match's position last changed, on the world's monotonic clock.
    var grewAt: Int64
    var movedAt: Int64
  }

  let clock: TestClock
  let inner: any MatchStore
  /// Sets a database's own clock; `nil` for a store that reads `clock`.
  private let setClock: ((Int64) throws -> Void)?
  private var clockedAt = Int64.min / 2
  /// Whether appending checks the expected length of a log; a test switches this off.
  let checksLength: Bool
  /// Whether the end of a tournament game changes its players' entries (points and so on); a test switches this off.
  let changesEntrants: Bool
  private(set) var logs: [MatchID: Log] = [:]
  private(set) var live: Set<MatchID> = []
  /// In the order of their ends.
  private(set) var ends: [MatchID] = []
  private(set) var faults: [String] = []
  private var tickets: [String: MatchID] = [:]

  init(_ options: Simulation.Options) {
    let clock = options.real?.clock ?? TestClock()
    self.clock = clock
    inner = options.real?.store ?? MemoryStore(shared: options.isShared) { clock.wall }
    setClock = options.real?.setClock
    (checksLength, changesEntrants) = (options.checksLength, options.changesEntrants)
  }

  private mutating func followClock() {
    guard let setClock, abs(clock.wall - clockedAt) > 20 else { return }
    clockedAt = clock.wall
    do { try setClock(clockedAt) } catch { faults.append("the clock of the database cannot be set: \(error)") }
  }

  mutating func apply(_ wanted: StoreUnit, now: Int64) -> Verdict {
    var unit = checksLength ? wanted : asLongAsItIs(wanted)
    if !changesEntrants { unit.games.removeAll { $0.change != .begins } }
    followClock()
    let verdict = inner.apply([unit])[0]
    switch verdict {
    case .applied: break
    case .conflict: return verdict
    case .failed(let why), .unknown(let why):
      faults.append("a unit was not stored: \(why)")
      return verdict
    }
    for log in unit.logs { grow(log, now) }
    guard let m = unit.logs.first?.m else { return verdict }
    for ticket in unit.tickets {
      // A ticket leads to a second match only if its first match was aborted.
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

  /// The unit with each expected length of a log replaced by the log's actual length.
  private func asLongAsItIs(_ wanted: StoreUnit) -> StoreUnit {
    var unit = wanted
    for i in unit.logs.indices {
      unit.logs[i].after = logs[unit.logs[i].m]?.state.seq ?? 0
    }
    return unit
  }

  /// `nil` if the store fails.
  mutating func answer(_ question: StoreQuestion) -> StoreAnswer? {
    followClock()
    do { return try inner.answer(question).summarized } catch {
      faults.append("\(question) was not answered: \(error)")
      return nil
    }
  }

  func length(_ m: MatchID) -> Int { logs[m]?.state.seq ?? 0 }
}
