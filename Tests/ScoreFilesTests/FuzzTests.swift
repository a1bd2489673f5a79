import Base
import Foundation
import Records
import ScoreModel
import TestSupport
import Testing
import TicTacToe

@testable import Composer
@testable import ScoreFiles

/// Changes every value of some rules at random, within what a rule file may hold.
private struct Shaker: RuleVisitor {
  var generator: SplitMix64
  /// What the checks bind to each other stays as it is.
  private static let bound: Set<String> = [
    "name", "tonic", "mode", "cells", "octaves", "compass", "register", "covers", "when", "unless", "softest",
  ]

  mutating func leaf(_ name: String, _ kind: RuleKind, _ value: inout RuleValue) {
    // Every fourth value stays, so that files are neither wild in all they say nor alike.
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
      // Ends are the likeliest to hurt.
      switch generator.below(4) {
      case 0: .double(range.lowerBound)
      case 1: .double(range.upperBound)
      default:
        .double(range.lowerBound + (range.upperBound - range.lowerBound) * Double(generator.below(1_000)) / 1_000)
      }
    case .bool: .text(generator.below(2) == 0 ? "true" : "false")
    case .word(let words): words.isEmpty ? value : .text(words[generator.below(words.count)])
    case .pitch: .text(["A1", "F#2", "B3", "D5", "C8", "A0"][generator.below(6)])
    case .list(.unit, _, _), .list(.name, _, _), .list(.list, _, _): value
    case .list(let kind, let counts, _):
      .list((0..<counts.lowerBound + generator.below(min(counts.count, 5))).map { _ in shaken(kind, value) })
    case .rising(let kind, _):
      if case .int(let a) = shaken(kind, value), case .int(let b) = shaken(kind, value) {
        .list([.int(min(a, b)), .int(max(a, b))])
      } else {
        value
      }
    case .letter: .text(["B", "D", "F#", "Ab", "C"][generator.below(5)])
    case .name, .chain, .unit, .either: value
    }
  }
}

@Suite struct FuzzTests {
  /// How many games are played, one in eleven by win-or-block players; `FUZZ=100000 FUZZ_SEED=2` plays at length, others.
  private static let games = amount("FUZZ", quick: 300, all: 3_000)
  private static let seed = amount("FUZZ_SEED", quick: 2_026, all: 2_026)

  private static func shaken(_ index: Int) -> ScoreRules? {
    var rules = ScoreFilesTests.rules
    var shaker = Shaker(generator: SplitMix64(seed: 15, index: UInt64(index)))
    rules.visit(&shaker)
    rules.performance.softest = min(rules.performance.softest, rules.performance.range.lowerBound)
    rules.melody.candidates = 1 + rules.melody.candidates % 3
    if !rules.tonics.isEmpty { rules.tonics[0] = rules.scale.tonicSpelling }
    // Written and read again: what the checks let through is played.
    return try? RuleReader.rules(RuleText.yaml(rules))
  }

