/// The parameters of the modal piano, fitted to a sampled grand: rows of integers for every third note. `tools/fit-piano/fit.py` generates
/// `table`, where the units are described.
enum PianoFit {
  struct Anchor {
    /// The note's MIDI number, hammer rise, inharmonicity and tuning.
    var head: [Int]
    /// One row for each partial.
    var partials: [[Int]] = []
    /// One row for each short noise of hammer and soundboard.
    var thuds: [[Int]] = []
  }

  /// The fitted notes of the table, lowest first.
  static func anchors() -> [Anchor] {
    let numbers = Self.numbers(table)
    var at = 0
    func row(_ count: Int) -> [Int] {
      defer { at += count }
      return Array(numbers[at..<at + count])
    }
    var anchors: [Anchor] = []
    while at < numbers.count {
      var anchor = Anchor(head: row(4))
      let counts = row(2)
      for _ in 0..<counts[0] { anchor.partials.append(row(12)) }
      for _ in 0..<counts[1] { anchor.thuds.append(row(3)) }
      anchors.append(anchor)
    }
    return anchors
  }

  /// Decodes base64 digits to numbers; ignores line ends.
  static func numbers(_ text: String) -> [Int] {
    var numbers: [Int] = []
    var (value, shift) = (0, 0)
    let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    for byte in text.utf8 {
      guard let digit = digits.firstIndex(of: byte) else { continue }
      value |= (digit & 31) << shift
      shift += 5
      guard digit < 32 else { continue }
      numbers.append(value & 1 == 0 ? value >> 1 : -(value >> 1))
      (value, shift) = (0, 0)
    }
    return numbers
  }
}
