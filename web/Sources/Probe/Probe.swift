import Base
import ClientModel
import GameScore
import MatchProtocol
import Opponents
import Oracle
import Records
import ScoreModel
import ScoreFormats
import Synth
import TicTacToe
import Tintinnabuli

/// Answers questions by code of the shared targets. Tests compare the answers of the Embedded Swift build and of the native build.
package struct Probe {
  private let pack: RulePack

  /// `rules` are the score rules shipped with the page (`RulePack`). Throws the errors in them.
  package init(rules: [UInt8]) throws(RuleErrors) { pack = try RulePack(rules) }

  /// The first line of a question has its name and numbers, the other lines its text.
  package func answer(_ question: String) -> String {
    let halves = question.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
    let words = halves[0].split(separator: " ")
    let text = halves.count > 1 ? String(halves[1]) : ""
    let numbers = words.dropFirst().compactMap { UInt64($0) }
    func number(_ index: Int) -> UInt64 { numbers.indices.contains(index) ? numbers[index] : 0 }
    switch words.first {
    case "positions": return positions()
    case "opponents": return opponents(seed: number(0))
    case "rules":
      return pack.entries.map { "\($0.reference.name) \($0.reference.hash) \($0.rules.name)" }.joined(separator: "\n")
    case "record": return read { () throws(NotationError) in try Record(text: text, variants: Variant.allCases) }
    case "line": return read { () throws(NotationError) in try Record(jsonLine: text) }
    case "link": return read { () throws(NotationError) in try Record(link: text) }
    case "piece":
      return (try? Record(text: text, variants: Variant.allCases)).map { music($0, pack.entries[0].rules) } ?? "no game"
    case "music": return music(Probe.game(seed: number(0)), pack.entries[Int(number(1))].rules)
    case "own": return own(text)
    case "sound": return sound(Probe.game(seed: number(0)), rules: Int(number(1)), frames: Int(number(2)))
    case "client": return client(text)
    default: return "no such question"
    }
  }

  package static func game(seed: UInt64) -> Record {
    var generator = SplitMix64(seed: seed)
    var record = Record()
    record.seed = generator.next()
    while !record.game.isOver, record.game.moves.count < 3 + Int(seed % 7) {
      let squares = Array(record.game.position.legalMoves)
      let elapsed = Int64(generator.below(1 << 16))
      try? record.game.play(squares[generator.below(squares.count)])
      record.times.append(.init(elapsed: elapsed, clock: (1 << 33) - elapsed))
    }
    if !record.game.isOver { try? record.game.lose(record.game.turn, by: .resignation) }
    return record
  }

  private func hash(_ text: String) -> String { SHA256.hash(text.utf8).hex }

  private func positions() -> String {
    var text = ""
    for position in Solver.positions {
      let evaluation = Solver.shared.evaluation(of: position)
      text += "\(position.notation) \(evaluation.value.rawValue) \(evaluation.distance) "
      text += "\(Solver.shared.distanceOptimalMoves(in: position).rawValue) \(position.canonical.position.notation)\n"
      guard position.outcome == nil else { continue }
      for square in position.legalMoves {
        let move = VariantMove(valued: Cell(square.index), in: .classic(position))
        text += "\(square.name)\(move.threats.rawValue) \(move.opposingThreats.rawValue) \(move.completed.rawValue) "
        text += "\(move.isBlock)\(move.isFork)\(move.isOnlyMove)\(move.isDecisive)\(move.isMistake)\n"
      }
    }
    return "\(Solver.positions.count) \(hash(text))"
  }

  private func opponents(seed: UInt64) -> String {
    var text = ""
    var number: UInt64 = 0
    func play(_ player: some Opponent) {
      var generator = SplitMix64(seed: seed, index: number)
      number += 1
      var (position, last): (Position, Square?) = (.start, nil)
      text += player.name
      while position.outcome == nil {
        let square = player.move(in: position, lastMove: last, using: &generator)
        (position, last) = (position.playing(square), square)
        text += " " + square.name
      }
      text += "\n"
    }
    for level in Level.all { play(level) }
    for simple in SimpleOpponent.allCases { play(simple) }
    play(Adaptive())
    play(Menace())
    return text
  }

  private func read(_ body: () throws(NotationError) -> Record) -> String {
    do throws(NotationError) {
      let record = try body()
      return record.text + record.jsonLine + "\n" + (record.human?.text ?? "")
    } catch { return "\(error.line):\(error.column): \(error.message)" }
  }

  /// The answer for score rules that a player has made, encoded in `word` of a link: the rule file, and a game composed with these rules.
  private func own(_ word: String) -> String {
    let bases = pack.entries.map { $0.reference.name }
    guard let own = try? OwnMusic(word, bases: bases), let tree = pack.tree(own.base), let rules = pack.rules(word)
    else { return "no music" }
    return own.changing(tree).yaml + music(Probe.game(seed: 5), rules)
  }

  private func music(_ record: Record, _ rules: ScoreRules) -> String {
    let rendition = Rendition(of: record, rules: rules)
    var text = ""
    for event in rendition.events {
      text += "\(event.frame.rawValue) \(event.duration) \(event.generation) \(event.kind.rawValue) "
      text +=
        "\(event.voice.rawValue) \(event.pitch.rawValue) \(event.velocity) \(event.pan) \(event.amount) \(event.chain)\n"
    }
    let title = ScoreTitle.title(record)
    let page = ScorePage(rendition.bars, rules: rules, title: title, subtitle: ScoreTitle.subtitle(record))
    return [
      hash(text), SHA256.hash(MIDIFile.bytes(rendition, title: title)).hex,
      hash(MusicXML.text(rendition.bars, rules: rules, title: title)), page.svg,
    ].joined(separator: "\n")
  }

  private func sound(_ record: Record, rules index: Int, frames: Int) -> String {
    let rules = pack.entries[index].rules
    let events = Rendition(of: record, rules: rules).events
    var renderer = OfflineRenderer(events, engine: Engine(patch: Patch(rules)))
    var hash = SHA256()
    var left = frames
    while left > 0 {
      let samples = renderer.render(frames: min(left, 128))
      samples.withUnsafeBytes { hash.update($0) }
      left -= 128
    }
    return hash.digest.hex
  }

  /// All that a client sends and shows when it receives the lines of `text`. A line such as `> b2` is a move that the client makes.
  private func client(_ text: String) -> String {
    var model = ClientModel(.init(client: "probe", guest: "p"), seed: 5)
    var answer = ""
    func write(_ out: ClientModel.Output) {
      for line in out.lines { answer += String(decoding: line, as: UTF8.self) }
      answer += "events \(out.events.count)\(out.close ? " close" : "")\n"
    }
    write(model.connected())
    for (second, line) in text.split(separator: "\n").enumerated() {
      let now = Int64(second) * 1000
      if line.hasPrefix("> "), let cell = CellName(text: String(line.dropFirst(2))),
        let view = model.matches.values.first
      {
        write(model.act(view.state.id, .move(ply: view.state.position.plies, cell: cell)))
      } else {
        let bytes = Array(line.utf8)
        bytes.withUnsafeBytes { write(model.receive($0, now: now)) }
      }
      for view in model.matches.values.sorted(by: { $0.state.id < $1.state.id }) {
        answer += "\(view.state.id) \(view.state.seq) \(view.state.board) \(view.position.notation) \(view.canMove) "
        answer += "\(view.remaining(.x, at: now + 300) ?? -1) \(view.claimableAt ?? -1)\n"
      }
    }
    return answer
  }
}
