import ScoreModel

/// Where a session stands on its way through the tonics of its rules.
public struct Station: Sendable, Hashable {
  /// The number of the piece in the cycle, from 0.
  public var game = 0
  /// The place, among the tonics, of the one that holds.
  public var place = 0

  /// The contour, among `ScoreRules.draws`, with which the last drawn piece closed, from 1; 0 for none.
  public var draw = 0

  /// Makes a station; the first piece is at home.
  public init(game: Int = 0, place: Int = 0, draw: Int = 0) {
    (self.game, self.place, self.draw) = (game, place, draw)
  }

  /// The pieces after which a session has been long enough on one tonic.
  static let longest = 3

  /// The next piece's: after an awakening, a draw or three pieces it goes on to its own place, else it stays; each cycle
  /// begins at home.
  func next(goesOn: Bool, draw: Int?, of count: Int) -> Station {
    let next = count == 0 ? 0 : (game + 1) % count
    let isLong = next - place >= Station.longest
    return Station(game: next, place: next == 0 || goesOn || isLong ? next : place, draw: draw ?? self.draw)
  }
}

extension ScoreRules {
  /// The rules on the tonic of a station.
  func at(_ station: Station) -> ScoreRules {
    tonics.isEmpty ? self : moved(to: tonics[station.place % tonics.count])
  }

  /// Semitones from the scale's tonic to another, whichever way is nearer.
  package func semitones(to tonic: Spelling) -> Int { (tonic.midi - scale.tonic + 138) % 12 - 6 }

  /// The rules on another tonic: triad, cells, compass, drone and strings together. A pitch that would leave the keys sounds
  /// in another octave.
  public func moved(to tonic: Spelling) -> ScoreRules {
    let up = semitones(to: tonic)
    guard up != 0 else { return self }
    func move(_ pitch: Pitch) -> Pitch { Pitch(onKeys: pitch.midi + up) }
    // Limits keep their distance, even beyond the keys: the reader refuses a compass that leaves them on any tonic.
    func span(_ range: ClosedRange<Pitch>) -> ClosedRange<Pitch> {
      Pitch(range.lowerBound.midi + up)...Pitch(range.upperBound.midi + up)
    }
    var rules = self
    rules.scale = Scale(tonicLetter: tonic.letter, tonicAlteration: tonic.alteration, steps: scale.steps)
    rules.cells = cells.map { move($0) }
    rules.boards = boards.map { move($0) }
    (rules.melody.compass, rules.melody.register) = (span(melody.compass), span(melody.register))
    for index in signs.indices { rules.signs[index].bass = signs[index].bass.map { move($0) } }
    (rules.drone.notes, rules.drone.bed) = (drone.notes.map { move($0) }, move(drone.bed))
    rules.mix.strings = mix.strings.map { move($0) }
    return rules
  }
}
