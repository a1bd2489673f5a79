/// SHA-256 (FIPS 180-4). Implemented here because no Swift package or system library is available on every target, WebAssembly included.
package struct SHA256: Sendable {
  package struct Digest: Sendable, Hashable {
    /// The eight words, most significant first.
    package let words: SIMD8<UInt32>

    package var bytes: [UInt8] {
      (0..<32).map { UInt8(truncatingIfNeeded: words[$0 / 4] >> UInt32(24 - 8 * ($0 % 4))) }
    }

    package var hex: String {
      String(decoding: bytes.flatMap { [hexDigit($0 >> 4), hexDigit($0 & 15)] }, as: UTF8.self)
    }
  }

  private var state = SIMD8<UInt32>(
    0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19)
  /// The block being filled: its first `length` mod 64 bytes wait to be compressed.
  private var block = InlineArray<64, UInt8>(repeating: 0)
  private var length: UInt64 = 0

  package init() {}

  /// Continues a hash: `words` is the state after `length` bytes (a multiple of 64) hashed elsewhere.
  package init(continuing words: SIMD8<UInt32>, length: UInt64) { (state, self.length) = (words, length) }

  /// The state. It covers all bytes hashed so far only if their number is a multiple of 64.
  package var words: SIMD8<UInt32> { state }

  package mutating func update(_ bytes: some Collection<UInt8>) {
    if bytes.withContiguousStorageIfAvailable({ update(UnsafeRawBufferPointer($0)) }) == nil {
      update(Array(bytes))
    }
  }

  package mutating func update(_ bytes: [UInt8]) { bytes.withUnsafeBytes { update($0) } }

  package mutating func update(_ digest: Digest) {
    withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 8) { words in
      for i in 0..<8 { words.initializeElement(at: i, to: digest.words[i].bigEndian) }
      update(UnsafeRawBufferPointer(words))
    }
  }

  /// The digest of all bytes so far. More bytes may be added afterwards.
  package var digest: Digest {
    var copy = self
    copy.close()
    return Digest(words: copy.state)
  }

  package static func hash(_ message: some Collection<UInt8>) -> Digest {
    var hash = SHA256()
    hash.update(message)
    hash.close()
    return Digest(words: hash.state)
  }

  private var filled: Int { Int(truncatingIfNeeded: length & 63) }

  package mutating func update(_ bytes: UnsafeRawBufferPointer) {
    var offset = 0
    if filled > 0 {
      offset = min(64 - filled, bytes.count)
      copy(bytes, 0, offset, to: filled)
      if filled + offset == 64 { compressBlock() }
    }
    if bytes.count - offset >= 64 {
      let whole = (bytes.count - offset) / 64
      SHA256.compress(&state, bytes, offset, whole)
      offset += whole * 64
    }
    // Keeps the remaining bytes, fewer than a block, at the front of the block buffer.
    if offset < bytes.count, (length &+ UInt64(offset)) & 63 == 0 { copy(bytes, offset, bytes.count - offset, to: 0) }
    length &+= UInt64(bytes.count)
  }

  private mutating func copy(_ bytes: UnsafeRawBufferPointer, _ from: Int, _ count: Int, to place: Int) {
    for i in 0..<count { block[place + i] = bytes[from + i] }
  }

  private mutating func compressBlock() {
    withUnsafeBytes(of: block) { SHA256.compress(&state, $0, 0, 1) }
  }

  /// Appends the padding and the message length in bits.
  private mutating func close() {
    let used = filled
    block[used] = 0x80
    for i in used + 1..<64 { block[i] = 0 }
    if used >= 56 {
      compressBlock()
      for i in 0..<56 { block[i] = 0 }
    }
    let bits = length &* 8
    for i in 0..<8 { block[56 + i] = UInt8(truncatingIfNeeded: bits >> UInt64(56 - 8 * i)) }
    compressBlock()
  }

  private static let constants: [UInt32] = [
    0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
    0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174,
    0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
    0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967,
    0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
    0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
    0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
    0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
  ]

  /// Compresses `count` blocks of 64 bytes from offset `start` into the state.
  private static func compress(
    _ state: inout SIMD8<UInt32>, _ bytes: UnsafeRawBufferPointer, _ start: Int, _ count: Int
  ) {
    @inline(__always)
    func rotate(_ x: UInt32, _ n: UInt32) -> UInt32 { x &>> n | x &<< (32 &- n) }
    @inline(__always)
    func round(
      _ a: UInt32, _ b: UInt32, _ c: UInt32, _ d: inout UInt32, _ e: UInt32, _ f: UInt32, _ g: UInt32,
      _ h: inout UInt32, _ word: UInt32
    ) {
      let s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)
      let s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)
      h = h &+ s1 &+ (g ^ e & (f ^ g)) &+ word
      d = d &+ h
      h = h &+ s0 &+ (a & b | c & (a | b))
    }
    withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 64) { w in
      constants.withUnsafeBufferPointer { k in
        for block in 0..<count {
          let base = start &+ block &* 64
          for i in 0..<16 {
            w[i] = UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: base &+ i &* 4, as: UInt32.self))
          }
          for i in 16..<64 {
            let s0 = rotate(w[i &- 15], 7) ^ rotate(w[i &- 15], 18) ^ w[i &- 15] &>> 3
            let s1 = rotate(w[i &- 2], 17) ^ rotate(w[i &- 2], 19) ^ w[i &- 2] &>> 10
            w[i] = w[i &- 16] &+ s0 &+ w[i &- 7] &+ s1
          }
          var (a, b, c, d) = (state[0], state[1], state[2], state[3])
          var (e, f, g, h) = (state[4], state[5], state[6], state[7])
          // Unrolled eight rounds at a time: after eight rounds each variable has its first role again, so no values are copied.
          var i = 0
          while i < 64 {
            round(a, b, c, &d, e, f, g, &h, k[i] &+ w[i])
            round(h, a, b, &c, d, e, f, &g, k[i &+ 1] &+ w[i &+ 1])
            round(g, h, a, &b, c, d, e, &f, k[i &+ 2] &+ w[i &+ 2])
            round(f, g, h, &a, b, c, d, &e, k[i &+ 3] &+ w[i &+ 3])
            round(e, f, g, &h, a, b, c, &d, k[i &+ 4] &+ w[i &+ 4])
            round(d, e, f, &g, h, a, b, &c, k[i &+ 5] &+ w[i &+ 5])
            round(c, d, e, &f, g, h, a, &b, k[i &+ 6] &+ w[i &+ 6])
            round(b, c, d, &e, f, g, h, &a, k[i &+ 7] &+ w[i &+ 7])
            i &+= 8
          }
          state = state &+ SIMD8(a, b, c, d, e, f, g, h)
        }
      }
    }
  }
}

extension SHA256.Digest: FieldText {
  package init?(bytes: [UInt8]) {
    guard bytes.count == 32 else { return nil }
    var words = SIMD8<UInt32>()
    for (i, byte) in bytes.enumerated() { words[i / 4] = words[i / 4] << 8 | UInt32(byte) }
    self.init(words: words)
  }

  package init?(text: String) {
    let digits = text.utf8.map { byte -> UInt8? in
      byte &- 0x30 < 10 ? byte - 0x30 : (0x61...0x66).contains(byte | 0x20) ? (byte | 0x20) - 0x57 : nil
    }
    guard digits.count == 64, !digits.contains(nil) else { return nil }
    let values = digits.compactMap { $0 }
    self.init(bytes: stride(from: 0, to: 64, by: 2).map { values[$0] << 4 | values[$0 + 1] })
  }
  package var text: String { hex }
  package static var allowed: String { "64 hex digits" }
}
