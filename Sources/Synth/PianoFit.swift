/// What the modal piano learnt from a sampled grand: rows of integers for every third note.
///
/// `table` is written by `tools/fit-piano/fit.py`; units are described there.
struct PianoFit {
  /// A fitted note.
  struct Anchor {
    /// MIDI number, rise, inharmonicity, detuning.
    var head: [Int]
    /// One row for each partial.
    var partials: [[Int]] = []
    /// One row for each short mode of hammer and soundboard.
    var thuds: [[Int]] = []
  }

  /// The fitted notes, lowest first.
  let anchors: [Anchor]

  /// Reads the table.
  init(_ table: String = Self.table) {
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
    self.anchors = anchors
  }

  /// The numbers of a text of base64 digits; line ends are none.
  static func numbers(_ text: String) -> [Int] {
    var numbers: [Int] = []
    var (value, shift) = (0, 0)
    for byte in text.utf8 {
      let digit =
        switch byte {
        case 0x41...0x5A: Int(byte) - 0x41
        case 0x61...0x7A: Int(byte) - 0x61 + 26
        case 0x30...0x39: Int(byte) - 0x30 + 52
        case 0x2B: 62
        case 0x2F: 63
        default: -1
        }
      guard digit >= 0 else { continue }
      value |= (digit & 31) << shift
      shift += 5
      guard digit < 32 else { continue }
      numbers.append(value & 1 == 0 ? value >> 1 : -(value >> 1))
      (value, shift) = (0, 0)
    }
    return numbers
  }
}
