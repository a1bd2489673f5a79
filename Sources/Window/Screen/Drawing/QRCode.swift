/// A QR code (ISO/IEC 18004) of a text: byte mode, versions 1 to 6 with error correction level M, 7 to 9 with level L.
package struct QRCode: Sendable, Hashable {
  /// Modules on a side, without the quiet zone.
  package let size: Int
  /// Row by row; `true` is dark.
  private var modules: [Bool]
  /// Whether each module belongs to a function pattern, which contains no data.
  private var isFixed: [Bool]

  /// The white margin in modules that ISO/IEC 18004 requires.
  package static let quietZone = 4
  /// Data codewords, error correction codewords per block, and number of blocks, by version.
  private static let versions = [
    (16, 10, 1), (28, 16, 1), (44, 26, 1), (64, 18, 2), (86, 24, 2), (108, 16, 4),
    (156, 20, 2), (194, 24, 2), (232, 30, 2),
  ]

  /// Versions 1 to 6 have error correction level M, later versions level L.
  private static let mostMedium = 6
  /// The version information from version 7 on, with error correction bits (ISO/IEC 18004, annex D).
  private static let versionBits = [0x07C94, 0x085BC, 0x09A99]

  /// `nil` if the text has more than 230 bytes.
  package init?(_ text: String) {
    let bytes = Array(text.utf8)
    guard let version = QRCode.versions.firstIndex(where: { bytes.count + 2 <= $0.0 }) else { return nil }
    let (room, correction, count) = QRCode.versions[version]
    // Besides the text: 4 bits for byte mode, 8 for the length and 4 for the terminator.
    var data: [UInt8] = []
    var carried: UInt8 = 4
    for byte in [UInt8(bytes.count)] + bytes {
      data.append(carried << 4 | byte >> 4)
      carried = byte & 15
    }
    data.append(carried << 4)
    while data.count < room { data.append((data.count - bytes.count) % 2 == 0 ? 0xEC : 0x11) }
    let blocks = (0..<count).map { Array(data[($0 * room / count)..<(($0 + 1) * room / count)]) }
    let corrections = blocks.map { QRCode.remainder(of: $0, degree: correction) }
    let codewords =
      (0..<room / count).flatMap { i in blocks.map { $0[i] } }
      + (0..<correction).flatMap { i in corrections.map { $0[i] } }
    size = 21 + 4 * version
    modules = Array(repeating: false, count: size * size)
    isFixed = modules
    drawPatterns()
    drawMessage(codewords)
  }

  package func isDark(_ x: Int, _ y: Int) -> Bool { modules[y * size + x] }

  private mutating func set(_ x: Int, _ y: Int, _ isDark: Bool) {
    (modules[y * size + x], isFixed[y * size + x]) = (isDark, true)
  }

  /// Draws finder, timing and alignment patterns and the format information (error correction level and mask).
  private mutating func drawPatterns() {
    for i in 0..<size {
      set(i, 6, i % 2 == 0)
      set(6, i, i % 2 == 0)
    }
    for (midX, midY) in [(3, 3), (size - 4, 3), (3, size - 4)] {
      for y in max(0, midY - 4)...min(size - 1, midY + 4) {
        for x in max(0, midX - 4)...min(size - 1, midX + 4) {
          let ring = max(abs(x - midX), abs(y - midY))
          set(x, y, ring != 2 && ring != 4)
        }
      }
    }
    let version = (size - 17) / 4
    let isLow = version > QRCode.mostMedium
    let centers = version == 1 ? [] : isLow ? [6, size / 2, size - 7] : [size - 7]
    for midY in centers {
      for midX in centers where min(midX, midY) > 6 || max(midX, midY) < size - 7 && midX != midY {
        for y in -2...2 { for x in -2...2 { set(midX + x, midY + y, max(abs(x), abs(y)) != 1) } }
      }
    }
    if isLow {
      for i in 0..<18 {
        let isDark = QRCode.versionBits[version - QRCode.mostMedium - 1] >> i & 1 == 1
        set(size - 11 + i % 3, i / 3, isDark)
        set(i / 3, size - 11 + i % 3, isDark)
      }
    }
    // The format information: error correction level and mask 0, with ten error correction bits.
    let format = isLow ? 0x77C4 : 0x5412
    for i in 0..<15 {
      let isDark = format >> i & 1 == 1
      set(8, i < 6 ? i : i < 8 ? i + 1 : size - 15 + i, isDark)
      set(i < 8 ? size - 1 - i : i == 8 ? 7 : 14 - i, 8, isDark)
    }
    set(8, size - 8, true)
  }

  /// Fills pairs of columns from the right, upwards and downwards in turn. Mask 0 inverts every second module.
  private mutating func drawMessage(_ codewords: [UInt8]) {
    var bit = 0
    for (turn, right) in ([Int](stride(from: size - 1, to: 6, by: -2)) + [5, 3, 1]).enumerated() {
      for step in 0..<size {
        let y = turn % 2 == 0 ? size - 1 - step : step
        for x in [right, right - 1] where !isFixed[y * size + x] {
          let isSet = bit < codewords.count * 8 && codewords[bit / 8] >> UInt8(7 - bit % 8) & 1 == 1
          modules[y * size + x] = isSet != ((x + y) % 2 == 0)
          bit += 1
        }
      }
    }
  }

  /// The Reed–Solomon error correction codewords of a block.
  private static func remainder(of block: [UInt8], degree: Int) -> [UInt8] {
    // The polynomial (x + 1)(x + 2)(x + 4)…, without the leading 1.
    var divisor = [UInt8](repeating: 0, count: degree - 1) + [1]
    var root: UInt8 = 1
    for _ in 0..<degree {
      for i in 0..<degree { divisor[i] = product(divisor[i], root) ^ (i + 1 < degree ? divisor[i + 1] : 0) }
      root = product(root, 2)
    }
    var result = [UInt8](repeating: 0, count: degree)
    for byte in block {
      let factor = byte ^ result.removeFirst()
      result.append(0)
      for i in 0..<degree { result[i] ^= product(divisor[i], factor) }
    }
    return result
  }

  /// Multiplies in GF(256) with the polynomial x⁸ + x⁴ + x³ + x² + 1.
  private static func product(_ a: UInt8, _ b: UInt8) -> UInt8 {
    var result = 0
    for bit in (0..<8).reversed() {
      result = result << 1 ^ (result >> 7) * 0x11D
      if b >> UInt8(bit) & 1 == 1 { result ^= Int(a) }
    }
    return UInt8(result)
  }
}
