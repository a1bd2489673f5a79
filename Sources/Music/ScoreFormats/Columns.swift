package func fixed(_ x: Double, _ decimals: Int) -> String {
  var scale = 1
  for _ in 0..<decimals { scale *= 10 }
  let n = Int((abs(x) * Double(scale)).rounded())
  let sign = x < 0 && n > 0 ? "-" : ""
  return decimals == 0 ? "\(sign)\(n)" : "\(sign)\(n / scale).\("\(n % scale)".paddedLeft(to: decimals, with: "0"))"
}

extension String {
  package func paddedLeft(to width: Int, with character: Character = " ") -> String {
    String(repeating: character, count: max(width - count, 0)) + self
  }
}
