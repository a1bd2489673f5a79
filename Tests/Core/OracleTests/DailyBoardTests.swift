import TicTacToe
import Testing

@testable import Oracle

@Suite("Today's board")
struct DailyBoardTests {
  @Test("a single move is right on every day of ten years, and the weekday says what is to be done")
  func days() {
    for day in 20_000..<23_650 {
      let board = DailyBoard(day: day)
      let worth = Solver.shared.evaluation(of: board.position)
      #expect(Solver.shared.valuePreservingMoves(in: board.position).count == 1)
      #expect(board.position.empty.count >= 3)
      switch (day + 3) % 7 {
      case 0: #expect(board.goal == .win(moves: 1))
      case 1, 6: #expect(board.goal == .hold && worth.value == .draw)
      case 5: #expect(board.goal == .win(moves: 3) && worth.distance == 5)
      default: #expect(board.goal == .win(moves: 2) && worth.distance == 3)
      }
    }
    #expect(Set((20_000..<20_364).map { DailyBoard(day: $0).position }).count > 180, "too often the same")
  }

  @Test("a date is its day, and what is no date is none")
  func dates() {
    for (date, day) in [
      ("1970-01-01", 0), ("2000-02-29", 11_016), ("2000-03-01", 11_017), ("2026-11-24", 20_781),
      ("2026-11-24-101500", 20_781),
    ] {
      #expect(DailyBoard(date: date)?.day == day, "\(date)")
    }
    for date in ["", "2026-11", "2026-13-01", "2026-00-01", "2026-11-32", "today"] {
      #expect(DailyBoard(date: date) == nil, "\(date)")
    }
  }

  @Test("a win is wanted where there is one, and no loss where there is none")
  func goals() {
    for day in 20_000..<20_007 {
      let board = DailyBoard(day: day)
      let turn = board.position.turn
      #expect(board.isReached(by: .win(turn)) && !board.isReached(by: .win(turn.opponent)) && !board.isReached(by: nil))
      #expect(board.isReached(by: .draw) == (board.goal == .hold))
    }
  }
}
