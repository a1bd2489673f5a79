import Base
import Foundation
import Oracle
import Records
import ScoreMeasures
import ScoreModel
import TestSupport
import Testing
import TicTacToe

@testable import ScoreIO

@testable import GameScore
@testable import Tintinnabuli

/// Changes most values of a rule file at random, within the allowed ranges.
private struct Shaker: RuleVisitor {
  var generator: SplitMix64
  /// These values depend on each other, so the reader would refuse random ones.
  private static let bound: Set<String> = [
    "name", "tonic", "mode", "cells", "octaves", "compass", "register", "covers", "when", "unless", "softest",
  ]

  mutating func leaf(_ name: String, _ kind: RuleKind, _ value: inout RuleValue) {
    // Leaves about a fourth of the values unchanged, so that no file is extreme in all values.
    guard !Self.bound.contains(name), generator.below(4) > 0 else { return }
    value = shaken(kind, value)
  }

  mutating func group(_ name: String, _ body: (inout Self) -> Void) { body(&self) }
  mutating func optional(_ body: (inout Self) -> Void) { body(&self) }
  mutating func each(
    _ name: String, _ counts: ClosedRange<Int>, of what: String, count: Int, _ body: (inout Self, Int) -> Void
  ) {
    for index in 0..<count { body(&self, index) }
  }

  private mutating func shaken(_ kind: RuleKind, _ value: RuleValue) -> RuleValue {
    switch kind {
    case .int(let range): .int(range.lowerBound + generator.below(range.count))
    case .double(let range):
      // The ends of a range are the most likely to cause faults.
      switch generator.below(4) {
      case 0: .double(range.lowerBound)
      case 1: .double(range.upperBound)
      default:
        .double(range.lowerBound + (range.upperBound - range.lowerBound) * Double(generator.below(1_000)) / 1_000)
      }
    case .bool: .text(generator.below(2) == 0 ? "true" : "false")
    case .word(let words): words.isEmpty ? value : .text(words[generator.below(words.count)])
    case .pitch: .text(["A1", "F#2", "B3", "D5", "C8", "A0"][generator.below(6)])
    case .list(.unit, _, _), .list(.name, _, _), .list(.line, _, _), .list(.list, _, _): value
    case .list(let kind, let counts, _):
      .list((0..<counts.lowerBound + generator.below(min(counts.count, 5))).map { _ in shaken(kind, value) })
    case .rising(let kind, _):
      if case .int(let a) = shaken(kind, value), case .int(let b) = shaken(kind, value) {
        .list([.int(min(a, b)), .int(max(a, b))])
      } else {
        value
      }
    case .letter: .text(["B", "D", "F#", "Ab", "C"][generator.below(5)])
    case .name, .line, .chain, .unit, .either: value
    }
  }
}

@Suite struct FuzzTests {
  /// `FUZZ=1100000 FUZZ_SEED=2` plays more games, with another seed.
  private static let games = amount("FUZZ", quick: 2_000, all: 20_000)
  private static let seed = UInt64(amount("FUZZ_SEED", quick: 2_026, all: 2_026))

  static func shaken(_ index: Int) -> ScoreRules? {
    var rules = ScoreIOTests.rules
    var generator = SplitMix64(seed: seed, index: UInt64(index))
    if index % 2 == 0 { rescale(&rules, &generator) }
    var shaker = Shaker(generator: generator)
    rules.visit(&shaker)
    rules.performance.softest = min(rules.performance.softest, rules.performance.range.lowerBound)
    rules.melody.candidates = 1 + rules.melody.candidates % 3
    if !rules.tonics.isEmpty { rules.tonics[0] = rules.scale.tonicSpelling }
    // The reader refuses rules that must not be played.
    return try? RuleReader.rules(RuleText.yaml(rules))
  }

