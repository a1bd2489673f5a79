import ArgumentParser
import Base
import Foundation
import GameScore
import Oracle
import Records
import ScoreIO
import ScoreModel
import Synth
import Tintinnabuli

struct Edit: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Play the signs of a rule file each time it is saved, with the score and why each note is there.",
    discussion: """
      A file that is wrong is told with line, key and what is allowed; then the last good rules are played again. Ends with \
      Ctrl-C.
      """)

  @Argument(help: "The rule file.") var file: String
  @Option(help: ArgumentHelp("The sign to play; all if none is named.", valueName: "name")) var sign: String?
  @Flag(help: "Play once and end.") var once = false

  func run() throws {
    guard let device = SoundDevices.Output() else { throw ScoreFileError("no sound device") }
    var good = try RuleLibrary.load(file).rules
    if let sign, !good.signs.contains(where: { $0.name == sign }) {
      throw ScoreFileError(
        "--sign \(sign): \(file) has \(good.signs.map(\.name).joined(separator: " "))")
    }
    var saved = stamp
    try play(good, on: device)
    while !once {
      if stamp != saved {
        saved = stamp
        do { good = try RuleLibrary.load(file).rules } catch { print("\(error)\nthe last good rules:") }
        try play(good, on: device)
      }
      usleep(200_000)
    }
  }

  private var stamp: Date? {
    try? FileManager.default.attributesOfItem(atPath: file)[.modificationDate] as? Date
  }

  /// Plays the first bar of the reference games that has each sign.
  private func play(_ rules: ScoreRules, on device: SoundDevices.Output) throws {
    let engine = Engine(patch: Patch(rules))
    for name in rules.signs.map(\.name) where sign ?? name == name {
      guard let (bar, rendition, record) = example(of: name, rules) else {
        print("\(name): heard in none of two hundred games\n")
        continue
      }
      print(TextScore.text(bar, scale: rendition.rules.scale))
      print(Explanation.text(of: bar, in: rendition, record: record))
      let begin = engine.framesBegun + .milliseconds(300)
      let events = rendition.events.filter { $0.frame >= bar.start && $0.frame < bar.end && $0.kind != .cut }.map {
        var event = $0
        event.frame = event.frame - bar.start + begin
        return event
      }
      guard engine.post(events) else { continue }
      var block = [Float](repeating: 0, count: 1_024)
      while engine.framesBegun < begin + (bar.end - bar.start) + .seconds(1) {
        block.withUnsafeMutableBufferPointer { if let base = $0.baseAddress { engine.render(into: base, frames: 512) } }
        device.play(block)
      }
    }
  }

  private func example(of sign: String, _ rules: ScoreRules) -> (Bar, Rendition, Record)? {
    for record in ReferenceGames.games(200) {
      let loser = sign == "loss" ? record.game.turn : nil
      let rendition = Rendition(of: record, rules: rules, human: loser, uncut: true, explains: true)
      if let bar = rendition.bars.first(where: { $0.signs.first == sign }) { return (bar, rendition, record) }
    }
    return nil
  }
}
