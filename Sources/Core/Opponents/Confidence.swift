/// The two factors of the exploration term that a tree search adds to a move's mean score: √(k ln n) for a position with n visits, and 1/√n
/// for a move with n visits. They come from tables if n is small. The results are the same on every machine.
struct Confidence {
  private let explorations: UnsafeMutablePointer<Float>
  private let inverseRoots: UnsafeMutablePointer<Float>
  /// The parameter `k` of `init`, times ln 2. So k ln n = `factor` · log₂ n, and `exploration` needs only log₂.
  private let factor: Float
  /// The number of entries of each table. Greater numbers of visits are rare; their factors are computed at each use.
  private static var tableSize: Int { 4096 }

  /// Allocates the tables; `deallocate` frees them.
  /// - Parameter k: The factor of ln n in √(k ln n).
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

  /// √(k ln n) for a position with n visits; the logarithm is interpolated linearly between powers of two. 0 for n = 0.
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
