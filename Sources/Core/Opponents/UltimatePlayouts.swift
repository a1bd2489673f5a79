import Base
import TicTacToe

/// Plays random games of Ultimate to the end: about 60 plies in a third of a microsecond.
///
/// Not `Sendable`: each thread needs an instance of its own.
package final class UltimatePlayouts {
  /// X's marks on the nine boards, then O's.
  private let marks = UnsafeMutablePointer<UInt16>.allocate(capacity: 18)
  /// By board, the random cell of the next move there. It is drawn when the board changes, so that a ply need not wait for its random
  /// number.
  private let next = UnsafeMutablePointer<UInt8>.allocate(capacity: 9)
  /// By mask of cells: 1 if the mask contains a line, else 0.
  private let lines = UnsafeMutablePointer<UInt8>.allocate(capacity: 512)
  /// By mask of occupied cells: the empty cells in order, four bits each, and their number in the top four bits.
  private let empties = UnsafeMutablePointer<UInt64>.allocate(capacity: 512)
  /// The state of a linear congruential generator; its upper half is used.
  private var random: UInt64

  package init(seed: UInt64) {
    random = seed
    for mask in 0..<512 {
      lines[mask] = Line.hasLine(SquareSet(rawValue: UInt16(mask))) ? 1 : 0
      var (list, shift) = (UInt64(9 - mask.nonzeroBitCount) << 60, UInt64(0))
      for cell in 0..<9 where mask >> cell & 1 == 0 {
        list |= UInt64(cell) << shift
        shift += 4
      }
      empties[mask] = list
    }
  }

  deinit {
    marks.deallocate()
    next.deallocate()
    lines.deallocate()
    empties.deallocate()
  }

  package func reseed(_ seed: UInt64) { random = seed }

  /// A random number below `bound` (1…2³²). Multiplier and increment are those of D. Knuth's MMIX.
  @inline(__always)
  package func draw(_ bound: UInt64) -> UInt64 { UltimatePlayouts.draw(bound, &random) }

  @inline(__always)
  private static func draw(_ bound: UInt64, _ random: inout UInt64) -> UInt64 {
    random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return ((random &>> 32) &* bound) &>> 32
  }

  // Nine fields of seven bits, one for each board, with a 1 in each field. In play, a field has the number of empty cells of its board, or
  // 0 if the board is closed.
  private static var ones: UInt64 { 0x0102_0408_1020_4081 }
  // Every second field of `ones`, so that `anyBoard` has a spare bit above each field. `fiveOnes` has the fields of the boards 0, 2, 4, 6
  // and 8; `fourOnes` has those of the boards 1, 3, 5 and 7, shifted down by seven bits.
  private static var fiveOnes: UInt64 { 0x0100_0400_1000_4001 }
  private static var fourOnes: UInt64 { 0x0000_0400_1000_4001 }

  /// Plays random moves to the end. Returns 1 if X wins, −1 if O wins, 0 for a draw; adds the number of moves to `plies`.
  @inline(__always)
  package func play(from state: Ultimate.State, plies: inout Int) -> Int {
    let (marks, next, lines, empties) = (marks, next, lines, empties)
    var random = self.random
    var fields: UInt64 = 0
    var (x, o, closed) = (state.x, state.o, UInt64(truncatingIfNeeded: state.closed.rawValue))
    for board in 0..<9 {
      let (xMarks, oMarks) = (UInt16(truncatingIfNeeded: x) & 0x1FF, UInt16(truncatingIfNeeded: o) & 0x1FF)
      marks[board] = xMarks
      marks[9 &+ board] = oMarks
      let list = empties[Int(xMarks | oMarks)]
      next[board] = UltimatePlayouts.cell(of: list, &random)
      fields |= ((list &>> 60) &* (closed & 1 ^ 1)) &<< UInt64(truncatingIfNeeded: 7 &* board)
      (x, o, closed) = (x &>> 9, o &>> 9, closed &>> 1)
    }
    let isX = state.turn == .x
    var (mine, theirs) = isX ? (marks, marks + 9) : (marks + 9, marks)
    var myBoards = UInt64(truncatingIfNeeded: isX ? state.xBoards.rawValue : state.oBoards.rawValue)
    var theirBoards = UInt64(truncatingIfNeeded: isX ? state.oBoards.rawValue : state.xBoards.rawValue)
    var score = isX ? 1 : -1
    // For the target `anyBoard` (9), the shift by 63 bits below leaves the bit above the nine fields, always 0, so the loop draws a board.
    var board = UInt64(truncatingIfNeeded: state.target)
    while true {
      plies &+= 1
      if fields &>> (7 &* board) & 127 == 0 { board = UltimatePlayouts.anyBoard(fields, &random) }
      let place = Int(truncatingIfNeeded: board)
      let cell = UInt64(truncatingIfNeeded: next[place])
      let mark = mine[place] | UInt16(truncatingIfNeeded: 1 &<< cell as UInt64)
      mine[place] = mark
      let list = empties[Int(mark | theirs[place])]
      let isWon = UInt64(truncatingIfNeeded: lines[Int(mark)])
      next[place] = UltimatePlayouts.cell(of: list, &random)
      fields &-= (1 &+ (list &>> 60 & (0 &- isWon))) &<< (7 &* board)
      myBoards |= isWon &<< board
      if lines[Int(truncatingIfNeeded: myBoards)] != 0 { break }
      if fields == 0 {
        score = 0
        break
      }
      (mine, theirs) = (theirs, mine)
      (myBoards, theirBoards) = (theirBoards, myBoards)
      score = 0 &- score
      board = cell
    }
    self.random = random
    return score
  }

  /// A random cell of a list of empty cells; an arbitrary number if the list is empty.
  @inline(__always)
  private static func cell(of list: UInt64, _ random: inout UInt64) -> UInt8 {
    UInt8(truncatingIfNeeded: list &>> (4 &* draw(list &>> 60, &random)) & 15)
  }

  /// The board of a random empty cell: draws the cell's rank among the empty cells of open boards, and counts the boards before this cell.
  @inline(__always)
  private static func anyBoard(_ fields: UInt64, _ random: inout UInt64) -> UInt64 {
    let sums = fields &* ones
    let drawn = draw(sums &>> 56 & 127, &random)
    let five = (drawn &* fiveOnes | 128 &* fiveOnes) &- (sums & (127 &* fiveOnes))
    let four = (drawn &* fourOnes | 128 &* fourOnes) &- (sums &>> 7 & (127 &* fourOnes))
    // In `five` and `four`, the bit above the field of a board b stays set if the boards 0…b have at most as many empty cells as the rank
    // drawn.
    let isBelow = (five &>> 7 & fiveOnes) &+ (four &>> 7 & fourOnes)
    return (isBelow &* fiveOnes) &>> 56
  }
}
