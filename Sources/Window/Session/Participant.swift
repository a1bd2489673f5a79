import Opponents
import TicTacToe

/// The player of a side in a session.
package enum Participant: Sendable {
  /// A person at this machine, with a name for the record.
  case human(name: String)
  case machine(MachinePlayer)
  /// A remote person, whose moves arrive by `GameSession.syncBoard`.
  case remote(name: String)

  package static func opponent(_ opponent: some Opponent) -> Participant { .machine(MachinePlayer(opponent)) }

  package var isHuman: Bool { if case .human = self { true } else { false } }

  package var isRemote: Bool { if case .remote = self { true } else { false } }

  /// The player's name in the record.
  package var name: String {
    switch self {
    case .human(let name), .remote(let name): name
    case .machine(let player): player.name
    }
  }
}

package struct Participants: Sendable {
  package var x: Participant
  package var o: Participant

  package init(x: Participant, o: Participant) {
    (self.x, self.o) = (x, o)
  }

  package subscript(player: Player) -> Participant { player == .x ? x : o }

  /// Whether the game is played or watched over a connection.
  package var areRemote: Bool { x.isRemote || o.isRemote }

  /// `nil` if no local person or two local people play.
  package var loneHuman: Player? {
    switch (x.isHuman, o.isHuman) {
    case (true, false): .x
    case (false, true): .o
    default: nil
    }
  }
}
