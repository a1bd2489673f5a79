import ScoreModel

/// All musical parameters of Alina as a value: the content of a valid rule file.
public struct ScoreRules: Sendable, Hashable {
  /// The name of the rules, as records store it (`ScoreRules` tag).
  public var name = "unnamed"
  /// The words for facts of events, such as `threat`; the conditions of `signs` use these words.
  public var facts: [Fact] = []
  /// Lines for `alina-score live` that play the file's signs; only in rules for something other than tic-tac-toe.
  public var example: [String] = []
  /// The scale of the M-voice; its triad gives the notes of the T-voice.
  public var scale = Scale(tonicLetter: 6, tonicAlteration: 0, steps: [0, 2, 3, 5, 7, 8, 10])
  /// The tonics of a session's pieces, a cycle that begins with the file's own tonic; empty to keep the file's tonic.
  public var tonics: [Spelling] = []
  /// The pitches of the cells of a 3×3 board, row by row from the top. Each voice plays them moved by its `Manner.octaves`.
  public var cells = [Pitch](repeating: Pitch(83), count: 9)
  /// The roots of the nine boards of Ultimate, row by row from the top; empty to use the pitches of the cells.
  public var boards: [Pitch] = []
  /// How the first voice plays.
  public var first = Manner()
  /// How the second voice plays.
  public var second = Manner()
  /// The colours (touch, timing and effects) of players.
  public var colours: [Colour] = []
  /// The lengths of bars and notes.
  public var bars = BarLaw()
  /// The phrases while a player thinks.
  public var phrases = Phrases()
  /// Additional rules for pieces with many events.
  public var sentences = Sentences()
  /// How melodies are found.
  public var melody = MelodyRules()
  /// The signs in order of precedence; the last sign has no condition.
  public var signs: [SignRule] = []
  /// The arch after a win.
  public var win = Ending()
  /// The arch if the only local player has lost.
  public var loss = Ending()
  /// The arch after a draw.
  public var draw = Ending()
  /// The contours of the arch after draws: of a quiet piece, of a piece in which most events have facts, and of a piece that a voice had
  /// almost won. Empty to use the contour of `draw`.
  public var draws: [Contour] = []
  /// The phrase before the first move.
  public var opening = Opening()
  /// The echoes while waiting.
  public var echoes = Echoes()
  /// The drone: the low tonic, which is struck, and the bed, a sustained tone.
  public var drone = Drone()
  /// Responses: undo, refusal, hurry, clock, preview.
  public var gestures = Gestures()
  /// The sustain pedal.
  public var pedal = Pedal()
  /// The performance: expressive timing and dynamics.
  public var performance = Performance()
  /// The effect chains for notes, numbered from 1.
  public var chains: [Chain] = []
  /// The name of the effect chain of the long notes for which no sign and no ending sets a chain, if any.
  public var longNotes: String?
  /// The mix: levels, reverb and sympathetic strings.
  public var mix = Mix()

  /// Makes empty rules for a visitor to fill.
  public init() {}

  /// Visits every value in the order of a rule file: names, kinds and ranges.
  package mutating func visit<V: RuleVisitor>(_ v: inout V) {
    v.name("name", &name)
    v.optional { $0.list("facts", .name, &facts, 0...40, of: "words") }
    v.optional { $0.list("example", .line, &example, 0...200, of: "lines") }
    v.group("scale") { v in
      var tonic = RuleValue.text(scale.tonicSpelling.letterName)
      v.leaf("tonic", .letter, &tonic)
      let modes = Scale.modes.keys.sorted()
      let name = modes.first { Scale.modes[$0] == scale.steps }
      var mode = name.map { RuleValue.text($0) } ?? .list(scale.steps.map { .int($0) })
      v.leaf("mode", .either(.list(.int(0...11), 7...7, "semitones from 0"), .word(modes)), &mode)
      let steps = mode.text.flatMap { Scale.modes[$0] } ?? mode.list.compactMap { Int($0) }
      if let tonic = tonic.text.flatMap({ Spelling($0 + "4") }), Scale.isScale(steps) {
        scale = Scale(tonicLetter: tonic.letter, tonicAlteration: tonic.alteration, steps: steps)
      }
      var plan = RuleValue.list(tonics.map { .text($0.letterName) })
      v.optional { $0.leaf("tonics", .list(.letter, 0...24, "notes"), &plan) }
      tonics = plan.list.compactMap { $0.text.flatMap { Spelling($0 + "4") } }
    }
    cells = grid("cells", cells, &v) ?? cells
    boards = grid("boards", boards, &v) ?? []
    v.group("hands") { v in
      v.group("x") { first.visit(&$0) }
      v.group("o") { second.visit(&$0) }
    }
    v.optional { $0.each("colours", 0...24, of: "colours", &colours, new: Colour()) { $0.visit(&$1) } }
    v.group("bars") { bars.visit(&$0) }
    v.optional { v in v.group("phrases") { phrases.visit(&$0) } }
    v.optional { v in v.group("sentences") { sentences.visit(&$0) } }
    v.group("melody") { melody.visit(&$0) }
    let words = facts
    v.each("signs", 1...40, of: "rules", &signs, new: SignRule("")) { $0.visit(&$1, facts: words) }
    v.group("endings") { v in
      v.group("win") { win.visit(&$0) }
      v.group("loss") { loss.visit(&$0) }
      v.group("draw") { draw.visit(&$0) }
      v.optional { $0.words("draws", &draws, 0...6, of: "contours") }
    }
    v.group("opening") { opening.visit(&$0) }
    v.group("echoes") { echoes.visit(&$0) }
    v.group("drone") { drone.visit(&$0) }
    v.group("pedal") { pedal.visit(&$0) }
    v.group("gestures") { gestures.visit(&$0) }
    v.group("performance") { performance.visit(&$0) }
    v.each("chains", 0...7, of: "chains", &chains, new: Chain()) { $0.visit(&$1) }
    v.chain("long-notes", &longNotes)
    v.group("mix") { mix.visit(&$0) }
  }

