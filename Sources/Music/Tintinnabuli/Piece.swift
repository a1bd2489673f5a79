import ScoreModel

/// What the score remembers of the running piece.
struct Piece: Sendable {
  /// The piece as an event found it.
  struct Before: Sendable {
    var piece: Piece
    /// Of a match alone: at one board what was said stays said.
    var novelty: Novelty?
    var moment: Tick
  }

  /// The number of the last event.
  var number = 0
  var marks = Marks()
  /// How the voice of the last event stands.
  var standing = 0.0
  var events: [Event] = []
  /// Where all who hear it are, if it is composed by a log; `nil` for a piece of this session.
  var station: Station?
  /// Whether it is composed by a log, for all who hear it.
  var isMatch: Bool { station != nil }
  var debts = Debts()
  var tempo = Tempo()
  /// The last event's moment, and what the match's log says it was.
  var last: (moment: Tick, logged: Tick)?
  var hurried = 0
  var echoes = EchoMemory()
  var isOver = false
  /// How its arch goes if it was drawn, as `Station.draw` says it.
  var draw: Int?
  /// The root that the bed sounds, or goes to.
  var bed = 0
  var drift = 0
  var contourOffset = 0
  var barNumber = 0
  /// The candidates taken and to be taken, by the number of the event that they follow.
  var choices: [[Int]] = []
  var replay: [[Int]] = []
  /// How many bars the session had when the piece began.
  var firstBar = 0

  /// A voice's motto: its first three degrees, in the order of play; if a sentence is named, its first three there.
  func motto(_ voice: Voice?, in sentence: Int? = nil) -> [Int] {
    events.filter { $0.voice == voice && (sentence == nil || $0.sentence == sentence) }.prefix(3).map { $0.degree }
  }

  /// The event of a number.
  func event(_ number: Int) -> Event? { events.last { $0.number == number } }

  /// The number of the event of a short piece that has come as far.
  var grown: Int { events.last?.phase.map { 1 + Int(($0 * 7).rounded()) } ?? number }

  /// The contour of the bar of an event, by how its voice stands.
  func contour(_ standing: Double, number: Int, _ rules: ScoreRules.MelodyRules) -> ScoreRules.Contour {
    let list = standing > 0.3 ? rules.ahead : standing < -0.3 ? rules.behind : rules.even
    return list.isEmpty ? .arch : list[(contourOffset + number) % list.count]
  }

  /// How far the piece has come, 0 … 1: what has happened in it, and whether it is decided.
  var form: Double {
    if abs(standing) > 0.9 { return 1 }
    // Of a long piece most is its middle, which is to be heard.
    return events.last?.phase.map { $0 * (2 - $0) } ?? Double(min(number, 8)) / 8
  }

  /// How the piece went: 0 quietly, 1 with a threat or its like by most events, 2 with a voice that had all but won.
  var drama: Int {
    if events.contains(where: { abs($0.standing) > 0.9 && $0.end == nil }) { return 2 }
    return 2 * events.count { !$0.facts.isEmpty } > events.count ? 1 : 0
  }

  /// Notes the candidate taken for a bar.
  mutating func take(_ choice: Int) {
    while choices.count <= number { choices.append([]) }
    choices[number].append(choice)
  }

  /// The candidate that a record has for the next bar.
  var replayed: Int? {
    let taken = number < choices.count ? choices[number].count : 0
    return number < replay.count && taken < replay[number].count ? replay[number][taken] : nil
  }
}
