import Base
import ScoreModel
import Tintinnabuli

/// An input line of `alina-score live`: an event for the score in JSON.
package struct EventLine: Sendable {
  package enum Kind: Sendable {
    case event(Event)
    case begin
    case undo
    /// `nil` if the piece is given up, so that no arch plays.
    case end(End?)
    case connection(lost: Bool)
  }

  package let kind: Kind
  /// The time of the event in seconds from the first sound; `nil` for at once.
  package let at: Double?

  /// The permitted fields of a line, as in the JSON Schema of the documentation.
  package static let fields = [
    "at", "begin", "closes", "connection", "degree", "end", "facts", "leads", "leaves", "line", "marks", "pace",
    "phase", "pitch", "returns", "root", "sentence", "standing", "stood", "undo", "voice",
  ]

  init(kind: Kind, at: Double?) { (self.kind, self.at) = (kind, at) }

  package init(_ text: some StringProtocol, rules: ScoreRules) throws(ScoreFileError) {
    let json: JSON
    do { json = try JSON(String(text)) } catch { throw ScoreFileError("\(error)") }
    guard let object = json.object else { throw ScoreFileError("must be a JSON object") }
    for field in object.fields where !Self.fields.contains(field.name) {
      throw ScoreFileError("unknown field \"\(field.name)\"; allowed: \(Self.fields.joined(separator: " "))")
    }
    at = try Self.number("at", json["at"], 0...86_400)
    if json["voice"] != nil {
      kind = .event(try Self.event(json, rules))
    } else if json["begin"] != nil {
      kind = .begin
    } else if json["undo"] != nil {
      kind = .undo
    } else if let lost = json["connection"] {
      kind = .connection(lost: try Self.word("connection", lost, ["lost", "back"]) == "lost")
    } else if let end = json["end"] {
      kind = .end(end == .null ? nil : try Self.end(end))
    } else {
      throw ScoreFileError("must have one of voice begin undo end connection")
    }
  }

  /// Reads lines one after another; throws the number of the first bad line and its error.
  package static func lines(_ texts: [String], rules: ScoreRules) throws(ScoreFileError) -> [EventLine] {
    var numbers = EventNumbers()
    var lines: [EventLine] = []
    for (index, text) in texts.enumerated() {
      do throws(ScoreFileError) {
        lines.append(try EventLine(text, rules: rules))
        try numbers.take(lines[index])
      } catch {
        throw ScoreFileError("line \(index + 1): \(error)")
      }
    }
    return lines
  }

  private static func event(_ json: JSON, _ rules: ScoreRules) throws(ScoreFileError) -> Event {
    var event = Event(voice: try voice("voice", json["voice"]), degree: 0)
    switch (json["degree"], json["pitch"]) {
    case (let degree?, nil): event.degree = try Self.degree("degree", degree, rules)
    case (nil, let pitch?):
      guard let spelling = pitch.string.flatMap({ Spelling($0) }), let degree = rules.degree(of: Pitch(spelling.midi)),
        rules.degrees.contains(degree)
      else {
        throw ScoreFileError("pitch: must be a note of the scale within the compass, such as \"F#5\", is \(pitch.text)")
      }
      event.degree = degree
    default: throw ScoreFileError("an event must have a degree or a pitch")
    }
    let words = rules.facts.map { $0.rawValue }
    for fact in try list("facts", json["facts"]) {
      event.facts.insert(Fact(rawValue: try word("facts", fact, words)))
    }
    event.standing = try number("standing", json["standing"], -1...1) ?? 0
    event.stood = try number("stood", json["stood"], -1...1)
    event.pace = try number("pace", json["pace"], 0...3_600)
    event.line = try degrees("line", json["line"], rules)
    event.marks = Marks(
      first: try degrees("marks.first", json["marks"]?["first"], rules),
      second: try degrees("marks.second", json["marks"]?["second"], rules))
    if let end = json["end"] { event.end = try Self.end(end) }
    event.phase = try number("phase", json["phase"], 0...1)
    event.root = try whole("root", json["root"], -14...14) ?? 0
    event.nextRoot = try whole("leads", json["leads"], -14...14) ?? 0
    event.sentence = try whole("sentence", json["sentence"], 0...999)
    if let closes = json["closes"] {
      guard let isTrue = closes.bool else { throw ScoreFileError("closes: must be true or false, is \(closes.text)") }
      event.closes = isTrue
    }
    if event.closes, event.sentence == nil { throw ScoreFileError("closes: goes with a sentence") }
    event.removedDegree = try whole("leaves", json["leaves"], rules.degrees)
    event.returns = try whole("returns", json["returns"], 1...1_000_000)
    return event
  }

  private static func end(_ json: JSON) throws(ScoreFileError) -> End {
    let word = try word("end.kind", json["kind"], End.Kind.allCases.map { $0.rawValue })
    let kind = End.Kind(rawValue: word) ?? .draw
    var end = End(kind, winner: kind == .draw ? nil : try voice("end.winner", json["winner"]))
    for sentence in try list("end.sentences", json["sentences"]) {
      if let number = try whole("end.sentences", sentence, 0...999) { end.sentences.append(number) }
    }
    return end
  }

  // MARK: Values

  private static func list(_ name: String, _ json: JSON?) throws(ScoreFileError) -> [JSON] {
    guard let json else { return [] }
    guard let list = json.array, list.count <= 64 else { throw ScoreFileError("\(name): must be a list of 0–64") }
    return list
  }

  private static func degrees(_ name: String, _ json: JSON?, _ rules: ScoreRules) throws(ScoreFileError) -> [Int] {
    try list(name, json).map { value throws(ScoreFileError) in try degree(name, value, rules) }
  }

  private static func degree(_ name: String, _ json: JSON, _ rules: ScoreRules) throws(ScoreFileError) -> Int {
    try whole(name, json, rules.degrees) ?? 0
  }

  private static func number(_ name: String, _ json: JSON?, _ range: ClosedRange<Double>) throws(ScoreFileError)
    -> Double?
  {
    guard let json else { return nil }
    guard let number = json.number, range.contains(number) else {
      throw ScoreFileError(
        "\(name): must be a number \(fixed(range.lowerBound, 0))–\(fixed(range.upperBound, 0)), is \(json.text)")
    }
    return number
  }

  private static func whole(_ name: String, _ json: JSON?, _ range: ClosedRange<Int>) throws(ScoreFileError) -> Int? {
    guard let json else { return nil }
    guard let number = json.int, range.contains(number) else {
      throw ScoreFileError("\(name): must be a whole number \(range.lowerBound)–\(range.upperBound), is \(json.text)")
    }
    return number
  }

  private static func word(_ name: String, _ json: JSON?, _ words: [String]) throws(ScoreFileError) -> String {
    guard let word = json?.string, words.contains(word) else {
      throw ScoreFileError("\(name): must be one of \(words.joined(separator: " ")), is \(json?.text ?? "missing")")
    }
    return word
  }

  private static func voice(_ name: String, _ json: JSON?) throws(ScoreFileError) -> Voice {
    try word(name, json, ["first", "second"]) == "first" ? .first : .second
  }
}