  /// One game at random moments, with all that may come between: every note must be one.
  private static func play(_ record: Record, _ rules: ScoreRules, _ generator: inout SplitMix64) -> Int {
    var conductor = Conductor(seed: generator.next(), rules: rules)
    conductor.inTime = [[], [.x], [.o], [.x, .o]][generator.below(4)]
    conductor.pace = 0.7 + Double(generator.below(7)) / 10
    var now = Tick.zero
    var events: [ScoreEvent] = []
    func go(_ happening: Happening) { events += conductor.handle(happening, at: now) }
    if generator.below(4) > 0 { go(.opened(resuming: generator.below(4) == 0)) }
    if generator.below(8) > 0 { go(.gameStarted(.start, human: [nil, .x, .o][generator.below(3)])) }
    if generator.below(4) == 0 { go(.matchStarted(seed: generator.next())) }
    let most = [200, 2_000, 20_000, 200_000][generator.below(4)]
    var game = Game()
    for move in record.game.moves {
      now = max(
        now + .milliseconds(generator.below(most)), generator.below(3) == 0 ? conductor.replySlot(ready: now) : now)
      events += conductor.advance(to: now - Conductor.lookahead)
      switch generator.below(24) {
      case 0: go(.connection(lost: generator.below(2) == 0))
      case 1: go(.previewed(Square(generator.below(9))))
      case 2: go(.clockLow(generator.below(2) == 0))
      case 3: go(.refused)
      case 4: conductor.shifted(generation: conductor.generation, to: now)
      case 6: events += conductor.handle(.logged, at: now, logged: now + .milliseconds(generator.below(900)))
      case 5:
        guard game.undo() != nil else { break }
        go(.undone)
        continue
      default: break
      }
      guard let facts = try? game.play(move.square) else { continue }
      events += conductor.handle(
        .moved(facts), at: now, logged: generator.below(3) == 0 ? now + .milliseconds(generator.below(900)) : nil)
    }
    if generator.below(3) == 0 {
      go(.ended(GameEnd(outcome: [nil, .draw, .win(.x)][generator.below(3)], termination: .resignation)))
    }
    for _ in 0..<generator.below(6) {
      now = now + .milliseconds(generator.below(60_000))
      events += conductor.advance(to: now)
    }
    for event in events where event.kind == .note && (event.duration <= 0 || event.velocity == 0) {
      Issue.record("\(event)")
    }
    return events.count
  }

  private static func random(_ generator: inout SplitMix64) -> Record {
    var game = Game()
    while !game.isOver {
      let squares = Array(game.position.legalMoves)
      _ = try? game.play(squares[generator.below(squares.count)])
    }
    return Record(game: game)
  }

  @Test func `No rule file, no game and no timing ends the program`() throws {
    let shipped = try ["score", "morning", "night"].map { try RuleLibrary.load("\(assets)/\($0).yaml").rules }
    let files = (0..<max(40, min(Self.games / 10, 1_000))).compactMap(Self.shaken)
    #expect(files.count > 30)
    let lightly = shipped.map { rules in
      var rules = rules
      rules.melody.candidates = 1
      return rules
    }
    let all = lightly + files
    var generator = SplitMix64(seed: UInt64(Self.seed))
    var events = 0
    for index in 0..<Self.games {
      let game = index % 11 == 0 ? ReferenceGames.game(seed: UInt64(Self.seed), index: index) : Self.random(&generator)
      events += Self.play(game, all[index % all.count], &generator)
    }
    #expect(events > Self.games)
  }

  @Test func `Rules written out are the same rules again`() throws {
    for name in ["score", "morning", "night"] {
      let rules = try RuleLibrary.load("\(assets)/\(name).yaml").rules
      #expect(try RuleReader.rules(RuleText.yaml(rules)) == rules)
    }
  }

  @Test func `What can never be met is named, and the shipped scores ask for little of it`() throws {
    #expect(RuleAdvice.lines(ScoreFilesTests.rules).isEmpty)
    var rules = ScoreFilesTests.rules
    rules.melody.widest = 4
    rules.bars.longest = 4
    rules.signs.insert(SignRule("never", when: [.win, .threat]), at: 2)
    rules.signs.insert(SignRule("both", when: [.win, .draw]), at: 2)
    let lines = RuleAdvice.lines(rules)
    #expect(lines.contains { $0.hasPrefix("win: ") && $0.contains("another octave") })
    #expect(lines.contains { $0.hasPrefix("both: no game") })
  }

  /// After a change of the rules: `UPDATE_GOLDENS=1 swift test --filter FuzzTests`.
  @Test func `The page about writing a score holds the table of all keys`() throws {
    let path = "\(assets)/../docs/score-rules.md"
    let page = try String(contentsOfFile: path, encoding: .utf8)
    let mark = "<!-- made by the tests from the rules themselves -->\n"
    let parts = page.components(separatedBy: mark)
    try #require(parts.count == 2)
    let table = RuleTable.markdown(ScoreFilesTests.rules)
    if ProcessInfo.processInfo.environment["UPDATE_GOLDENS"] == "1" {
      return try (parts[0] + mark + table).write(toFile: path, atomically: true, encoding: .utf8)
    }
    #expect(parts[1] == table)
  }
}
