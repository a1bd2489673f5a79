import ScoreIO
import ScoreModel
import Testing

/// The window's staff, the printed page and MusicXML derive key signatures from the scale.
@Suite struct ScaleSignatureTests {
  @Test("The shipped rules have two sharps, two sharps and four flats, in engraving order")
  func shipped() throws {
    func signature(_ name: String) throws -> [String] {
      try RuleLibrary.load(name).rules.scale.signature.map {
        "\(Spelling.letters[$0.letter])\($0.alteration > 0 ? "♯" : "♭") \($0.treblePlace)"
      }
    }
    #expect(try signature("score") == ["F♯ 8", "C♯ 5"])
    // `morning` is in G lydian, which has one sharp more than G major.
    #expect(try signature("morning") == ["F♯ 8", "C♯ 5"])
    #expect(try signature("night") == ["B♭ 4", "E♭ 7", "A♭ 3", "D♭ 6"])
  }

  @Test("Notes of the scale are written without accidentals")
  func notes() {
    for steps in Scale.modes.values {
      for letter in 0..<7 {
        let scale = Scale(tonicLetter: letter, tonicAlteration: 0, steps: steps)
        for degree in 28..<50 {
          let spelling = scale.spelling(of: scale.midi(degree))
          #expect(spelling.alteration == scale.alterationInKey(of: spelling.letter), "\(spelling) in \(scale)")
        }
      }
    }
  }
}
