/// A pitch of the equal-tempered keyboard as a MIDI note number (A4 is 69, B5 is 83).
@frozen
public struct Pitch: RawRepresentable, Sendable, Hashable, Comparable, BitwiseCopyable {
  /// The MIDI note number, 0–127.
  public var rawValue: UInt8

  /// Makes a pitch from a MIDI note number, 0–127, without checking the range.
  @inlinable
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Makes a pitch from a MIDI note number; traps if the number is outside 0–127.
  @inlinable
  public init(_ midi: Int) {
    precondition((0...127).contains(midi), "MIDI note \(midi) is outside 0–127")
    rawValue = UInt8(midi)
  }

  /// The MIDI notes of the 88 keys, A0–C8.
  public static let keys = 21...108

  /// Makes the pitch of a MIDI note. A note outside of the 88 keys is moved by octaves and so keeps its pitch class.
  public init(onKeys midi: Int) {
    var midi = midi
    while midi < Pitch.keys.lowerBound { midi += 12 }
    while midi > Pitch.keys.upperBound { midi -= 12 }
    self.init(midi)
  }

  /// The MIDI note number as an `Int`.
  @inlinable
  public var midi: Int { Int(rawValue) }

  /// The frequency in Hz of a MIDI note, fractions allowed. Real-time safe. Does not use libm, whose `pow` may differ between machines.
  @inlinable
  public static func frequency(midi: Double, a4: Double = 440) -> Double {
    var octaves = a4
    var semitones = midi - 69
    while semitones < 0 {
      semitones += 12
      octaves /= 2
    }
    while semitones >= 12 {
      semitones -= 12
      octaves *= 2
    }
    // 2^(semitones/12) by the series of e^x. As x < 0.7, the error after 16 terms is below 1e-15.
    let x = semitones * 0.057_762_265_046_662_11
    var term = 1.0
    var sum = 1.0
    for n in 1...16 {
      term *= x / Double(n)
      sum += term
    }
    return octaves * sum
  }

  /// Whether a pitch is lower than another.
  @inlinable
  public static func < (a: Pitch, b: Pitch) -> Bool { a.rawValue < b.rawValue }
}
