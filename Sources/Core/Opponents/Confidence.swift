/// The factors of a tree search's exploration term: √(k ln n) for a position with n visits, 1/√n for a move with n visits. The results are
/// the same on every machine.
struct Confidence {
  private let explorations: UnsafeMutablePointer<Float>
  private let inverseRoots: UnsafeMutablePointer<Float>
  /// k ln 2, so that k ln n = `factor` · log₂ n.
  private let factor: Float
  /// The entries of each table. The factors of greater numbers of visits, which are rare, are computed at each use.
  private static var tableSize: Int { 4096 }

  /// Allocates the tables, which `deallocate` frees. `k` is the factor of ln n in √(k ln n).
  init(k: Float) {
    factor = k * 0.693_147_18
    explorations = .allocate(capacity: Confidence.tableSize)
    inverseRoots = .allocate(capacity: Confidence.tableSize)
    for n in 0..<Confidence.tableSize {
      explorations[n] = Confidence.exploration(UInt32(n), factor)
      inverseRoots[n] = n == 0 ? 0 : 1 / Float(n).squareRoot()
    }
  }

  func deallocate() {
    explorations.deallocate()
    inverseRoots.deallocate()
  }

  /// √(k ln n) for a position with n visits; 0 for n = 0. The logarithm is interpolated linearly between powers of two.
  @inline(__always)
  func exploration(_ n: UInt32) -> Float {
    n < UInt32(Confidence.tableSize) ? explorations[Int(n)] : Confidence.exploration(n, factor)
  }

  /// 1/√n for a move with n visits; 0 for n = 0.
  @inline(__always)
  func inverseRoot(_ n: UInt32) -> Float {
    n < UInt32(Confidence.tableSize) ? inverseRoots[Int(n)] : 1 / Float(n).squareRoot()
  }

  private static func exploration(_ n: UInt32, _ factor: Float) -> Float {
    guard n > 1 else { return 0 }
    let exponent = 31 - n.leadingZeroBitCount
    let mantissa = Float(n) / Float(UInt32(1) << UInt32(exponent)) - 1
    return (factor * (Float(exponent) + mantissa)).squareRoot()
  }
}
