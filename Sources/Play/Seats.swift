import Opponents
import Screen
import Session

extension Seat {
  /// Reads `--level`: 1–6, `random`, `perfect`, `adaptive`, `menace`, or `person` for two people at one machine.
  public init?(argument: String) {
    switch argument {
    case "random": self = .random
    case "perfect": self = .perfect
    case "adaptive": self = .adaptive
    case "menace": self = .menace
    case "person": self = .human
    default:
      guard let number = Int(argument), Level(number: number) != nil else { return nil }
      self = .level(number)
    }
  }

  /// How `--level` spells it; `nil` for people elsewhere.
  var argument: String? {
    switch self {
    case .random: "random"
    case .perfect: "perfect"
    case .adaptive: "adaptive"
    case .menace: "menace"
    case .human: "person"
    case .level(let number): "\(number)"
    case .remote: nil
    }
  }

  /// Reads the name a record gives a player; people have any name that no opponent bears.
  public init(recordName: String?) {
    switch recordName {
    case "random": self = .random
    case "perfect": self = .perfect
    case "adaptive": self = .adaptive
    case "menace": self = .menace
    case let name? where name.hasPrefix("levels:"):
      self = Int(name.dropFirst(7)).flatMap { Level(number: $0) }.map { .level($0.number) } ?? .human
    default: self = .human
    }
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
  public var participants: Participants {
    let lone = x == .human && o == .human ? nil : "you"
    return Participants(x: x.participant(name: lone ?? "X"), o: o.participant(name: lone ?? "O"))
  }
}
