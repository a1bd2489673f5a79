import Glibc

// No other file of this target imports the C library.

func sine(_ x: Double) -> Double { sin(x) }
func cosine(_ x: Double) -> Double { cos(x) }
func power(_ x: Double, _ y: Double) -> Double { pow(x, y) }

/// Linear interpolation from `a` (t = 0) to `b` (t = 1).
func mix(_ a: Double, _ b: Double, _ t: Double) -> Double { a + (b - a) * t }

extension Comparable {
  func clamped(to range: ClosedRange<Self>) -> Self { min(max(self, range.lowerBound), range.upperBound) }
}
