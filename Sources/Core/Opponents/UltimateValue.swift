import Oracle
import TicTacToe

/// The value function of the two highest levels of Ultimate: weights trained by `alina-arena train-ultimate` in self-play.
///
/// A state's value is a sum of table look-ups, one per board and one per line of three boards, and the output of a net, mapped to −1…1.
/// Only `init` writes the memory, so threads can share it.
package final class UltimateValue: @unchecked Sendable {
  /// One weight for each base-3 key of a board at a corner, an edge or the centre, in which the side to move may or may not play.
  package static let boardWeightCount = 2 * 3 * Position.keyCount
  /// One weight for each combination of statuses of three boards along the rim, through edges and the centre, or on a diagonal.
  package static let lineWeightCount = 3 * statusCount * statusCount * statusCount
  /// The weights of boards come first.
  static let tableWeightCount = boardWeightCount + lineWeightCount
  /// The net's weights come last.
  package static let weightCount = tableWeightCount + UltimateNet.weightCount
  /// A weight of this size adds 1 to the log-odds of a win: ln of the chance of a win over the chance of a loss.
  package static let scale = 256

  /// Sixteen for open boards (see `boardClass(of:)`), and won, lost, drawn.
  package static let statusCount = 19
  static var won: UInt8 { 16 }
  static var lost: UInt8 { 17 }
  static var drawn: UInt8 { 18 }

  /// The weight of a board, at [1 if the side to move may play there, else 0][board][base-3 key with the mover's marks as X].
  let boards: UnsafeMutablePointer<Int16>
  /// The weight of a line from the statuses of its boards, at [line][first · 361 + second · 19 + third].
  let lines: UnsafeMutablePointer<Int16>
  /// By base-3 key of a board, its status.
  let boardClasses: UnsafeMutablePointer<UInt8>
  /// By mask of cells, the base-3 key of a board with X's marks in these cells.
  let keys: UnsafeMutablePointer<Int32>
  private let net: UltimateNet
  /// The values −1…1 for all sums of weights from −`bound` to `bound`.
  private let valueTable: UnsafeMutablePointer<Float>
  /// Sums of weights are clamped to ±`bound`, a log-odds of ±8, where the value is almost ±1.
  private static let bound: Int32 = 8 * Int32(scale)

  /// The first line of a weights file: the version and the numbers of weights of boards, lines and net (inputs × units).
  package static var mark: String {
    "alina-ultimate-2 \(boardWeightCount) \(lineWeightCount) \(UltimateNet.inputCount)x\(UltimateNet.unitCount)\n"
  }
  /// A weights file is the mark and then the weights as little-endian 16-bit integers.
  package static var byteCount: Int { mark.utf8.count + 2 * weightCount }

  /// Reads a weights file; `nil` for another size or mark.
  package convenience init?(bytes: [UInt8]) {
    let mark = UltimateValue.mark.utf8
    guard bytes.count == UltimateValue.byteCount, bytes.starts(with: mark) else { return nil }
    self.init(
      weights: (0..<UltimateValue.weightCount).map {
        let place = mark.count + 2 * $0
        return Int16(bitPattern: UInt16(bytes[place]) | UInt16(bytes[place + 1]) << 8)
      })
  }

  /// The bytes of a weights file.
  package static func bytes(of weights: [Int16]) -> [UInt8] {
    Array(mark.utf8) + weights.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] }
  }

  /// A weight as in a weights file: multiplied by `scale`, and rounded to 16 bits.
  static func rounded(_ weight: Float, scale: Int) -> Int16 {
    Int16(max(-32_767, min(32_767, (weight * Float(scale)).rounded())))
  }

  /// `weights` are in the order of a weights file, in which boards or lines that are images of each other share their weights.
  package init(weights: [Int16]) {
    precondition(weights.count == UltimateValue.weightCount, "\(weights.count) numbers")
    let cells = Position.keyCount
    let lineSize = UltimateValue.lineWeightCount / 3
    net = UltimateNet(weights: Array(weights[UltimateValue.tableWeightCount...]))
    boards = .allocate(capacity: 2 * 9 * cells)
    lines = .allocate(capacity: 8 * lineSize)
    boardClasses = .allocate(capacity: cells)
    keys = .allocate(capacity: 512)
    valueTable = .allocate(capacity: 2 * Int(UltimateValue.bound) + 1)
    for (index, place) in UltimateValue.boardPlaces().enumerated() {
      boards[index] = weights[Int(place)]
      boards[9 * cells + index] = weights[3 * cells + Int(place)]
    }
    for line in 0..<8 {
      for index in 0..<lineSize {
        let (a, b, c) = (index / 361, index / 19 % 19, index % 19)
        lines[line * lineSize + index] = weights[UltimateValue.linePlace(line, a, b, c)]
      }
    }
    for key in 0..<cells { boardClasses[key] = UltimateValue.boardClass(of: Position(ternaryKey: key)) }
    for mask in 0..<512 { keys[mask] = Int32(Position(x: SquareSet(rawValue: UInt16(mask)), o: []).ternaryKey) }
    for step in 0...(2 * Int(UltimateValue.bound)) {
      let odds = Float(step - Int(UltimateValue.bound)) / Float(UltimateValue.scale)
      valueTable[step] = UltimateValue.tanhHalf(odds)
    }
  }

  deinit {
    boards.deallocate()
    lines.deallocate()
    boardClasses.deallocate()
    keys.deallocate()
    valueTable.deallocate()
  }

  /// tanh(x/2), with the same result on every machine.
  package static func tanhHalf(_ x: Float) -> Float {
    // e^x ≈ (1 + x/4096)^4096.
    var power = 1 + x / 4096
    for _ in 0..<12 { power *= power }
    return (power - 1) / (power + 1)
  }

  @inline(__always)
  func value(ofSum sum: Int32) -> Float {
    let bound = UltimateValue.bound
    return valueTable[Int(truncatingIfNeeded: max(-bound, min(bound, sum)) &+ bound)]
  }

  /// `won`, `lost` or `drawn` for the side whose marks are X's; for an open board 4 times this side's `linePotential` plus the other
  /// side's.
  package static func boardClass(of position: Position) -> UInt8 {
    if Line.hasLine(position.x) { return won }
    if Line.hasLine(position.o) { return lost }
    if position.empty.isEmpty { return drawn }
    return 4 * linePotential(position.x, position.o, position.empty)
      + linePotential(position.o, position.x, position.empty)
  }

  /// 3 if two or more cells would complete a line of `mine`, 2 if one cell would, 1 if a line has no mark of the other side, else 0.
  private static func linePotential(_ mine: SquareSet, _ theirs: SquareSet, _ empty: SquareSet) -> UInt8 {
    let completions = Line.completions(of: mine).intersection(empty).count
    if completions > 0 { return UInt8(1 + min(completions, 2)) }
    return Line.all.contains { $0.intersection(theirs).isEmpty } ? 1 : 0
  }

  /// The order is that of `Line.all`.
  package static let boardsOfLines: InlineArray<8, InlineArray<3, Int>> = [
    [0, 1, 2], [3, 4, 5], [6, 7, 8], [0, 3, 6], [1, 4, 7], [2, 5, 8], [0, 4, 8], [2, 4, 6],
  ]
}

