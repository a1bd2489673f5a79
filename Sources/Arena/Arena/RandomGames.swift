import TicTacToe

/// Plays random games without data-dependent branches.
///
/// A game uses one 64-bit random number. Each move multiplies it by the number of free cells: the upper 64 bits of the product select the
/// cell, the lower 64 bits are the random number of the next move. In `list`, whose four-bit digits are the free cells, the selected cell
/// is exchanged with the last. `Benchmarks/arena-bench/baseline.c` does the same in C.
struct RandomGames: ~Copyable {
  /// For each set of a side's marks as a bit mask, 1 if the set contains a line.
  private let line = UnsafeMutablePointer<UInt64>.allocate(capacity: 512)
  /// By the ply that completes the first line (10 for none), the length, result and ending of a `PackedGame`.
  private let packed = UnsafeMutablePointer<UInt64>.allocate(capacity: 11)

  init() {
    for mask in 0..<512 {
      (line + mask).initialize(to: Line.hasLine(SquareSet(rawValue: UInt16(mask))) ? 1 : 0)
    }
    for end in 0...10 {
      let outcome: Outcome = end == 10 ? .draw : .win(end % 2 == 1 ? .x : .o)
      (packed + end).initialize(to: PackedGame(nibbles: 0, count: min(end, 9), outcome: outcome).bits)
    }
  }

  deinit {
    line.deallocate()
    packed.deallocate()
  }

  @inline(__always)
  func play(seed: UInt64, index: UInt64) -> PackedGame {
    var random = seed &+ (index &+ 1) &* 0x9E37_79B9_7F4A_7C15
    random = (random ^ random &>> 30) &* 0xBF58_476D_1CE4_E5B9
    random = (random ^ random &>> 27) &* 0x94D0_49BB_1331_11EB
    random ^= random &>> 31
    var list: UInt64 = 0x8_7654_3210
    var (sequence, x, o) = (UInt64(0), UInt64(0), UInt64(0))
    var ends: UInt64 = 1 &<< 10
    @inline(__always)
    func ply(_ n: UInt64, _ side: inout UInt64) {
      let product = random.multipliedFullWidth(by: 9 &- n)
      let place = product.high &* 4
      random = product.low
      let cell = list &>> place & 15
      list ^= (cell ^ (list &>> (4 &* (8 &- n)) & 15)) &<< place
      sequence |= cell &<< (4 &* n)
      side |= 1 &<< cell
    }
    ply(0, &x)
    ply(1, &o)
    ply(2, &x)
    ply(3, &o)
    ply(4, &x)
    ends |= line[Int(truncatingIfNeeded: x)] &<< 5
    ply(5, &o)
    ends |= line[Int(truncatingIfNeeded: o)] &<< 6
    ply(6, &x)
    ends |= line[Int(truncatingIfNeeded: x)] &<< 7
    ply(7, &o)
    ends |= line[Int(truncatingIfNeeded: o)] &<< 8
    ply(8, &x)
    ends |= line[Int(truncatingIfNeeded: x)] &<< 9
    // The game ends with the first line; without a line, `end` is 10 and the game has nine moves.
    let end = UInt64(truncatingIfNeeded: ends.trailingZeroBitCount)
    let length = end &- end / 10
    let played = sequence & ((1 &<< (4 &* length)) &- 1)
    return PackedGame(bits: played | packed[Int(truncatingIfNeeded: end)])
  }
}
