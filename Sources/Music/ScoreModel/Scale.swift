/// A written pitch: letter, accidental and octave, as notation spells it.
public struct Spelling: Sendable, Hashable, CustomStringConvertible {
  /// The letter, 0 for C … 6 for B.
  public var letter: Int
  /// The accidental in semitones: −1 flat, 0 natural, +1 sharp.
  public var alteration: Int
  /// The octave number; middle C begins octave 4.
  public var octave: Int

  /// Makes a spelling from its parts.
  public init(letter: Int, alteration: Int, octave: Int) {
    (self.letter, self.alteration, self.octave) = (letter, alteration, octave)
  }

  /// Parses a name such as `F#5`, `F♯5`, `Bb3` or `D6`; `nil` if invalid.
  public init?(_ name: some StringProtocol) {
    var rest = Substring(name)
    guard let first = rest.popFirst(), let letter = Self.letters.firstIndex(of: first) else { return nil }
    var alteration = 0
    if let accidental = rest.first {
      if "#♯".contains(accidental) { alteration = 1 }
      if "b♭".contains(accidental) { alteration = -1 }
      if alteration != 0 { rest.removeFirst() }
    }
    guard let octave = Int(rest), (-2...10).contains(octave) else { return nil }
    self.init(letter: letter, alteration: alteration, octave: octave)
    guard (0...127).contains(midi) else { return nil }
  }

  /// The letters in order from C.
  public static let letters: [Character] = ["C", "D", "E", "F", "G", "A", "B"]
  static let naturals = [0, 2, 4, 5, 7, 9, 11]

  /// The MIDI note number.
  public var midi: Int { 12 * (octave + 1) + Self.naturals[letter] + alteration }

  /// The name without the octave, with ♯ and ♭.
  public var letterName: String {
    "\(Self.letters[letter])\(alteration > 0 ? "♯" : alteration < 0 ? "♭" : "")"
  }

  /// The name with octave, such as `F♯5`.
  public var description: String { "\(letterName)\(octave)" }
}

/// A seven-note scale with a triad. Notes are counted in *degrees*: 0 is the tonic in MIDI octave −1, 7 the tonic an octave above it.
public struct Scale: Sendable, Hashable {
  /// The tonic's letter, 0 for C … 6 for B.
  public let tonicLetter: Int
  /// The tonic's accidental in semitones.
  public let tonicAlteration: Int
  /// Semitones of the seven degrees above the tonic, from 0.
  public let steps: [Int]
  /// The pitch class of the tonic, 0 for C … 11 for B.
  public let tonic: Int
  /// The degree of the triad's root, 0–6: 0 is the tonic.
  public var root = 0

  /// Makes a scale from a tonic's letter and accidental and from seven steps in semitones, which rise from 0 and stay below 12.
  public init(tonicLetter: Int, tonicAlteration: Int, steps: [Int]) {
    precondition(steps.count == 7 && steps[0] == 0 && steps == steps.sorted() && steps[6] < 12, "no scale: \(steps)")
    (self.tonicLetter, self.tonicAlteration, self.steps) = (tonicLetter, tonicAlteration, steps)
    tonic = (Spelling.naturals[tonicLetter] + tonicAlteration + 12) % 12
  }

  /// The steps of the church modes by name.
  public static let modes: [String: [Int]] = [
    "major": [0, 2, 4, 5, 7, 9, 11], "dorian": [0, 2, 3, 5, 7, 9, 10], "phrygian": [0, 1, 3, 5, 7, 8, 10],
    "lydian": [0, 2, 4, 6, 7, 9, 11], "mixolydian": [0, 2, 4, 5, 7, 9, 10], "minor": [0, 2, 3, 5, 7, 8, 10],
  ]

  /// The MIDI note of a degree.
  public func midi(_ degree: Int) -> Int {
    let octave = degree >= 0 ? degree / 7 : (degree - 6) / 7
    return tonic + 12 * octave + steps[degree - 7 * octave]
  }

  /// The degree of a MIDI note; `nil` outside the scale.
  public func degree(of midi: Int) -> Int? {
    let above = midi - tonic
    let octave = above >= 0 ? above / 12 : (above - 11) / 12
    return steps.firstIndex(of: above - 12 * octave).map { $0 + 7 * octave }
  }

  /// Whether a MIDI note belongs to the triad: the first, third and fifth degree, counted from `root`.
  public func isTriad(_ midi: Int) -> Bool {
    let step = (midi - tonic + 120) % 12
    return step == steps[root] || step == steps[(root + 2) % 7] || step == steps[(root + 4) % 7]
  }

  /// The position of a degree in the octave above the tonic, 0–6.
  public static func step(_ degree: Int) -> Int { (degree % 7 + 7) % 7 }

  /// The position of a degree in the octave above the root, 0–6.
  public func place(_ degree: Int) -> Int { Scale.step(degree - root) }

  /// T(k) of a melody note: its k-th triad tone strictly above (k > 0) or below (k < 0).
  public func triadTone(_ k: Int, of midi: Int) -> Int {
    var note = midi
    var left = abs(k)
    while left > 0 {
      note += k.signum()
      if isTriad(note) { left -= 1 }
    }
    return note
  }

  /// The nearest triad tone other than the melody note itself; the lower of two equally near tones.
  public func nearestTriadTone(to midi: Int) -> Int {
    let below = triadTone(-1, of: midi)
    let above = triadTone(1, of: midi)
    return above - midi < midi - below ? above : below
  }

  /// The spelling of a note of the scale; other notes get sharps.
  public func spelling(of midi: Int) -> Spelling {
    if let degree = degree(of: midi) {
      let letter = (tonicLetter + degree % 7 + 7) % 7
      for octave in (midi / 12 - 2)...(midi / 12) {
        let natural = 12 * (octave + 1) + Spelling.naturals[letter]
        if abs(midi - natural) <= 1 { return Spelling(letter: letter, alteration: midi - natural, octave: octave) }
      }
    }
    let step = midi % 12
    let letter = Spelling.naturals.lastIndex { $0 <= step } ?? 0
    return Spelling(letter: letter, alteration: step - Spelling.naturals[letter], octave: midi / 12 - 1)
  }
}

// MARK: - Key signature

extension Scale {
  /// An accidental of a key signature.
  public struct KeySign: Sendable, Hashable {
    /// The altered letter, 0 for C … 6 for B.
    public let letter: Int
    /// The accidental in semitones: −1 flat, +1 sharp.
    public let alteration: Int

    /// The sign's conventional position on a treble staff: 0 is the bottom line, 1 the space above.
    public var treblePlace: Int {
      // Computed from one table: Embedded Swift 6.3 (-Osize) miscompiles the choice between two tables.
      let place = [5, 6, 7, 8, 9, 3, 4][letter]
      return alteration < 0 && place > 7 ? place - 7 : place
    }
  }

  /// The accidentals of the key signature in writing order.
  public var signature: [KeySign] {
    let sharps = [3, 0, 4, 1, 5, 2, 6]
    let altered = (35..<42).map { spelling(of: midi($0)) }.filter { $0.alteration != 0 }
    let order = altered.first.map { $0.alteration > 0 } ?? true ? sharps : sharps.reversed()
    return order.compactMap { letter in
      altered.first { $0.letter == letter }.map { KeySign(letter: letter, alteration: $0.alteration) }
    }
  }

  /// The accidental of a letter in the key signature, in semitones; 0 for none.
  public func alterationInKey(of letter: Int) -> Int { signature.first { $0.letter == letter }?.alteration ?? 0 }
}