  /// Changes together what must agree: the scale, the cells and the compass.
  private static func rescale(_ rules: inout ScoreRules, _ generator: inout SplitMix64) {
    let modes = Scale.modes.sorted { $0.key < $1.key }
    rules.scale = Scale(
      tonicLetter: generator.below(7), tonicAlteration: generator.below(3) - 1,
      steps: modes[generator.below(modes.count)].value)
    let scale = rules.scale
    let (low, width) = (35 + generator.below(8), 12 + generator.below(7))
    rules.cells = (0..<9).map { _ in Pitch(scale.midi(low + generator.below(width + 1))) }
    rules.boards =
      generator.below(2) == 0 ? [] : (0..<9).map { _ in Pitch(scale.midi(low + generator.below(width + 1))) }
    rules.melody.compass = Pitch(scale.midi(low))...Pitch(scale.midi(low + width))
    let ends = [low + generator.below(width + 1), low + generator.below(width + 1)].sorted()
    rules.melody.register = Pitch(scale.midi(ends[0]))...Pitch(scale.midi(ends[1]))
    for index in rules.signs.indices.dropLast() where generator.below(4) == 0 {
      rules.signs[index].when = Array(Fact.ofGames.shuffled(using: &generator).prefix(generator.below(4)))
    }
  }

  /// Numbers of games of random players, of games of players that win or block, and of score events.
  struct Played {
    var (random, reference, events) = (0, 0, 0)
    var games: Int { random + reference }
  }

  /// At least one session in four uses a shipped score, one of the first three of `all`.
  static func session(_ number: Int, _ all: [ScoreRules], _ played: inout Played) -> [ScoreEvent] {
    var generator = SplitMix64(seed: seed, index: UInt64(number) << 20)
    func anyRules(_ generator: inout SplitMix64) -> ScoreRules {
      all[generator.below(generator.below(4) == 0 ? 3 : all.count)]
    }
    var conductor = GameConductor(seed: generator.next(), rules: anyRules(&generator))
    conductor.music.autoReplyVoices = [[], [.first], [.second], [.first, .second]][generator.below(4)]
    conductor.music.pace = 0.7 + Double(generator.below(7)) / 10
    var now = Tick.zero
    var events: [ScoreEvent] = []
    func go(_ event: GameEvent) { events += conductor.handle(event, at: now) }
    if generator.below(4) > 0 { go(.opened(resuming: generator.below(4) == 0)) }
    for _ in 0...generator.below(3) {
      let isReference = generator.below(11) == 0
      played.random += isReference ? 0 : 1
      played.reference += isReference ? 1 : 0
      let variant = [0: Variant.infinite, 1: .ultimate][generator.below(16)] ?? .classic
      var moves =
        isReference
        ? ReferenceGames.game(variant, seed: generator.next(), index: 0).game.cells[...] : random(variant, &generator)
      var game = Game(from: VariantState(startOf: variant))
      // One game in eight starts from a later position. One game in eight has no start event, as if it was resumed.
      if generator.below(8) == 0 { for _ in 0...generator.below(4) { try? game.play(moves.removeFirst()) } }
      if generator.below(8) > 0 { go(.gameStarted(game.state, human: [nil, .x, .o][generator.below(3)])) }
      if generator.below(4) == 0 { go(.matchStarted(variant, seed: generator.next())) }
      let most = [200, 2_000, 20_000, 200_000][generator.below(4)]
      for move in moves {
        now = max(
          now + .milliseconds(generator.below(most)),
          generator.below(3) == 0 ? conductor.music.replySlot(ready: now) : now)
        events += conductor.music.advance(to: now - Conductor.lookahead)
        switch generator.below(24) {
        case 0: go(.connection(lost: generator.below(2) == 0))
        case 1: go(.previewed(Cell(generator.below(variant.cellCount))))
        case 2: go(.clockLow(generator.below(2) == 0))
        case 3: go(.refused)
        case 4: conductor.music.shifted(generation: conductor.music.book.generation, to: now)
        case 5:
          guard game.undo() != nil else { break }
          go(.undone)
          continue
        case 6: events += conductor.handle(.logged, at: now, logged: now + .milliseconds(generator.below(900)))
        case 7: conductor.music.home = anyRules(&generator)
        default: break
        }
        // After an undo the next move of the list may be illegal.
        guard !game.isOver, game.state.moves.contains(move) else { continue }
        let told = VariantMove(valued: move, in: game.state)
        try? game.play(move)
        events += conductor.handle(
          .moved(told), at: now,
          logged: generator.below(3) == 0 ? now + .milliseconds(generator.below(900)) : nil)
      }
      if generator.below(3) == 0 {
        go(.ended(GameEnd(outcome: [nil, .draw, .win(.x)][generator.below(3)], termination: .resignation)))
      }
      for _ in 0..<generator.below(6) {
        now = now + .milliseconds(generator.below(60_000))
        events += conductor.music.advance(to: now)
      }
    }
    for event in events where event.kind == .note && (event.duration <= 0 || event.velocity == 0) {
      Issue.record("\(event) of session \(number)")
    }
    played.events += events.count
    return events
  }