  /// The manner of a voice. Bars without a voice (the opening) have the octaves of the first voice, no pan and no roll.
  public func manner(of voice: Voice?) -> Manner {
    switch voice {
    case .first: first
    case .second: second
    case nil: Manner(octaves: first.octaves, pan: 0, rollMilliseconds: 0)
    }
  }

  /// The arch for a kind of end.
  public func ending(_ kind: End.Kind) -> Ending {
    switch kind {
    case .win: win
    case .loss: loss
    case .draw: draw
    }
  }

  /// The degree of a pitch as events count it, from the lowest tonic of the compass; `nil` outside the scale.
  public func degree(of pitch: Pitch) -> Int? { scale.degree(of: pitch.midi).map { $0 - lowest } }

  /// Visits nine pitches in three rows, or none; `nil` if invalid.
  private func grid<V: RuleVisitor>(_ name: String, _ pitches: [Pitch], _ v: inout V) -> [Pitch]? {
    var rows = RuleValue.none
    if !pitches.isEmpty {
      rows = .list((0..<3).map { row in .list(pitches[3 * row..<3 * row + 3].map { $0.coded }) })
    }
    v.optional { $0.leaf(name, .list(.list(.pitch, 3...3, "pitches"), 3...3, "rows, the top one first"), &rows) }
    let read = rows.list.flatMap { $0.list.compactMap { Pitch($0) } }
    return read.count == 9 ? read : nil
  }

  /// The rules with the triad built on the scale's degree `root`, the root of an event.
  func rooted(_ root: Int) -> ScoreRules {
    var rules = self
    rules.scale.root = Scale.step(root)
    return rules
  }

  /// The degrees within the compass, permitted for events.
  public var degrees: ClosedRange<Int> {
    let low = scale.degree(atOrAbove: melody.compass.lowerBound.midi) - lowest
    var high = low
    while scale.midi(lowest + high + 1) <= melody.compass.upperBound.midi { high += 1 }
    return low...high
  }

  /// Nine rising notes from the lowest tonic, for rules that list no cells.
  package var risingCells: [Pitch] {
    (0..<9).map { Pitch(min(scale.midi(lowest + $0), melody.compass.upperBound.midi)) }
  }

  /// The degree of the scale that `Event.degree` counts as 0: the lowest tonic of the compass.
  var lowest: Int { (scale.degree(atOrAbove: melody.compass.lowerBound.midi) + 6) / 7 * 7 }

  /// The degree on which a session opens: that of the middle cell.
  var center: Int { degree(of: cells[4]) ?? 0 }

  /// The number of a named chain, from 1; 0 if there is none.
  public func chain(_ name: String?) -> UInt8 {
    UInt8(clamping: (chains.firstIndex { $0.name == name } ?? -1) + 1)
  }

  /// The sign for an event without facts: the last sign, which has no condition.
  var calm: SignRule { signs.last ?? SignRule("calm") }
}

extension Scale {
  /// The degree of the lowest note of the scale at or above a MIDI note.
  func degree(atOrAbove midi: Int) -> Int {
    var midi = midi
    while true {
      if let degree = degree(of: midi) { return degree }
      midi += 1
    }
  }

  /// Whether seven steps form a scale: rising from 0, below an octave.
  public static func isScale(_ steps: [Int]) -> Bool {
    steps.count == 7 && steps[0] == 0 && steps[6] < 12 && zip(steps, steps.dropFirst()).allSatisfy { $0 < $1 }
  }

  /// The tonic in octave 4.
  public var tonicSpelling: Spelling { Spelling(letter: tonicLetter, alteration: tonicAlteration, octave: 4) }
}
