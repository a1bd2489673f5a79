import ClientModel
import MatchProtocol
import ServerTestSupport

@testable import Lobby
@testable import MatchStore

/// The store of a soak test (`SoakTests`), and its clock: `clock`, or the database's own clock, which `setClock` sets.
struct RealStore: Sendable {
  let store: any MatchStore
  let clock: TestClock
  /// To a time in milliseconds since 1970.
  var setClock: (@Sendable (Int64) throws -> Void)?
}

extension Simulation {
  private static let (minute, day): (Int64, Int64) = (60_000, 86_400_000)

  mutating func leave(_ i: Int) {
    count("left")
    if random.below(2) == 0, let id = clients[i].connection, let home = homes[id], !isStopped(home),
      alive.remove(id) != nil
    {
      seated.remove(id)
      reduce(home, .disconnected(id, clean: true))
    }
    clients[i].isAbsent = true
    lose(i)
    let returns: Int64
    switch random.below(4) {
    case 0: returns = now + Self.minute + Int64(random.below(30)) * Self.minute
    // Most players return in the same hour of a later day, so that they meet each other.
    case 1, 2: returns = evening(after: 1)
    default: returns = evening(after: 2 + Int64(random.below(2)))
    }
    queue.set(.comeBack(i), at: returns)
  }

  /// Ends a player's program without a word to the server, as a browser does when its page is loaded again.
  mutating func reload(_ i: Int) {
    count("reload")
    clients[i].isAbsent = true
    lose(i)
    queue.set(.comeBack(i), at: now + 50 + Int64(random.below(400)))
  }

  /// For a client that must not reconnect: the player ends the program, and starts it again a minute later.
  mutating func giveUp(_ i: Int) {
    clients[i].isAbsent = true
    queue.set(.comeBack(i), at: now + Self.minute)
  }

  private mutating func evening(after days: Int64) -> Int64 {
    now / Self.day * Self.day + days * Self.day + Int64(random.below(60)) * Self.minute
  }

  /// The started program knows only its saved credentials.
  mutating func comeBack(_ i: Int) {
    guard clients[i].isAbsent else { return }
    count("came back")
    if let failure = clients[i].model.failure, failure != .replaced {
      checker.faults.append("client \(i) cannot connect again: \(failure)")
    }
    clients[i].isAbsent = false
    clients[i].model = ClientModel(clients[i].model.identity, seed: random.next())
    dial(i)
  }
}
