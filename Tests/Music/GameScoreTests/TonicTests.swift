import Oracle
import ScoreIO
import ScoreModel
import Testing
import TicTacToe

@testable import GameScore
@testable import Tintinnabuli

@Test func `Ten games run through a cycle of tonics; an awakening (a sure win) or a draw leads to the next tonic`()
  throws
{
  let (won, drawn) = (try game("a1 b1 b2 c3 a3 a2 c1"), try game("b2 a1 c1 a3 a2 c2 b3 b1 c3"))
  #expect(won.variantMoves.awakening != nil && drawn.variantMoves.awakening == nil)
  let cycles: [(draws: [Int], tonics: String)] = [
    ([], "B D F♯ E G B A D C♯ F♯ B D"), ([2, 9], "B D F♯ E G B A D C♯ F♯ B D"),
  ]
  for (draws, expected) in cycles {
    var conductor = GameConductor(seed: 2, rules: rules)
    _ = conductor.handle(.opened(resuming: false), at: .zero)
    var now = Tick.zero
    var tonics: [String] = []
    for number in 0..<12 {
      let begun = conductor.handle(.gameStarted(.classic(.start), human: nil), at: now)
      let (held, scale) = (conductor.music.rules, conductor.music.rules.scale)
      tonics.append(scale.tonicSpelling.letterName)
      let bed = begun.first { $0.kind == .drone }?.pitch
      #expect(number == 0 ? bed == nil : bed == held.drone.bed && scale.degree(of: held.drone.bed.midi)! % 7 == 0)
      #expect(held.mix.strings.allSatisfy { scale.isTriad($0.midi) })
      for move in (draws.contains(number) ? drawn : won).variantMoves {
        now = now + .seconds(3)
        _ = conductor.handle(.moved(move), at: now)
        let bar = try #require(conductor.music.bars.last)
        // A cell has the same scale degree on every tonic.
        let octaves = held.manner(of: move.mover.voice).octaves
        #expect(scale.degree(of: bar.pairs[0].m!.pitch.midi - 12 * octaves)! % 7 == homeDegree(move.square))
        #expect(
          bar.pairs.allSatisfy { pair in pair.m.map { scale.degree(of: $0.pitch.midi) != nil } ?? (bar.rhythm == .held)
          })
      }
      now = now + .seconds(3)
    }
    #expect(tonics.joined(separator: " ") == expected)
  }
  // A session keeps its tonic for three games, unless an awakening or a draw changes it.
  var station = Station()
  let places = (0..<10).map { _ in
    defer { station = station.next(goesOn: false, draw: nil, of: 10) }
    return station.place
  }
  #expect(places == [0, 0, 0, 3, 3, 3, 6, 6, 6, 9])
  // Rules without a list of tonics keep their tonic in every game.
  var still = rules
  still.tonics = []
  #expect(still.at(Station(game: 3, place: 3)) == still && rules.at(Station()) == rules)
}

private func homeDegree(_ square: Square) -> Int { rules.scale.degree(of: rules.cells[square.index].midi)! % 7 }

@Test func `At an awakening (a sure win) T plays at double pace, within the triad`() throws {
  let bars = conducted(try game("a1 b1 b2 c3 a3")).conductor.music.bars
  let awake = try #require(bars.first { $0.signs.contains("awakening") && $0.pairs.count > 3 })
  let doubled = awake.pairs.filter { $0.answer != nil }
  #expect(!doubled.isEmpty && awake.pairs[0].answer == nil && awake.pairs.last?.answer == nil)
  for pair in doubled {
    let (t, answer) = (try #require(pair.t), try #require(pair.answer))
    #expect(rules.scale.isTriad(answer.pitch.midi) && answer.pitch != t.pitch && answer.onset > t.onset)
  }
}

@Test(arguments: 0..<12, [-2, 2])
func `On every tonic T stays in the triad, and all low tones are the tonic`(
  _ semitone: Int, _ octaves: Int
) throws {
  var far = rules
  for index in far.signs.indices {
    (far.signs[index].tOctaves, far.signs[index].tOctavesAt) = (octaves, .all)
    far.signs[index].bass = Pitch(octaves > 0 ? 107 : 23)
  }
  far.drone.notes = [Pitch(23), Pitch(107)]
  far.drone.bed = Pitch(octaves > 0 ? 107 : 23)
  let tonic = Spelling("\(["C", "C#", "D", "Eb", "E", "F", "F#", "G", "Ab", "A", "Bb", "B"][semitone])4")
  var moved = far.moved(to: try #require(tonic))
  moved.tonics = []
  // The drone, the bed and the signs' bass notes are the tonic.
  for pitch in moved.drone.notes + [moved.drone.bed] + moved.signs.compactMap(\.bass) {
    #expect(Pitch.keys.contains(pitch.midi) && pitch.midi % 12 == semitone)
  }
  let bars = conducted(try game("a1 b1 b2 c3 a3 a2 c1"), rules: moved).conductor.music.bars
  #expect(bars.count > 6)
  for pair in bars.flatMap(\.pairs) where !pair.isAwakening {
    #expect(pair.m.map { moved.scale.degree(of: $0.pitch.midi) != nil } ?? true)
    for t in [pair.t, pair.answer].compactMap({ $0?.pitch.midi }) { #expect(moved.scale.isTriad(t)) }
  }
}
