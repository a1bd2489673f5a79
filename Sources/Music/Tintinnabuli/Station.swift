import ScoreModel

/// A session's position in the cycle of its rules' tonics.
public struct Station: Sendable, Hashable {
  /// The index of the piece within the cycle of tonics, from 0; after the last tonic the count begins at 0 again.
  public var game = 0
  /// The index of the current tonic in `tonics`.
  public var place = 0

  /// The form of the closing bars of the last drawn piece, an index in `ScoreRules.draws` from 1; 0 for none.
  public var draw = 0

  /// Makes a station; the first piece has the file's own tonic.
  public init(game: Int = 0, place: Int = 0, draw: Int = 0) {
    (self.game, self.place, self.draw) = (game, place, draw)
  }

  /// The most consecutive pieces on one tonic.
  static let longest = 3

  /// The position of the next piece. It keeps the tonic unless the piece had an awakening or was drawn (`goesOn`), three pieces had the
  /// tonic, or the cycle of `count` tonics begins again. `draw` is the form of the drawn piece; `nil` keeps the last form.
  func next(goesOn: Bool, draw: Int?, of count: Int) -> Station {
    let next = count == 0 ? 0 : (game + 1) % count
    let isLong = next - place >= Station.longest
    return Station(game: next, place: next == 0 || goesOn || isLong ? next : place, draw: draw ?? self.draw)
  }
}

extension ScoreRules {
  func at(_ station: Station) -> ScoreRules {
    tonics.isEmpty ? self : moved(to: tonics[station.place % tonics.count])
  }

  /// Semitones from the scale's tonic to another tonic, in the nearer direction.
  package func semitones(to tonic: Spelling) -> Int { (tonic.midi - scale.tonic + 138) % 12 - 6 }

  /// The rules transposed to another tonic. A pitch outside the keyboard moves by octaves.
  public func moved(to tonic: Spelling) -> ScoreRules {
    let up = semitones(to: tonic)
    guard up != 0 else { return self }
    func move(_ pitch: Pitch) -> Pitch { Pitch(onKeys: pitch.midi + up) }
    // The limits of M move by the exact interval, even beyond the keyboard, so that the parser can refuse such a compass.
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
