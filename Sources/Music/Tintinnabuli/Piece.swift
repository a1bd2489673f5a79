import Base
import ScoreModel

struct Piece: Sendable {
  /// The number of the last event.
  var number = 0
  var marks = Marks()
  /// The last event's standing, from losing (−1) to winning (1), for its voice.
  var standing = 0.0
  var events: [Event] = []
  /// The position in the cycle of tonics of a network match or of free play; `nil` for other pieces.
  var station: Station?
  /// Whether the piece is a network match or free play: its bars must be equal for all listeners, or for every replay of the touches.
  var isMatch: Bool { station != nil }
  var pendingSigns = PendingSigns()
  var tempo = Tempo()
  var echoes = EchoMemory()
  var isOver = false
  /// The form of the closing bars of a drawn piece: an index in `ScoreRules.draws` from 1, or 0 if `draws` is empty.
  var draw: Int?
  var bed = Bed()
  var tuning = Tuning()
  var barNumber = 0
  var choices = Choices()
  /// The number of the session's bars before the piece.
  var firstBar = 0

  /// The motto of a voice: the degrees of its first three events in the piece, or in the given sentence.
  func motto(_ voice: Voice?, in sentence: Int? = nil) -> [Int] {
    events.filter { $0.voice == voice && (sentence == nil || $0.sentence == sentence) }.prefix(3).map { $0.degree }
  }

  func event(_ number: Int) -> Event? { events.last { $0.number == number } }

  /// The number that the last event would have in a short piece with the same progress.
  var equivalentEventNumber: Int { events.last?.phase.map { 1 + Int(($0 * 7).rounded()) } ?? number }

  func contour(_ standing: Double, number: Int, _ rules: ScoreRules.MelodyRules) -> ScoreRules.Contour {
    let list = standing > 0.3 ? rules.ahead : standing < -0.3 ? rules.behind : rules.even
    return list.isEmpty ? .arch : list[(tuning.contourOffset + number) % list.count]
  }

  /// The progress of the piece, 0…1: 1 once a voice has almost won, else by the last event's `phase` or the number of events.
  var form: Double {
    if abs(standing) > 0.9 { return 1 }
    // A long piece has a middling phase most of the time: this curve makes such bars almost as loud as the last ones.
    return events.last?.phase.map { $0 * (2 - $0) } ?? Double(min(number, 8)) / 8
  }

  /// The drama of the piece: 2 if a voice had almost won, else 1 if more than half of the events have facts, else 0.
  var drama: Int {
    if events.contains(where: { abs($0.standing) > 0.9 && $0.end == nil }) { return 2 }
    return 2 * events.count { !$0.facts.isEmpty } > events.count ? 1 : 0
  }
}

/// Two random numbers from the piece's seed that make one piece differ from another.
struct Tuning: Sendable {
  /// The degrees by which the register of M differs from that of the rules.
  var drift = 0
  /// The number of contours to skip in the lists of the rules.
  var contourOffset = 0
}

/// The numbers of the candidate melodies for the bars of a piece, grouped by the number of the preceding event.
struct Choices: Sendable {
  /// The numbers chosen so far.
  var taken: [[Int]] = []
  /// The numbers that a record prescribes.
  var replay: [[Int]] = []

  mutating func take(_ choice: Int, at number: Int) {
    while taken.count <= number { taken.append([]) }
    taken[number].append(choice)
  }

  /// The number of the candidate that a record gives for the next bar after the event `number`; `nil` if the record gives none.
  func next(at number: Int) -> Int? {
    let count = number < taken.count ? taken[number].count : 0
    return number < replay.count && count < replay[number].count ? replay[number][count] : nil
  }
}

/// The seeds of a session's pieces, which are derived from the seed of the first.
struct Series: Sendable {
  private let first: UInt64
  /// The seed of the running piece.
  var seed: UInt64
  /// The number of pieces begun after the session's first.
  private(set) var number: UInt64 = 0
  var hasBegun = false

  init(seed: UInt64) { (first, self.seed) = (seed, seed) }

  /// Makes the next piece start like a later piece of the session, with the session's own seed.
  mutating func join() { (hasBegun, number) = (true, .max) }

  mutating func begin(isFirst: Bool) {
    if !isFirst { number &+= 1 }
    seed = number == 0 ? first : SplitMix64.first(seed: first, index: number)
  }
}

/// The harmony of the bed.
struct Bed: Sendable, Equatable {
  /// The degree of the scale that is the bed's root, 0–6.
  var root = 0
  /// The tones above the root, as in `ScoreRules.Sentences.Change.bed`.
  var tones: [Int] = []

  init(root: Int = 0, tones: [Int] = []) {
    (self.root, self.tones) = (Scale.step(root), tones)
  }

  /// The degrees of the bed's low tone and of its highest tone.
  var degrees: (low: Int, high: Int) {
    (root + (tones.first ?? 1) - 1, root + (tones.dropFirst().first ?? 5) - 1)
  }
}

/// The state that taking back an event restores: the whole piece except its echoes; in a match also the melodies heard.
struct Snapshot: Sendable {
  /// The time at which the event was heard.
  let moment: Tick
  private var piece: Piece
  private let novelty: Novelty?

  /// In a local game a take-back also clears the last event's time and the count of hurried moves, but keeps the melodies heard since.
  init(of piece: Piece, _ novelty: Novelty, at moment: Tick) {
    (self.piece, self.moment, self.novelty) = (piece, moment, piece.isMatch ? novelty : nil)
    if !piece.isMatch { (self.piece.tempo.last, self.piece.tempo.hurried) = (nil, 0) }
  }

  func restore(_ piece: inout Piece, _ novelty: inout Novelty) {
    let echoes = piece.echoes
    piece = self.piece
    piece.echoes = echoes
    novelty = self.novelty ?? novelty
  }
}
