import Foundation
import GameScore
import Oracle
import ScoreModel
import Synth
import TestSupport
import Testing
import TicTacToe
import Tintinnabuli

@testable import ScoreIO

/// A game's events with their times, and the rules of its music.
private struct Play {
  var gameEvents: [(at: Double, what: GameEvent)]
  var rules: ScoreRules
  /// Seconds from the start of the play.
  var end: Double

  /// Plays the moves of `game` every three seconds from 1 s on, and then the events `more`, each at its time in seconds.
  init(_ game: Game, human: Player? = nil, then more: [(Double, GameEvent)] = [], end: Double? = nil) {
    gameEvents = [(0, .gameStarted(game.startState, human: human))]
    for (index, move) in game.variantMoves.enumerated() {
      gameEvents.append((1 + 3 * Double(index), .moved(move)))
    }
    gameEvents += more.map { (at: $0.0, what: $0.1) }
    self.rules = ScoreIOTests.rules
    self.end = end ?? (gameEvents.last?.at ?? 0) + 7
  }

  func with(_ change: (inout ScoreRules) -> Void) -> Play {
    var other = self
    change(&other.rules)
    return other
  }

  var events: [ScoreEvent] {
    var conductor = GameConductor(seed: 3, rules: rules)
    var events: [ScoreEvent] = []
    for (at, what) in gameEvents {
      events += conductor.music.advance(to: .seconds(at) - Conductor.lookahead)
      events += conductor.handle(what, at: .seconds(at))
    }
    return events + conductor.music.advance(to: .seconds(end))
  }

  /// One line for each event that no cut has removed, without the event's generation.
  var log: [String] {
    let kept = ScoreEvent.heard(events).filter { $0.frame < .seconds(end) }
    return kept.enumerated().sorted { ($0.element.frame, $0.offset) < ($1.element.frame, $1.offset) }.map {
      line($0.element)
    }
  }

  private func line(_ e: ScoreEvent) -> String {
    let time = fixed(e.frame.seconds, 3)
    let name = rules.scale.spelling(of: e.pitch.midi).description
    let chain = e.chain > 0 ? " \(rules.chains[Int(e.chain) - 1].name)" : ""
    switch e.kind {
    case .note: return "\(time) \(e.voice) \(name) \(e.velocity)\(chain)"
    case .pedal: return "\(time) pedal \(e.amount)"
    case .drone: return "\(time) bed \(e.amount)"
    case .preview: return "\(time) preview \(e.amount > 0 ? name : "off")"
    case .bell: return "\(time) bell \(name)"
    default: return "\(time) \(e.kind)"
    }
  }

  var sound: [Float] {
    var renderer = OfflineRenderer(events, engine: Engine(patch: Patch(rules)))
    return renderer.render(frames: Int(end * 48_000))
  }
}

private struct Row {
  let fact: String
  let with: Play
  let without: Play
  /// The logs are equal up to `from` (seconds) and differ at `by` (seconds) at the latest.
  let from: Double
  let by: Double
  /// Each differing line of the log must contain one of these words; empty if the whole bar may differ.
  var words: [String] = []
}

/// For each fact the shortest game in which the last move's sign answers the fact, and the two shortest games whose last moves differ in
/// this fact alone. A fact may have no such two games.
private let shortest: (games: [Fact: Game], pairs: [Fact: (with: Game, without: Game)]) = {
  var games: [Fact: Game] = [:]
  var pairs: [Fact: (with: Game, without: Game)] = [:]
  var row = [Game()]
  while !row.isEmpty, pairs.count < moveFacts.count {
    var next: [Game] = []
    for game in row where !game.isOver {
      let played = game.state.moves.compactMap { cell -> (game: Game, facts: Set<Fact>)? in
        var longer = game
        guard let move = try? longer.playValued(cell) else { return nil }
        return (longer, GameConductor.facts(of: move, awakens: move == longer.variantMoves.awakening))
      }
      for (a, known) in played {
        let sign = ScoreIOTests.rules.signs.first { $0.applies(to: known) }
        for fact in moveFacts where pairs[fact] == nil && known.contains(fact) && sign?.when.contains(fact) == true {
          if games[fact] == nil { games[fact] = a }
          if let b = played.first(where: { $0.facts == known.subtracting([fact]) }) { pairs[fact] = (a, b.game) }
        }
      }
      next += played.map(\.game)
    }
    row = next
  }
  return (games, pairs)
}()

