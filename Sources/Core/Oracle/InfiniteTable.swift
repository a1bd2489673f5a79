import TicTacToe

/// Perfect play of Infinite: for every board, its value and the plies to the end, in one byte, by retrograde analysis.
///
/// A board and the same board with X and O exchanged share an entry. The table ignores the game's history: a board that the table calls won
/// is drawn if every way to win passes through a board that has occurred twice.
package struct InfiniteTable: Sendable {
  /// Built on first use, in milliseconds.
  package static let shared = InfiniteTable()

  /// By board number, for the side to move: 0 a draw, n a win in n plies, −n a loss in n − 1 plies (−1: the other side has a line).
  private let values: [Int8]

  /// The numbers of reachable boards, by value for the side to move.
  package struct Census: Sendable, Hashable {
    package var wins = 0
    package var losses = 0
    package var draws = 0
    /// Boards on which the other side has just completed a line.
    package var finished = 0
    package var longestDistance = 0
    package var boards: Int { wins + losses + draws + finished }
  }

  package let census: Census

  /// At index n, the board number of the first board with n marks; at index 7, the number of all boards.
  private static let firsts: InlineArray<8, Int> = [0, 1, 10, 82, 586, 3610, 18_730, 79_210]
  /// Two boards with the same marks differ if the marks were made in another order. Boards that no game reaches count too.
  package static var boardCount: Int { firsts[7] }
  /// The greatest number of moves on a board.
  private static let width = 9

  /// For benchmarks; other code uses `shared`.
  package init() {
    var work = Work()
    work.visit()
    work.solve()
    (values, census) = (work.values, work.census)
  }

  /// The board's rank, from 0, among all boards, in which boards with fewer marks come first.
  package static func number(of board: Infinite.Board) -> Int {
    let (mover, other) = (board[board.turn], board[board.turn.opponent])
    var rest = Int(mover.rawValue) | Int(other.rawValue) << (4 * mover.count)
    var (rank, used, count) = (0, 0, 0)
    while rest != 0 {
      let cell = (rest & 15) - 1
      rank = rank * (9 - count) + cell - (used & ((1 << cell) - 1)).nonzeroBitCount
      used |= 1 << cell
      count += 1
      rest >>= 4
    }
    return firsts[count] + rank
  }

  package static func canonicalNumber(of board: Infinite.Board) -> Int {
    Symmetry.all.dropFirst().reduce(number(of: board)) { min($0, number(of: $1(board))) }
  }

  /// X is to move on boards with six marks.
  package static func board(number: Int) -> Infinite.Board {
    precondition((0..<boardCount).contains(number), "board \(number) is outside 0..<\(boardCount)")
    var count = 0
    while firsts[count + 1] <= number { count += 1 }
    var digits: [Int] = []
    var rest = number - firsts[count]
    for place in stride(from: count - 1, through: 0, by: -1) {
      digits.append(rest % (9 - place))
      rest /= 9 - place
    }
    var free = Square.all
    let cells = digits.reversed().map { free.remove(at: $0) }
    var board = Infinite.Board()
    board.turn = count % 2 == 0 ? .x : .o
    for (place, cell) in cells.enumerated() {
      if (place < count / 2) == (board.turn == .x) { board.x.append(cell) } else { board.o.append(cell) }
    }
    return board
  }

  /// The value for the side to move, and the plies to the end if the winner hurries and the loser delays; 0 for a draw.
  package func evaluation(of board: Infinite.Board) -> Evaluation {
    let value = Int(values[InfiniteTable.number(of: board)])
    if value == 0 { return Evaluation(value: .draw, distance: 0) }
    return value > 0 ? Evaluation(value: .win, distance: value) : Evaluation(value: .loss, distance: -value - 1)
  }

  /// Considers the ply limit, and a third repetition by the next move, but none further ahead. After the end, the value for the side whose
  /// turn it would be. The distance of a draw is the number of plies left until the ply limit, or 1 if every move that draws repeats a
  /// position for the third time.
  package func evaluation(of state: Infinite.State) -> Evaluation {
    switch Infinite.outcome(of: state) {
    case .win: return Evaluation(value: .loss, distance: 0)
    case .draw: return Evaluation(value: .draw, distance: 0)
    case nil: return moveEvaluations(in: state).reduce(Evaluation(value: .loss, distance: 0)) { better($0, $1.after) }
    }
  }

  /// The better evaluation for the side to move: `best`, or that of a move after which the other side has the evaluation `after`.
  private func better(_ best: Evaluation, _ after: Evaluation) -> Evaluation {
    let this = Evaluation(value: after.value.negated, distance: after.distance + 1)
    if this.value != best.value { return this.value > best.value ? this : best }
    let isQuicker = this.distance < best.distance
    return isQuicker == (this.value == .win) && this.distance != best.distance ? this : best
  }

  /// Every move of a live state, with the evaluation after it as the other side sees it.
  package func moveEvaluations(in state: Infinite.State) -> [(cell: Cell, after: Evaluation)] {
    Infinite.moves(state).map { cell in
      var next = state
      switch Infinite.play(cell, &next) {
      case .win: return (cell, Evaluation(value: .loss, distance: 0))
      case .draw: return (cell, Evaluation(value: .draw, distance: 0))
      case nil: break
      }
      let left = Infinite.plyLimit - next.plies
      let evaluation = evaluation(of: next.board)
      return (
        cell,
        evaluation.value == .draw || evaluation.distance > left
          ? Evaluation(value: .draw, distance: left) : evaluation
      )
    }
  }

  /// The value-preserving moves. On a won board only the quickest wins, as a postponed win may never come; on a lost board only the slowest
  /// losses if `delaying`, else every move.
  package func bestMoves(on board: Infinite.Board, delaying: Bool) -> SquareSet {
    let evaluation = evaluation(of: board)
    if evaluation.value == .loss && !delaying { return board.moves }
    var result: SquareSet = []
    for square in board.moves {
      var next = board
      next.play(square)
      let after = self.evaluation(of: next)
      guard after.value.negated == evaluation.value else { continue }
      if evaluation.value == .draw || after.distance + 1 == evaluation.distance { result.insert(square) }
    }
    return result
  }
}