extension UltimateValue {
  /// At [board][base-3 key], the index of the board's weight if the side to move may not play there.
  ///
  /// Corner boards share the weights of the top left corner, edge boards those of the top edge. If several symmetries map the board there,
  /// the least key of its images selects the weight.
  static func boardPlaces() -> [Int32] {
    let cells = Position.keyCount
    return (0..<9).flatMap { (board) -> [Int32] in
      // 0 a corner, 1 an edge, 2 the centre.
      let kind = board == 4 ? 2 : board % 2
      let home = [0, 1, 4][kind]
      let images = Symmetry.all.filter { $0.images[board].index == home }.map { $0.keys }
      return (0..<cells).map { key in Int32(kind * cells + images.reduce(cells) { min($0, $1[key]) }) }
    }
  }

  /// The index of a line's weight by its boards' statuses; reversing a line gives the same index.
  static func linePlace(_ line: Int, _ first: Int, _ second: Int, _ third: Int) -> Int {
    // 0 along the rim, 1 through edges and the centre, 2 diagonal.
    let kind = line >= 6 ? 2 : line % 3 == 1 ? 1 : 0
    let classes = (min(first, third) * 19 + second) * 19 + max(first, third)
    return boardWeightCount + kind * lineWeightCount / 3 + classes
  }
}

