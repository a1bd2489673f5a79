import Base
import TicTacToe

/// A daily puzzle, the same for all users: a position with a single right move. Tuesday and Saturday have Infinite, Thursday Ultimate, the
/// other days the classic game with difficulty increasing through the week.
package struct DailyBoard: Sendable, Hashable {
  /// The best result that the side to move can force.
  package enum Goal: Sendable, Hashable {
    case win(moves: Int)
    case hold
  }

  /// Days since 1 January 1970.
  package let day: Int
  /// The day as `2026-11-24`; empty if the puzzle was made from a day number.
  package let date: String
  package let state: VariantState
  package let goal: Goal

  /// `date` is a day such as `2026-11-24`; further characters are ignored. `nil` if there is no such day.
  package init?(date: String) {
    let date = String(date.prefix(10))
    let parts = date.split(separator: "-").map { $0.allSatisfy { ("0"..."9").contains($0) } ? Int($0) : nil }
    guard parts.count == 3, let year = parts[0], let month = parts[1], let day = parts[2], (1970...9999).contains(year),
      (1...12).contains(month)
    else { return nil }
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    guard (1...lengths[month - 1]).contains(day) else { return nil }
    // Years are counted from March, so that the leap day is a year's last day.
    let (years, months) = (month < 3 ? year - 1 : year, (month + 9) % 12)
    self.init(
      day: years * 365 + years / 4 - years / 100 + years / 400 + (153 * months + 2) / 5 + day - 719_469, date: date)
  }

  package init(day: Int, date: String = "") {
    (self.day, self.date) = (day, date)
    // Day 0 was a Thursday; weekdays count from 0 for Monday.
    let weekday = (day + 3) % 7
    var random = SplitMix64(seed: 0xA11A_DA17, index: UInt64(day))
    switch weekday {
    case 1, 5:
      let moves = weekday == 1 ? 2 : 3
      state = DailyBoard.infinite(moves: moves, using: &random)
      goal = .win(moves: moves)
    case 3:
      state = .ultimate(DailyBoard.ultimate(using: &random))
      goal = .win(moves: 2)
    default:
      let choices = DailyBoard.grades[weekday]
      let position = choices[random.below(choices.count)]
      let worth = Solver.shared.evaluation(of: position)
      goal = worth.value == .win ? .win(moves: (worth.distance + 1) / 2) : .hold
      state = .classic(position)
    }
  }

  package func isReached(by outcome: Outcome?) -> Bool {
    outcome == .win(state.turn) || goal == .hold && outcome == .draw
  }

  /// A random board with all six marks on which exactly one move wins; the winner needs `moves` moves, the first included.
  static func infinite(moves: Int, using random: inout SplitMix64) -> VariantState {
    let table = InfiniteTable.shared
    while true {
      let board = InfiniteTable.board(number: random.below(InfiniteTable.boardCount))
      guard board.o.count == Infinite.markLimit, board.winner == nil,
        table.evaluation(of: board) == Evaluation(value: .win, distance: 2 * moves - 1)
      else { continue }
      let winning = board.moves.filter { square in
        var after = board
        after.play(square)
        return table.evaluation(of: after).value == .loss
      }
      guard winning.count == 1 else { continue }
      let marks = [board.x, board.o].map { $0.squares.map { $0.name }.joined() }
      if let state = try? VariantState(.infinite, notation: "\(marks[0])/\(marks[1]) x 6") { return state }
    }
  }

  /// A position of a random game in which no move wins at once, and exactly one makes sure that its side wins with the next move.
  static func ultimate(using random: inout SplitMix64) -> Ultimate.State {
    while true {
      var states = [Ultimate.start]
      while let last = states.last, Ultimate.outcome(of: last) == nil {
        var next = last
        _ = next.mark(Ultimate.moves(last).randomCell(using: &random))
        states.append(next)
      }
      for state in states.suffix(9).dropLast() where isPuzzle(state) { return state }
    }
  }

  private static func isPuzzle(_ state: Ultimate.State) -> Bool {
    guard !state.isGiven else { return false }
    var winning = 0
    for cell in Ultimate.moves(state) {
      var after = state
      guard after.mark(cell) == nil, !after.isGiven else { continue }
      let isForced = Ultimate.moves(after).allSatisfy { reply in
        var next = after
        return next.mark(reply) == nil && next.isGiven
      }
      if isForced { winning += 1 }
    }
    return winning == 1
  }

  /// The classic positions with a single right move, by grade: 0 an immediate win, 1 a threat to parry, 2–4 wins in two moves, 5 a win in
  /// three moves, 6 a draw to hold. Weekdays with the classic game have the grade of their number, Monday 0.
  static let grades: [[Position]] = {
    var grades: [[Position]] = Array(repeating: [], count: 7)
    for position in Solver.positions where position.empty.count >= 3 && position.outcome == nil {
      let worth = Solver.shared.evaluation(of: position)
      guard worth.value != .loss, Solver.shared.valuePreservingMoves(in: position).count == 1 else { continue }
      let isThreatened = !position.winningSquares(for: position.turn.opponent).isEmpty
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
