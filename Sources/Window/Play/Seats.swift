import Interface
import Opponents
import Session
import TicTacToe

extension Seat {
  /// Opponents whose name is the same on the command line and in records.
  private static let named: [(name: String, seat: Seat)] = [
    ("random", .random), ("perfect", .perfect), ("adaptive", .adaptive), ("menace", .menace),
  ]

  private static func opponent(_ name: String) -> Seat? { named.first { $0.name == name }?.seat }

  /// Parses `--level`: 1–6, `random`, `perfect`, `adaptive`, `menace`, or `person` for two people at one machine.
  package init?(argument: String) {
    let level = Int(argument).flatMap { Level(number: $0) }.map { Seat.level($0.number) }
    guard let seat = argument == "person" ? .human : Seat.opponent(argument) ?? level else { return nil }
    self = seat
  }

  /// How the option `--level` names this player; `nil` for a remote person.
  var argument: String? {
    switch self {
    case .human: "person"
    case .level(let number): "\(number)"
    default: Seat.named.first { $0.seat == self }?.name
    }
  }

  /// Parses a player's name in a record; any name that is not an opponent's is a person.
  package init(recordName: String?) {
    let number = recordName.flatMap { $0.hasPrefix("levels:") ? Int($0.dropFirst(7)) : nil }
    let level = number.flatMap { Level(number: $0) }.map { Seat.level($0.number) }
    self = recordName.flatMap { Seat.opponent($0) } ?? level ?? .human
  }

  func participant(name: String, at variant: Variant, knowing value: UltimateValue?) -> Participant {
    switch self {
    case .human: .human(name: name)
    case .level(let number): .machine(Seat.level(number, at: variant, knowing: value))
    case .random: .machine(.random)
    case .perfect: Seat.perfect(at: variant)
    // Learning players are returned untrained: `Library.participants(of:)` trains them with saved games.
    case .adaptive: .opponent(Adaptive())
    case .menace: .opponent(Menace())
    // The opponent of a game by links; `App.join` makes the participants of a network match.
    case .remote(let name): .human(name: name)
    }
  }

  /// A player that never makes a move that loses value; only solved variants have one.
  private static func perfect(at variant: Variant) -> Participant {
    switch variant {
    case .classic: .opponent(SimpleOpponent.perfect)
    case .infinite: .machine(MachinePlayer(InfiniteOpponent.simple(.perfect)))
    case .misere: .machine(MachinePlayer(MisereOpponent.simple(.perfect)))
    case .ultimate: preconditionFailure("no player of \(variant.rawValue) is perfect")
    }
  }

  private static func level(_ number: Int, at variant: Variant, knowing value: UltimateValue?) -> MachinePlayer {
    let index = min(max(number, 1), Level.all.count) - 1
    switch variant {
    case .classic: return MachinePlayer(Level.all[index])
    case .infinite: return MachinePlayer(InfiniteOpponent.level(InfiniteLevel.all[index]))
    case .misere: return MachinePlayer(MisereOpponent.level(MisereLevel.all[index]))
    case .ultimate:
      let known = UltimateLevel.all.filter { value != nil || !$0.needsValue }
      return MachinePlayer(known[min(index, known.count - 1)], value: value)
    }
  }
}

extension GameSetup {
  /// Two people at one machine are named by their sides.
  package func participants(knowing value: UltimateValue? = nil) -> Participants {
    let lone = x == .human && o == .human ? nil : "you"
    func participant(_ seat: Seat, _ name: String) -> Participant {
      seat.participant(name: lone ?? name, at: variant, knowing: value)
    }
    return Participants(x: participant(x, "X"), o: participant(o, "O"))
  }
}
