import Arena
import ArgumentParser
import Foundation
import GameScore
import Records
import ScoreIO
import Synchronization
import Synth
import TicTacToe
import Tintinnabuli

struct ScoreOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Write the scores of the first, the shortest, the longest and the most dramatic game: record, FLAC, MIDI, MusicXML, "
        + "text and SVG. Files of these names are replaced.", valueName: "folder"))
  var render: String?
  @Option(help: ArgumentHelp("The music's rule file, by name or path.", valueName: "rules")) var scoreRules: String?

  /// `nil` without `--render`. Throws before the first game if the music could not be written later.
  func prepared() throws -> GameScores? {
    guard let render else {
      guard scoreRules == nil else { throw ArenaError("--score-rules needs --render") }
      return nil
    }
    do {
      return try GameScores(folder: render, rules: RuleLibrary.load(scoreRules).rules)
    } catch let error as ScoreFileError {
      throw ArenaError(error.description)
    }
  }
}

/// Not part of `Arena`, which imports neither the composer nor the synthesizer.
struct GameScores {
  private static let forms = ["pgn", "flac", "mid", "musicxml", "txt", "svg"]

  let folder: String
  private let rules: ScoreRules

  init(folder: String, rules: ScoreRules) throws(ArenaError) {
    (self.folder, self.rules) = (folder, rules)
    let probe = "\(folder)/.alina-arena-\(getpid())"
    do {
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      try Data().write(to: URL(filePath: probe))
    } catch {
      throw ArenaError("--render \(folder) cannot be written: \(reason(of: error))")
    }
    unlink(probe)
  }

  /// Returns `false` if interrupted, else removes those files of an earlier run that were not written again.
  func write(_ highlights: inout [Highlight], threads: Int, isInterrupted: @escaping @Sendable () -> Bool) throws
    -> Bool
  {
    for index in highlights.indices {
      highlights[index].files = Self.forms.map {
        "\(folder)/\(highlights[index].choices[0]).\($0)"
      }
    }
    let chosen = highlights
    let next = Atomic<Int>(0)
    let failure = Mutex<(any Error)?>(nil)
    DispatchQueue.concurrentPerform(iterations: min(threads, chosen.count)) { _ in
      while true {
        let index = next.add(1, ordering: .relaxed).oldValue
        guard index < chosen.count else { return }
        do {
          try write(chosen[index].record, "\(folder)/\(chosen[index].choices[0])") {
            if isInterrupted() { throw CancellationError() }
          }
        } catch {
          failure.withLock { $0 = $0 ?? error }
          return
        }
      }
    }
    switch failure.withLock({ $0 }) {
    case nil: break
    case is CancellationError: return false
    case let error?: throw ArenaError("\(error)")
    }
    let written = chosen.flatMap(\.files)
    for name in Highlight.names {
      for path in Self.forms.map({ "\(folder)/\(name).\($0)" }) where !written.contains(path) { unlink(path) }
    }
    return true
  }

  private func write(_ record: Record, _ stem: String, check: () throws -> Void) throws {
    try OutputFile.write(Array(record.text.utf8), to: "\(stem).pgn")
    let rendition = Rendition(of: record, rules: rules)
    let rules = rendition.rules
    let title = ScoreTitle.title(record)
    let page = ScorePage(rendition.bars, rules: rules, title: title, subtitle: ScoreTitle.subtitle(record))
    let texts = [
      ("musicxml", MusicXML.text(rendition.bars, rules: rules, title: title)),
      ("txt", TextScore.text(rendition.bars, scale: rules.scale)), ("svg", page.svg),
    ]
    for (form, text) in texts { try OutputFile.write(Array(text.utf8), to: "\(stem).\(form)") }
    try OutputFile.write(MIDIFile.bytes(rendition, title: title), to: "\(stem).mid")
    try OutputFile.write("\(stem).flac") { part in
      let engine = Engine(patch: Patch(rules))
      engine.setEven(true)
      try OfflineSound(rendition.events, end: rendition.end)
        .write(to: part, format: .flac, engine: engine) { _, _ in try check() }
    }
  }
}
