import TicTacToe
import Testing

@testable import Oracle

@Suite("Today's board")
struct DailyBoardTests {
  @Test("on every day of ten years only one move is right, and the goal is of the weekday's kind")
  func days() {
    for day in 20_000..<23_650 {
      guard ![1, 3, 5].contains((day + 3) % 7) else { continue }
      let board = DailyBoard(day: day)
      guard case .classic(let position) = board.state else {
        Issue.record("a board of \(board.state.variant) on day \(day)")
        continue
      }
      let worth = Solver.shared.evaluation(of: position)
      #expect(Solver.shared.valuePreservingMoves(in: position).count == 1)
      #expect(position.empty.count >= 3)
      switch (day + 3) % 7 {
      case 0: #expect(board.goal == .win(moves: 1))
      case 6: #expect(board.goal == .hold && worth.value == .draw)
      default: #expect(board.goal == .win(moves: 2) && worth.distance == 3)
      }
    }
    #expect(Set((20_000..<20_364).map { DailyBoard(day: $0).state }).count > 200, "too often the same")
  }

  @Test("on three days a week the board is of a longer game, and only one move wins, though not at once")
  func longerGames() {
    for day in 20_000..<20_070 {
      let board = DailyBoard(day: day)
      switch (board.state, (day + 3) % 7) {
      case (.infinite(let state), 1), (.infinite(let state), 5):
        let distance = (day + 3) % 7 == 1 ? 3 : 5
        #expect(InfiniteTable.shared.evaluation(of: state) == Evaluation(value: .win, distance: distance))
        #expect(InfiniteTable.shared.moveEvaluations(in: state).count { $0.after.value == .loss } == 1)
        #expect(board.goal == .win(moves: (distance + 1) / 2))
      case (.ultimate(let state), 3):
        func wins(_ state: Ultimate.State, in plies: Int) -> Int {
          Ultimate.moves(state).filter { cell in
            var after = state
            if let outcome = Ultimate.play(cell, &after) { return outcome == .win(state.turn) }
            guard plies > 1 else { return false }
            return Ultimate.moves(after).allSatisfy { reply in
              var next = after
              return Ultimate.play(reply, &next) == nil && wins(next, in: plies - 2) > 0
            }
          }.count
        }
        #expect(wins(state, in: 1) == 0 && wins(state, in: 3) == 1 && board.goal == .win(moves: 2))
      case (.classic, 0), (.classic, 2), (.classic, 4), (.classic, 6): break
      default: Issue.record("day \(day): \(board.state.variant)")
      }
    }
  }

  @Test("dates are read, and invalid dates refused")
  func dates() {
    for (date, day) in [
      ("1970-01-01", 0), ("2000-02-29", 11_016), ("2000-03-01", 11_017), ("2026-11-24", 20_781),
      ("2026-11-24-101500", 20_781), ("2028-02-29", 21_243), ("2038-01-19", 24_855), ("2038-01-20", 24_856),
      ("2101-03-01", 47_906), ("9999-12-31", 2_932_896),
    ] {
      #expect(DailyBoard(date: date)?.day == day, "\(date)")
    }
    for date in [
      "", "2026-11", "2026-13-01", "2026-00-01", "2026-11-32", "today", "2026-02-31", "2026-02-29", "2026-04-31",
      "2100-02-29", "2026-+1-01",
    ] {
      #expect(DailyBoard(date: date) == nil, "\(date)")
    }
  }

  @Test("consecutive days have consecutive numbers, across months, leap years, 2038 and 2101")
  func calendar() {
    var (date, number) = ((2023, 12, 31), 19_722)
    while date.0 < 2102 {
      let lengths = [31, date.0 % 4 == 0 && date.0 != 2100 ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
      date.2 += 1
      if date.2 > lengths[date.1 - 1] { (date.1, date.2) = (date.1 + 1, 1) }
      if date.1 > 12 { (date.0, date.1) = (date.0 + 1, 1) }
      number += 1
      guard ![1, 3, 5].contains((number + 3) % 7) else { continue }
      func two(_ n: Int) -> String { n < 10 ? "0\(n)" : "\(n)" }
      #expect(DailyBoard(date: "\(date.0)-\(two(date.1))-\(two(date.2))")?.day == number)
    }
  }

  @Test("the goal of today's board is a win if one is possible, otherwise a draw")
  func goals() {
    for day in 20_000..<20_007 {
      let board = DailyBoard(day: day)
      let turn = board.state.turn
      #expect(board.isReached(by: .win(turn)) && !board.isReached(by: .win(turn.opponent)) && !board.isReached(by: nil))
      #expect(board.isReached(by: .draw) == (board.goal == .hold))
    }
  }
}