extension UltimateValue {
  /// Evaluates every move for the side that makes it, in the order of `moves`.
  ///
  /// Sums the weights of the position once. For each move, adds only the differences that the move makes.
  @inline(__always)
  func evaluateMoves(_ moves: MoveSet, in state: Ultimate.State, into values: UnsafeMutablePointer<Float>) {
    let size = Position.keyCount
    // `mine` has the marks of the side that moves after the evaluated move. The keys in `key` have this side's marks as X's.
    let isX = state.turn == .x
    let (mine, theirs) = isX ? (state.o, state.x) : (state.x, state.o)
    var key = InlineArray<9, Int32>(repeating: 0)
    var plain = InlineArray<9, Int32>(repeating: 0)
    var extra = InlineArray<9, Int32>(repeating: 0)
    var classes = InlineArray<9, Int32>(repeating: 0)
    var (sum, extras): (Int32, Int32) = (0, 0)
    // The sums of the net's neurons, still without the input for the board in which the next move has to be.
    var sums = net.start()
    var open: UInt128 = 0
    for board in 0..<9 {
      let cells: UInt128 = 0x1FF &<< UInt128(9 &* board)
      let (a, b) = ((mine & cells) &>> UInt128(9 &* board), (theirs & cells) &>> UInt128(9 &* board))
      let k = keys[Int(truncatingIfNeeded: a)] &+ 2 &* keys[Int(truncatingIfNeeded: b)]
      let status = boardClasses[Int(k)]
      key[unchecked: board] = k
      classes[unchecked: board] = Int32(status)
      net.add(UltimateNet.input(board: board, status: Int(status)), to: &sums)
      if state.closed.rawValue &>> UInt16(board) & 1 == 0 {
        let low = Int32(boards[board &* size &+ Int(k)])
        let high = Int32(boards[(9 &+ board) &* size &+ Int(k)]) &- low
        plain[unchecked: board] = low
        extra[unchecked: board] = high
        sum &+= low
        extras &+= high
        open |= cells
      }
    }
    for line in 0..<8 { sum &+= lineWeight(line, classes) }
    net.add(marks: MoveSet(rawValue: mine & open), side: 0, to: &sums)
    net.add(marks: MoveSet(rawValue: theirs & open), side: 1, to: &sums)
    var place = 0
    for cell in moves {
      let (board, target) = Int(cell.rawValue).quotientAndRemainder(dividingBy: 9)
      let k = Int(key[unchecked: board] &+ 2 &* keys[1 &<< target])
      let old = classes[unchecked: board]
      let new = Int32(boardClasses[k])
      var after = sums
      var total = sum &- plain[unchecked: board]
      var rest = extras &- extra[unchecked: board]
      var high: Int32 = 0
      if new < Int32(UltimateValue.won) {
        let low = Int32(boards[board &* size &+ k])
        high = Int32(boards[(9 &+ board) &* size &+ k]) &- low
        total &+= low
        rest &+= high
      }
      let status = target == board ? new : classes[unchecked: target]
      if status < Int32(UltimateValue.won) {
        total &+= target == board ? high : extra[unchecked: target]
        net.add(UltimateNet.input(target: target, status: Int(status)), to: &after)
      } else {
        total &+= rest
        net.add(UltimateNet.free, to: &after)
      }
      if new != old {
        var changed = classes
        changed[unchecked: board] = new
        var lines = UltimateValue.linesThrough[board]
        while lines != 0 {
          let line = lines.trailingZeroBitCount
          total &+= lineWeight(line, changed) &- lineWeight(line, classes)
          lines &= lines &- 1
        }
        net.add(UltimateNet.input(board: board, status: Int(new)), to: &after)
        net.subtract(UltimateNet.input(board: board, status: Int(old)), from: &after)
      }
      if new < Int32(UltimateValue.won) {
        net.add(UltimateNet.input(side: 1, cell: Int(cell.rawValue)), to: &after)
      } else {
        let cells: UInt128 = 0x1FF &<< UInt128(9 &* board)
        net.subtract(marks: MoveSet(rawValue: mine & cells), side: 0, from: &after)
        net.subtract(marks: MoveSet(rawValue: theirs & cells), side: 1, from: &after)
      }
      values[place] = -value(ofSum: total &+ net.output(after))
      place &+= 1
    }
  }

  @inline(__always)
  private func lineWeight(_ line: Int, _ classes: InlineArray<9, Int32>) -> Int32 {
    let b = UltimateValue.boardsOfLines[line]
    let index = (classes[unchecked: b[0]] &* 19 &+ classes[unchecked: b[1]]) &* 19 &+ classes[unchecked: b[2]]
    return Int32(lines[line &* 6859 &+ Int(index)])
  }

  /// By board, the lines through it as a bit mask.
  private static let linesThrough: InlineArray<9, UInt8> = [
    0b0100_1001, 0b0001_0001, 0b1010_0001, 0b0000_1010, 0b1101_0010, 0b0010_0010, 0b1000_1100, 0b0001_0100, 0b0110_0100,
  ]
}
