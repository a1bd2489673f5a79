import ScoreMeasures
import ScoreModel
import Testing
import TicTacToe

@testable import ScoreIO

@Test func `A semitone is rougher than a third, a third rougher than an octave`() {
  let b4 = Pitch(71)
  let semitone = Roughness.of(b4, Pitch(72))
  let third = Roughness.of(b4, Pitch(74))
  let octave = Roughness.of(b4, Pitch(83))
  #expect(semitone > third && third > octave)
}
