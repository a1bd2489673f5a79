import ScoreModel
import TicTacToe

/// Every musical number of Alina as one value: what a rule file holds once it has been read and checked.
package struct ScoreRules: Sendable, Hashable {
  /// The name records carry (`ScoreRules` tag).
  package var name = "unnamed"
  /// The scale of the M-voice; its triad is the T-voice's.
  package var scale = Scale(tonicLetter: 6, tonicAlteration: 0, steps: [0, 2, 3, 5, 7, 8, 10])
  /// The tonics of the games of a session, a cycle that begins at home; none where all are at home.
  package var tonics: [Spelling] = []
  /// The pitches of the nine cells in reading order, as X plays them.
  package var cells = [Pitch](repeating: Pitch(83), count: 9)
  /// How X plays.
  package var x = Hand()
  /// How O plays.
  package var o = Hand()
  /// How many pairs bars have and how long their notes are.
  package var bars = BarLaw()
  /// How melodies are found.
  package var melody = MelodyRules()
  /// What is heard of the facts, in order of precedence; the last rule has no condition.
  package var signs: [SignRule] = []
  /// The closing arch of a win.
  package var win = Ending()
  /// The closing arch when the one local human has lost.
  package var loss = Ending()
  /// The closing arch of a draw.
  package var draw = Ending()
  /// The phrase before the first move.
  package var opening = Opening()
  /// What sounds while everyone waits.
  package var echoes = Echoes()
  /// The low tonic and the bed under it.
  package var drone = Drone()
  /// Small answers: undo, refusal, hurry, clock, preview.
  package var gestures = Gestures()
  /// What the foot does.
  package var pedal = Pedal()
  /// How the score is played.
  package var performance = Performance()
  /// The effect chains notes may be sent to; chain 1 is the first.
  package var chains: [Chain] = []
  /// The chain every long note is sent to, if any.
  package var longNotes: String?
  /// Levels of the parts of the sound, in dB.
  package var mix = Mix()

  /// Makes rules that a visitor fills: they have no sign yet.
  package init() {}

  /// Goes through every value in the order of a rule file: its names, kinds and ranges.
  package mutating func visit<V: RuleVisitor>(_ v: inout V) {
    v.name("name", &name)
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
    var rows = RuleValue.list((0..<3).map { row in .list(cells[3 * row..<3 * row + 3].map { $0.coded }) })
    v.leaf("cells", .list(.list(.pitch, 3...3, "pitches"), 3...3, "rows, the top one first"), &rows)
    let read = rows.list.flatMap { $0.list.compactMap { Pitch($0) } }
    if read.count == 9 { cells = read }
    v.group("hands") { v in
      v.group("x") { x.visit(&$0) }
      v.group("o") { o.visit(&$0) }
    }
    v.group("bars") { bars.visit(&$0) }
    v.group("melody") { melody.visit(&$0) }
    var signs = signs
    v.each("signs", 1...40, of: "rules", count: signs.count) { v, index in
      while signs.count <= index { signs.append(SignRule("")) }
      signs[index].visit(&v)
    }
    self.signs = signs
    v.group("endings") { v in
      v.group("win") { win.visit(&$0) }
      v.group("loss") { loss.visit(&$0) }
      v.group("draw") { draw.visit(&$0) }
    }
    v.group("opening") { opening.visit(&$0) }
    v.group("echoes") { echoes.visit(&$0) }
    v.group("drone") { drone.visit(&$0) }
    v.group("pedal") { pedal.visit(&$0) }
    v.group("gestures") { gestures.visit(&$0) }
    v.group("performance") { performance.visit(&$0) }
    var chains = chains
    v.each("chains", 0...7, of: "chains", count: chains.count) { v, index in
      while chains.count <= index { chains.append(Chain()) }
      chains[index].visit(&v)
    }
    self.chains = chains
    v.chain("long-notes", &longNotes)
    v.group("mix") { mix.visit(&$0) }
  }

  /// The hand of a side; the neutral hand (opening) plays as X in the middle.
  package func hand(_ player: Player?) -> Hand {
    switch player {
    case .x: x
    case .o: o
    case nil: Hand(octaves: x.octaves, pan: 0, rollMilliseconds: 0)
    }
  }

  /// The number, from 1, of a named chain; 0 if there is none.
  package func chain(_ name: String?) -> UInt8 {
    UInt8(clamping: (chains.firstIndex { $0.name == name } ?? -1) + 1)
  }

  /// What is heard when nothing happens: the last rule, which has no condition.
  var calm: SignRule { signs.last ?? SignRule("calm") }
}

extension Scale {
  /// Whether seven steps make a scale: rising from 0, below an octave.
  package static func isScale(_ steps: [Int]) -> Bool {
    steps.count == 7 && steps[0] == 0 && steps[6] < 12 && zip(steps, steps.dropFirst()).allSatisfy { $0 < $1 }
  }

  /// The tonic in octave 4.
  package var tonicSpelling: Spelling { Spelling(letter: tonicLetter, alteration: tonicAlteration, octave: 4) }
}
