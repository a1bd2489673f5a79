import Interface
import Opponents
import Session

extension Seat {
  /// The opponents that the command line and records call by the same name.
  private static let named: [(name: String, seat: Seat)] = [
    ("random", .random), ("perfect", .perfect), ("adaptive", .adaptive), ("menace", .menace),
  ]

  private static func opponent(_ name: String) -> Seat? { named.first { $0.name == name }?.seat }

  /// Reads `--level`: 1–6, `random`, `perfect`, `adaptive`, `menace`, or `person` for two people at one machine.
  package init?(argument: String) {
    let level = Int(argument).flatMap { Level(number: $0) }.map { Seat.level($0.number) }
    guard let seat = argument == "person" ? .human : Seat.opponent(argument) ?? level else { return nil }
    self = seat
  }

  /// How `--level` spells it; `nil` for people elsewhere.
  var argument: String? {
    switch self {
    case .human: "person"
    case .level(let number): "\(number)"
    default: Seat.named.first { $0.seat == self }?.name
    }
  }

  /// Reads the name a record gives a player; people have any name that no opponent bears.
  package init(recordName: String?) {
    let number = recordName.flatMap { $0.hasPrefix("levels:") ? Int($0.dropFirst(7)) : nil }
    let level = number.flatMap { Level(number: $0) }.map { Seat.level($0.number) }
    self = recordName.flatMap { Seat.opponent($0) } ?? level ?? .human
  }

  /// Who sits here, as the session knows them.
  func participant(name: String) -> Participant {
    switch self {
    case .human: .human(name: name)
    case .level(let number): Level(number: number).map { .opponent($0) } ?? .opponent(SimpleOpponent.perfect)
    case .random: .opponent(SimpleOpponent.random)
    case .perfect: .opponent(SimpleOpponent.perfect)
    // Untaught; the app teaches them by the games it keeps (`Library.participants(of:)`).
    case .adaptive: .opponent(Adaptive())
    case .menace: .opponent(Menace())
    case .remote(let name): .human(name: name)
    }
  }
}

extension GameSetup {
  /// Who plays, as the session knows them; two people at one machine are told apart by their side.
  package var participants: Participants {
    let lone = x == .human && o == .human ? nil : "you"
    return Participants(x: x.participant(name: lone ?? "X"), o: o.participant(name: lone ?? "O"))
  }
}
