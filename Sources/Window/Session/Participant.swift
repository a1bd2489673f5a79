import Opponents
import TicTacToe

/// Who plays a side of a session's game.
package enum Participant: Sendable {
  /// A person at this machine, with the name the record gives them.
  case human(name: String)
  /// A built-in opponent, with the seed its choices come from beside the game's own.
  case machine(MachinePlayer)
  /// Somebody elsewhere, whose moves the program brings (`GameSession.follow`).
  case remote(name: String)

  package static func opponent(_ opponent: some Opponent) -> Participant { .machine(MachinePlayer(opponent)) }

  /// Whether a person at this machine plays the side.
  package var isHuman: Bool { if case .human = self { true } else { false } }

  /// Whether somebody elsewhere plays the side.
  package var isRemote: Bool { if case .remote = self { true } else { false } }

  /// The name the record gives the player.
  package var name: String {
    switch self {
    case .human(let name), .remote(let name): name
    case .machine(let player): player.name
    }
  }
}

/// Who plays which side.
package struct Participants: Sendable {
  package var x: Participant
  package var o: Participant

  package init(x: Participant, o: Participant) {
    (self.x, self.o) = (x, o)
  }

  package subscript(player: Player) -> Participant { player == .x ? x : o }

  /// Whether the game is played, or watched, over a connection.
  package var areRemote: Bool { x.isRemote || o.isRemote }

  /// The one side a local person plays, if there is exactly one.
  package var loneHuman: Player? {
    switch (x.isHuman, o.isHuman) {
    case (true, false): .x
    case (false, true): .o
    default: nil
    }
  }
}