  static func random(_ variant: Variant, _ generator: inout SplitMix64) -> ArraySlice<Cell> {
    var game = Game(from: VariantState(startOf: variant))
    while !game.isOver { try? game.play(game.state.moves.randomCell(using: &generator)) }
    return game.cells[...]
  }

  @Test func `No rule file, game or timing crashes the program`() throws {
    let shipped = try ["score", "morning", "night"].map { try RuleLibrary.load("\(assets)/\($0).yaml").rules }
    let tried = max(100, min(Self.games / 10, 2_500))
    let files = (0..<tried).compactMap(Self.shaken)
    #expect(files.count > tried * 2 / 5)
    let all = shipped + files
    var played = Played()
    var sessions = 0
    while played.games < Self.games {
      let told = played.games / 10_000
      _ = Self.session(sessions, all, &played)
      sessions += 1
      if played.games / 10_000 > told {
        print("fuzz: \(played.random) random games, \(played.reference) win-or-block, \(files.count) random rule files")
      }
    }
    #expect(played.events > Self.games)
  }

  @Test func `Written rules are read back unchanged`() throws {
    for name in ["score", "morning", "night"] {
      let rules = try RuleLibrary.load("\(assets)/\(name).yaml").rules
      #expect(try RuleReader.rules(RuleText.yaml(rules)) == rules)
    }
  }

  @Test func `Impossible constraints are reported, and shipped scores have few of them`() throws {
    #expect(RuleAdvice.lines(ScoreIOTests.rules).isEmpty)
    var rules = ScoreIOTests.rules
    rules.melody.widest = 4
    rules.bars.longest = 4
    rules.signs.insert(SignRule("never", when: [.win, .threat]), at: 2)
    rules.signs.insert(SignRule("both", when: [.win, .draw]), at: 2)
    let lines = RuleAdvice.lines(rules)
    #expect(lines.contains { $0.hasPrefix("win: ") && $0.contains("another octave") })
    #expect(lines.contains { $0.hasPrefix("both: no game") })
  }

  /// After a change of the rules `UPDATE_GOLDENS=1 ./test FuzzTests` writes the table again.
  @Test func `The page about writing a score holds the table of all keys`() throws {
    let path = "\(assets)/../docs/score-rules.md"
    let page = try String(contentsOfFile: path, encoding: .utf8)
    let mark = "<!-- made by the tests from the rules themselves -->\n"
    let parts = page.components(separatedBy: mark)
    try #require(parts.count == 2)
    let table = RuleTable.markdown(ScoreIOTests.rules)
    if ProcessInfo.processInfo.environment["UPDATE_GOLDENS"] == "1" {
      return try (parts[0] + mark + table).write(toFile: path, atomically: true, encoding: .utf8)
    }
    #expect(parts[1] == table)
  }
}
