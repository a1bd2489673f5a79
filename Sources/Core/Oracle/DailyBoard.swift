import Base
import TicTacToe

/// One position a day, the same for everybody, in which a single move is right. It grows harder from Monday to Sunday.
package struct DailyBoard: Sendable, Hashable {
  /// What the side to move can reach against best defence.
  package enum Goal: Sendable, Hashable {
    case win(moves: Int)
    case hold
  }

  /// Days since 1 January 1970.
  package let day: Int
  package let position: Position
  package let goal: Goal

  /// - Parameter date: The day as `2026-11-24`; what follows is not looked at. `nil` where there is no such day.
  package init?(date: String) {
    let parts = date.prefix(10).split(separator: "-").map { Int($0) }
    guard parts.count == 3, let year = parts[0], let month = parts[1], let day = parts[2], (1970...9999).contains(year),
      (1...12).contains(month), (1...31).contains(day)
    else { return nil }
    // The year begins in March, so that the day that comes and goes is its last.
    let (years, months) = (month < 3 ? year - 1 : year, (month + 9) % 12)
    self.init(day: years * 365 + years / 4 - years / 100 + years / 400 + (153 * months + 2) / 5 + day - 719_469)
  }

  package init(day: Int) {
    self.day = day
    // The first day was a Thursday.
    let choices = DailyBoard.grades[(day + 3) % 7]
    var random = SplitMix64(seed: 0xA11A_DA17, index: UInt64(day))
    position = choices[random.below(choices.count)]
    let worth = Solver.shared.evaluation(of: position)
    goal = worth.value == .win ? .win(moves: (worth.distance + 1) / 2) : .hold
  }

  /// Whether the goal was reached in a game that ended so.
  package func isReached(by outcome: Outcome?) -> Bool {
    outcome == .win(position.turn) || goal == .hold && outcome == .draw
  }

  /// The positions for Monday to Sunday: a win at once, a threat to parry, wins in two, a win in three, a quiet defence.
  private static let grades: [[Position]] = {
    var grades: [[Position]] = Array(repeating: [], count: 7)
    for position in Solver.positions where position.empty.count >= 3 && position.outcome == nil {
      let worth = Solver.shared.evaluation(of: position)
      guard worth.value != .loss, Solver.shared.valuePreservingMoves(in: position).count == 1 else { continue }
      let threats = Line.completions(of: position[position.turn.opponent])
      let isThreatened = !threats.intersection(position.empty).isEmpty
      switch (worth.value, worth.distance) {
      case (.win, 1): grades[0].append(position)
      case (.win, 3): grades[isThreatened ? 2 : position.empty.count < 5 ? 3 : 4].append(position)
      case (.win, _): grades[5].append(position)
      default: grades[isThreatened ? 1 : 6].append(position)
      }
    }
    return grades
  }()
}