extension InfiniteTable {
  private struct Work {
    var values = [Int8](repeating: 0, count: boardCount)
    /// From index 9n on, the numbers of the boards after the moves of board n; −1 after the last if they are fewer than nine.
    var next = [Int32](repeating: -1, count: boardCount * width)
    /// The reachable boards in order of discovery.
    var reached: [Int32] = []
    var census = Census()

    /// Finds every reachable board and its successors.
    mutating func visit() {
      var boards = [Infinite.Board()]
      var isKnown = [Bool](repeating: false, count: boardCount)
      isKnown[0] = true
      var place = 0
      while place < boards.count {
        let board = boards[place]
        place += 1
        let number = InfiniteTable.number(of: board)
        reached.append(Int32(number))
        if board.winner != nil {
          values[number] = -1
          continue
        }
        var edge = number * width
        for square in board.moves {
          var after = board
          after.play(square)
          let follower = InfiniteTable.number(of: after)
          next[edge] = Int32(follower)
          edge += 1
          if !isKnown[follower] {
            isKnown[follower] = true
            boards.append(after)
          }
        }
      }
    }

    /// Retrograde analysis: works back from the finished boards, one ply per round.
    mutating func solve() {
      census.finished = reached.count { values[Int($0)] == -1 }
      var open = reached.filter { values[Int($0)] == 0 }
      // Odd rounds find wins and even rounds losses, so two rounds without a decided board end the search.
      var distance: Int8 = 1
      var idle = 0
      while idle < 2 {
        let before = open.count
        open.removeAll { number in
          let value = decidedValue(Int(number), distance)
          if value != 0 { values[Int(number)] = value }
          return value != 0
        }
        if open.count < before { census.longestDistance = Int(distance) }
        idle = open.count < before ? 0 : idle + 1
        distance += 1
      }
      census.draws = open.count
      for number in reached {
        if values[Int(number)] > 0 { census.wins += 1 }
        if values[Int(number)] < -1 { census.losses += 1 }
      }
    }

    /// The board's entry for `values` if best play ends the game in exactly `distance` plies, else 0.
    private func decidedValue(_ number: Int, _ distance: Int8) -> Int8 {
      var edge = number * width
      let end = edge + width
      if distance % 2 == 1 {
        while edge < end, next[edge] >= 0 {
          if values[Int(next[edge])] == -distance { return distance }
          edge += 1
        }
        return 0
      }
      while edge < end, next[edge] >= 0 {
        if values[Int(next[edge])] <= 0 { return 0 }
        edge += 1
      }
      return -distance - 1
    }
  }
}
