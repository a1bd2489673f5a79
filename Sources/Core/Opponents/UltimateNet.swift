import Oracle
import TicTacToe

/// The part of `UltimateValue` that sees all boards together: a net with one hidden layer, whose inputs are facts of a position, 0 or 1.
///
/// Each of the `unitCount` units has eight hidden neurons with shared weights, one for each symmetry of the board, so that images of a
/// position have the same value. A neuron clamps its sum to 0…1; the square is its output.
struct UltimateNet: ~Copyable {
  /// The weights of one input in the eight neurons of one unit.
  typealias Column = SIMD8<Int16>

  static var unitCount: Int { 8 }
  /// The inputs, in this order: each board with each status; each board in which the side to move may have to play, with each status; a
  /// free choice of the board; each side's mark in each cell of an open board.
  static var inputCount: Int { marks + 2 * 81 }
  /// The order in a weights file: each unit's weights of all inputs; a bias of each unit; an output weight of each unit; the output's bias.
  static var weightCount: Int { unitCount * (inputCount + 2) + 1 }

  /// The integer that stands for 1 in the input weights, the biases and the neurons' sums.
  static var scale: Int { 128 }
  /// The integer that stands for an output weight of 1.
  static var outputScale: Int { 64 }
  /// The greatest output weight whose product with `scale`, the greatest clamped sum, fits into 16 bits.
  static var outputLimit: Int { 255 }

  private static var targets: Int { 9 * UltimateValue.statusCount }
  private static var openCount: Int { Int(UltimateValue.won) }
  /// The input that is 1 if the side to move may play on any board.
  static var free: Int { targets + 9 * openCount }
  private static var marks: Int { free + 1 }

  @inline(__always)
  static func input(board: Int, status: Int) -> Int { board &* UltimateValue.statusCount &+ status }

  /// The input that is 1 if the side to move has to play in the board `board`, which has the status `status`.
  @inline(__always)
  static func input(target board: Int, status: Int) -> Int { targets &+ board &* openCount &+ status }

  /// The input that is 1 if a side has a mark in a cell of an open board.
  /// - Parameters:
  ///   - side: 0 for the side to move, 1 for the other side.
  ///   - cell: 9 times the number of the board, plus the place of the cell on this board.
  @inline(__always)
  static func input(side: Int, cell: Int) -> Int { marks &+ 81 &* side &+ cell }

  /// At [symmetry][input], the input that becomes 1 in place of this input if the symmetry is applied to the position.
  static func images() -> [[Int]] {
    Symmetry.all.map { symmetry in
      func image(_ board: Int) -> Int { symmetry.images[board].index }
      let statuses = (0..<targets).map { $0.quotientAndRemainder(dividingBy: UltimateValue.statusCount) }
      let open = (0..<9 * openCount).map { $0.quotientAndRemainder(dividingBy: openCount) }
      return statuses.map { input(board: image($0.quotient), status: $0.remainder) }
        + open.map { input(target: image($0.quotient), status: $0.remainder) } + [free]
        + (0..<2 * 81).map { input(side: $0 / 81, cell: 9 * image($0 % 81 / 9) + image($0 % 9)) }
    }
  }

  /// At [input][unit], the weights of the input in the unit's eight neurons. `weights` are in the order of a weights file.
  static func columns<Weight: SIMDScalar>(of weights: [Weight], _ images: [[Int]]) -> [SIMD8<Weight>] {
    var columns = [SIMD8<Weight>](repeating: SIMD8(), count: inputCount * unitCount)
    for symmetry in images.indices {
      for input in 0..<inputCount {
        for unit in 0..<unitCount {
          columns[images[symmetry][input] * unitCount + unit][symmetry] = weights[unit * inputCount + input]
        }
      }
    }
    return columns
  }

  /// The result of `columns(of:_:)`, then the units' biases.
  private let columns: UnsafeMutablePointer<Column>
  private let outputs: UnsafeMutablePointer<Column>
  private let bias: Int32

  /// `weights` are in the order of a weights file.
  init(weights: [Int16]) {
    let (units, inputs) = (UltimateNet.unitCount, UltimateNet.inputCount)
    columns = .allocate(capacity: (inputs + 1) * units)
    outputs = .allocate(capacity: units)
    let images = UltimateNet.images()
    for (index, column) in UltimateNet.columns(of: weights, images).enumerated() { columns[index] = column }
    for unit in 0..<units {
      columns[inputs * units + unit] = Column(repeating: weights[units * inputs + unit])
      outputs[unit] = Column(repeating: weights[units * (inputs + 1) + unit])
    }
    bias = Int32(weights[units * (inputs + 2)])
  }

  deinit {
    columns.deallocate()
    outputs.deallocate()
  }

  /// By unit, the sums of its eight hidden neurons: the bias and the weights of the inputs that are 1.
  struct Sums {
    fileprivate var units = InlineArray<8, Column>(repeating: Column(repeating: 0))
  }

  @inline(__always)
  func start() -> Sums {
    var sums = Sums()
    add(UltimateNet.inputCount, to: &sums)
    return sums
  }

  @inline(__always)
  func add(_ input: Int, to sums: inout Sums) {
    let column = columns + input &* UltimateNet.unitCount
    for unit in 0..<UltimateNet.unitCount { sums.units[unchecked: unit] &+= column[unit] }
  }

  @inline(__always)
  func subtract(_ input: Int, from sums: inout Sums) {
    let column = columns + input &* UltimateNet.unitCount
    for unit in 0..<UltimateNet.unitCount { sums.units[unchecked: unit] &-= column[unit] }
  }

  /// Adds the inputs of a side's marks, which are all on open boards.
  @inline(__always)
  func add(marks: MoveSet, side: Int, to sums: inout Sums) {
    for cell in marks { add(UltimateNet.input(side: side, cell: Int(cell.rawValue)), to: &sums) }
  }

  @inline(__always)
  func subtract(marks: MoveSet, side: Int, from sums: inout Sums) {
    for cell in marks { subtract(UltimateNet.input(side: side, cell: Int(cell.rawValue)), from: &sums) }
  }

  /// The net's share of the log-odds that the side to move wins, in units of 1/256 (`UltimateValue.scale`), as in the tables.
  @inline(__always)
  func output(_ sums: Sums) -> Int32 {
    let (zero, one) = (Column(repeating: 0), Column(repeating: Int16(UltimateNet.scale)))
    var total = SIMD4<Int32>(repeating: 0)
    for unit in 0..<UltimateNet.unitCount {
      var sum = sums.units[unchecked: unit]
      sum.replace(with: zero, where: sum .< zero)
      sum.replace(with: one, where: sum .> one)
      let products =
        SIMD8<Int32>(truncatingIfNeeded: sum) &* SIMD8<Int32>(truncatingIfNeeded: sum &* outputs[unit])
      total &+= products.evenHalf &+ products.oddHalf
    }
    // A log-odds of 1 is 128² · 64 = 2²⁰ in `total` and 256 = 2⁸ in the result, so divide by 2¹².
    return bias &+ total.wrappedSum() &>> 12
  }
}