private let moveFacts: [Fact] = [
  .threat, .opposingThreat, .fork, .block, .mistake, .onlyMove, .awakening, .win, .draw,
]

private func game(_ squares: String) throws -> Game {
  var game = Game()
  for name in squares.split(separator: " ") { try game.play(#require(Square(name: name))) }
  return game
}

/// For each fact two games whose last moves differ in this fact alone, if any, and one game with and without the fact's rule.
private func moveRows() throws -> [Row] {
  var rows: [Row] = []
  for fact in moveFacts {
    let found = shortest.pairs[fact]
    if let (with, without) = found {
      let at = 1 + 3 * Double(with.moves.count - 1)
      rows.append(Row(fact: "\(fact.rawValue)", with: Play(with), without: Play(without), from: at, by: at + 0.1))
    }
    // The same game under rules without this fact's signs.
    let with = try #require(found?.with ?? shortest.games[fact])
    let at = 1 + 3 * Double(with.moves.count - 1)
    let deaf = Play(with).with { rules in
      rules.signs.removeAll { $0.when.contains(fact) }
    }
    rows.append(
      Row(fact: "\(fact.rawValue), without its rule", with: Play(with), without: deaf, from: at, by: at + 3))
  }
  return rows
}

/// The rows of the facts that do not come from moves.
private func otherRows() throws -> [Row] {
  let begun = try game("b2 a1 c1")
  let won = try #require(shortest.games[.win])
  let last = 1 + 3 * Double(won.moves.count - 1)
  let loser = won.turn
  func ended(_ outcome: Outcome?, _ how: Termination) -> Play {
    Play(begun, then: [(9, .ended(GameEnd(outcome: outcome, termination: how)))], end: 24)
  }
  let quiet = Play(begun, end: 24)
  let low = Play(begun, then: [(9, .clockLow(true))], end: 16)
  let lost = Play(begun, then: [(8, .connection(lost: true))], end: 16)
  let back = Play(
    try game("b2 a1"),
    then: [(5, .connection(lost: true)), (7, .connection(lost: false)), (8, .moved(begun.variantMoves[2]))])
  let away = Play(try game("b2 a1"), then: [(5, .connection(lost: true)), (8, .moved(begun.variantMoves[2]))])
  let fresh = [(0.0, GameEvent.opened(resuming: false)), (0, .gameStarted(.classic(.start), human: nil))]
  var opened = Play(Game(), end: 24)
  opened.gameEvents = fresh.map { (at: $0.0, what: $0.1) }
  var resumed = opened
  resumed.gameEvents[0].what = .opened(resuming: true)
  var hasty = Play(try game("b2"), end: 6)
  hasty.gameEvents.append((1.5, .moved(begun.variantMoves[1])))
  let patient = hasty.with { $0.gestures.hurry = 0 }
  return [
    Row(
      fact: "loss: the human's side", with: Play(won, human: loser), without: Play(won, human: loser.opponent),
      from: last, by: last + 3),
    Row(fact: "resigned", with: ended(.win(.x), .resignation), without: quiet, from: 9, by: 9.2),
    Row(fact: "flag", with: ended(.win(.x), .time), without: quiet, from: 9, by: 9.2),
    Row(fact: "agreed draw", with: ended(.draw, .agreement), without: quiet, from: 9, by: 9.2),
    Row(
      fact: "resigned or agreed", with: ended(.win(.x), .resignation), without: ended(.draw, .agreement), from: 9,
      by: 9.2),
    Row(fact: "aborted", with: ended(nil, .abandoned), without: quiet, from: 9, by: 9.2),
    // The bar is short, so the first echo comes after less than 8 s (`echoes.after-short`).
    Row(
      fact: "long waiting", with: Play(begun, end: 28),
      without: Play(begun, end: 28).with { $0.echoes.after = 3_600 }, from: 19.6, by: 20,
      words: [" m ", " t ", "pedal"]),
    Row(
      fact: "preview", with: Play(begun, then: [(9, .previewed(Cell(0)))], end: 12), without: Play(begun, end: 12),
      from: 9, by: 9.2, words: ["preview"]),
    Row(
      fact: "undo", with: Play(begun, then: [(9, .undone)], end: 14), without: Play(begun, end: 14), from: 9, by: 9.2),
    Row(
      fact: "refused", with: Play(begun, then: [(9, .refused)], end: 12), without: Play(begun, end: 12), from: 9,
      by: 9.05, words: ["knock"]),
    Row(fact: "clock low", with: low, without: Play(begun, end: 16), from: 9, by: 10.5, words: ["bed"]),
    Row(fact: "connection lost", with: lost, without: Play(begun, end: 16), from: 8, by: 11, words: [" t "]),
    Row(fact: "connection back", with: back, without: away, from: 8, by: 8.1, words: [" t "]),
    Row(fact: "haste", with: hasty, without: patient, from: 1.5, by: 1.7, words: [" m ", " t "]),
    Row(
      fact: "opening, not resumed", with: opened, without: resumed, from: 2, by: 2.2, words: [" m ", " t ", "pedal"]),
    Row(
      fact: "new game", with: Play(begun, then: [(11, .gameStarted(.classic(.start), human: nil))], end: 14),
      without: Play(begun, end: 14), from: 11, by: 11.4),
  ]
}

private func difference(_ row: Row) -> (added: [String], missing: [String]) {
  let (a, b) = (row.with.log, row.without.log)
  let change = a.difference(from: b)
  return (
    change.insertions.map { if case .insert(_, let line, _) = $0 { line } else { "" } },
    change.removals.map { if case .remove(_, let line, _) = $0 { line } else { "" } }
  )
}

@Test(.long)
func `Games that differ in one fact sound the same, sample for sample, before it and differ after it`() throws {
  for row in try moveRows() + otherRows() {
    let (a, b) = (row.with.sound, row.without.sound)
    let first = zip(a, b).enumerated().first { $1.0 != $1.1 }.map { Double($0.offset / 2) / 48_000 }
    let at = try #require(first, "\(row.fact): nothing differs")
    #expect(at >= row.from - 0.000_1, "\(row.fact): differs at \(at) s, before \(row.from) s")
    #expect(at <= row.by, "\(row.fact): differs only from \(at) s on")
    // The largest difference of two samples (full scale is 1) must be audible, not a rounding error.
    let change = zip(a, b).reduce(0) { max($0, abs($1.0 - $1.1)) }
    #expect(change > 0.000_5, "\(row.fact): the largest difference is \(change)")
  }
}

@Test(.long) func `The difference is exactly the effect of the fact's own rule`() throws {
  for row in try otherRows() where !row.words.isEmpty {
    let (added, missing) = difference(row)
    for line in added + missing {
      #expect(row.words.contains { line.contains($0) }, "\(row.fact): \(line)")
      #expect(Double(line.prefix { $0 != " " })! >= row.from - 0.001, "\(row.fact): \(line)")
    }
  }
  let rows = try moveRows().filter { $0.fact.hasSuffix("without its rule") }
  #expect(rows.count == 9)
  for row in rows {
    let (added, missing) = difference(row)
    #expect(!(added + missing).isEmpty, "\(row.fact)")
    for line in added + missing { #expect(Double(line.prefix { $0 != " " })! >= row.from, "\(row.fact): \(line)") }
    // The downbeat has the pitch of the move's cell with and without the fact.
    let m = { (play: Play) in play.log.first { $0.contains(" m ") && Double($0.prefix { $0 != " " })! >= row.from } }
    #expect(m(row.with)?.split(separator: " ")[2] == m(row.without)?.split(separator: " ")[2], "\(row.fact)")
  }
}

/// After a deliberate change of the music: `UPDATE_GOLDENS=1 ./test AdaptTests`, then read the diff.
@Test func `The golden file lists every fact with a game that causes it and its events`() throws {
  let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Goldens/facts.txt")
  var text = ""
  for row in try moveRows() + otherRows() {
    let moves = row.with.gameEvents.compactMap {
      if case .moved(let move) = $0.what { move.square.name } else { nil }
    }
    let (added, missing) = difference(row)
    text += "\(row.fact)\n  game \(moves.joined(separator: " "))\n"
    text += added.prefix(14).map { "  + \($0)\n" }.joined() + missing.prefix(14).map { "  - \($0)\n" }.joined() + "\n"
  }
  if ProcessInfo.processInfo.environment["UPDATE_GOLDENS"] == "1" {
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try text.write(to: file, atomically: true, encoding: .utf8)
    return
  }
  #expect(try String(contentsOf: file, encoding: .utf8) == text)
}
