/// A sound file in memory: 48 kHz, stereo, 24 bits, byte for byte as libsndfile writes it.
struct WaveFile {
  private(set) var bytes: [UInt8] = []
  private(set) var framesLeft: Int

  private static let bytesPerFrame = 6

  init(frames: Int) {
    framesLeft = frames
    let size = UInt32(frames * WaveFile.bytesPerFrame)
    bytes.reserveCapacity(Int(size) + 44)
    func add(_ words: String) { bytes += Array(words.utf8) }
    func add(_ value: UInt32, bytes count: Int = 4) {
      for byte in 0..<count { bytes.append(UInt8(truncatingIfNeeded: value >> (8 * UInt32(byte)))) }
    }
    add("RIFF")
    add(36 + size)
    add("WAVEfmt ")
    add(16)
    add(1, bytes: 2)  // integer samples
    add(2, bytes: 2)
    add(48_000)
    add(UInt32(48_000 * WaveFile.bytesPerFrame))
    add(UInt32(WaveFile.bytesPerFrame), bytes: 2)
    add(24, bytes: 2)
    add("data")
    add(size)
  }

  /// Appends interleaved samples, clipped to ±1.
  mutating func add(_ samples: [Float]) {
    framesLeft -= samples.count / 2
    for sample in samples {
      let scaled = sample * 2_147_483_648
      let value: Int32 =
        scaled >= 2_147_483_648 ? .max : scaled <= -2_147_483_648 ? .min : Int32(scaled.rounded(.toNearestOrEven))
      bytes.append(UInt8(truncatingIfNeeded: value >> 8))
      bytes.append(UInt8(truncatingIfNeeded: value >> 16))
      bytes.append(UInt8(truncatingIfNeeded: value >> 24))
    }
  }
}