/// Counts the events of the running piece, because a line may refer to an earlier event by its number.
package struct EventNumbers: Sendable {
  private var events = 0
  private var isOver = false

  package init() {}

  /// Counts a line's event; throws if the line refers by `returns` to an event that the piece does not have.
  package mutating func take(_ line: EventLine) throws(ScoreFileError) {
    switch line.kind {
    case .event(let event):
      if isOver { events = 0 }
      if let number = event.returns, number > events {
        throw ScoreFileError(
          "returns: must be the number of an earlier event of its piece, which has had \(events), is \(number)")
      }
      events += 1
      isOver = event.end != nil
    case .begin: (events, isOver) = (0, false)
    case .undo: (events, isOver) = (max(events - 1, 0), false)
    case .end: isOver = true
    case .connection: break
    }
  }
}

package struct LiveScore {
  /// Call the conductor's `open` before the first line, and its `advance` as time passes.
  package var conductor: Conductor
  /// The facts of each event, by the index of the bar that the event began.
  package private(set) var facts: [Int: Set<Fact>] = [:]
  private var last = Tick.zero
  private var isBegun = false

  package init(seed: UInt64, rules: ScoreRules) {
    conductor = Conductor(seed: seed, rules: rules)
    conductor.autoReplyVoices = []
  }

  /// Composes lines so that every bar is heard to its end; ignores the times in the lines.
  package static func uncut(
    _ lines: [EventLine], seed: UInt64 = 1, rules: ScoreRules
  ) -> (score: LiveScore, events: [ScoreEvent]) {
    var score = LiveScore(seed: seed, rules: rules)
    (score.conductor.explains, score.conductor.autoReplyVoices) = (true, [.first, .second])
    var events = score.conductor.open(at: .zero, resuming: true)
    for line in lines {
      // If the event of the line before closes a sentence, composes its half arch first.
      events += score.conductor.renderToEnd()
      let end = score.conductor.bars.last?.end ?? .seconds(1)
      events += score.compose(EventLine(kind: line.kind, at: nil), now: end)
    }
    events += score.finish().events
    return (score, ScoreEvent.heard(events).inOrder)
  }

  /// The time at which a line read at `now` sounds: the line's own time, or `now` if the line has none or is late.
  package func moment(of line: EventLine, now: Tick) -> Tick {
    // Two downbeats need different times: at least 10 ms apart.
    max(line.at.map { .seconds($0) } ?? now, now, isBegun ? last + .milliseconds(10) : .zero)
  }

  /// Composes a line read at `now`, and the scheduled music before the line's time.
  package mutating func compose(_ line: EventLine, now: Tick) -> [ScoreEvent] {
    let moment = moment(of: line, now: now)
    var events = conductor.advance(to: moment - Conductor.lookahead)
    if !isBegun { events += conductor.begin(at: moment) }
    (isBegun, last) = (true, moment)
    switch line.kind {
    case .event(let event):
      events += conductor.compose(event, at: moment)
      if let bar = conductor.bars.last { facts[bar.index] = event.facts.union(event.end?.facts ?? []) }
    case .begin: events += conductor.begin(at: moment)
    case .undo: events += conductor.undo(at: moment)
    case .end(let end): events += conductor.end(end, at: moment)
    case .connection(let lost): events += conductor.connection(lost: lost, at: moment)
    }
    return events
  }

  /// Composes a begun arch to its end, and the fade-out. Returns their events and the end of the last bar.
  package mutating func finish() -> (events: [ScoreEvent], end: Tick) {
    let events = conductor.renderToEnd()
    let end = conductor.bars.last?.end ?? last
    return (events + conductor.fade(at: end), end)
  }
}
