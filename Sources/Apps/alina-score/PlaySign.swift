import ArgumentParser
import Foundation
import GameScore
import Records
import ScoreFormats
import ScoreIO
import ScoreMeasures
import ScoreModel
import Synth
import TicTacToe
import Tintinnabuli

struct PlaySign: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "play", abstract: "Play the bar of a sign, and print its score and the reason for each note.",
    discussion:
      "The bar is the first that has the sign in the rule file's `example`, or else in games of win-or-block players.")

  @Argument(help: "The sign, by its name in the rule file.") var sign: String
  @Option(
    name: [.customLong("rules"), .customLong("score-rules")],
    help: ArgumentHelp("A rule file by name or path.", valueName: "rules")) var scoreRules: String?
  @OptionGroup var sounding: SoundOptions
  @Option(help: ArgumentHelp("The sound to write instead of playing it.", valueName: "file")) var wav: String?

  func run() throws {
    let rules = try RuleLibrary.load(scoreRules).rules
    try SignExample.check(sign, rules)
    guard let example = try SignExample(of: sign, rules) else {
      throw ScoreFileError("\(sign): heard neither in the file's example nor in the reference games")
    }
    try writeOut(example.text)
    if let wav {
      let sound = OfflineSound(example.events(from: .zero), end: example.length)
      try OutputFile.write(wav) { try sound.write(to: $0, format: .wav, rules: example.rules, sounding) }
      return
    }
    guard let device = SoundDevices.Output() else { throw ScoreFileError("no sound device; --wav FILE writes a file") }
    try sounding.playing(example.rules) { example.play(on: $0, device) { false } }
  }
}

struct SignExample {
  /// The score of the bar, and the reason for each of its notes.
  let text: String
  /// Transposed to the tonic of the bar's piece.
  let rules: ScoreRules
  private let bar: Bar
  private let events: [ScoreEvent]

  static func check(_ sign: String, _ rules: ScoreRules) throws {
    guard !rules.signs.contains(where: { $0.name == sign }) else { return }
    throw ScoreFileError("\(sign): \(rules.name) has the signs \(rules.signs.map(\.name).joined(separator: " "))")
  }

  /// `nil` if neither the rule file's example nor the reference games have a bar whose first sign is `sign`.
  init?(of sign: String, _ rules: ScoreRules) throws {
    func isExample(_ bar: Bar) -> Bool { bar.kind == .move && bar.signs.first == sign }
    let piece = LiveScore.uncut(try EventLine.lines(rules.example, rules: rules), rules: rules)
    if let bar = piece.score.conductor.bars.first(where: isExample) {
      self.init(bar, piece.events, piece.score.conductor.rules, Explanation.text(of: bar, in: piece.score))
      return
    }
    for variant in Variant.allCases {
      for index in 0..<(variant.isLong ? 20 : 200) {
        let record = ReferenceGames.game(variant, seed: 1, index: index)
        let loser = sign == "loss" ? record.game.turn : nil
        let music = Rendition(of: record, rules: rules, human: loser, uncut: true, explains: true)
        guard let bar = music.bars.first(where: isExample) else { continue }
        self.init(bar, music.events, music.rules, Explanation.text(of: bar, in: music, record: record))
        return
      }
    }
    return nil
  }

  private init(_ bar: Bar, _ events: [ScoreEvent], _ rules: ScoreRules, _ explanation: String) {
    (self.bar, self.events, self.rules) = (bar, events, rules)
    text = TextScore.text(bar, scale: rules.scale) + "\n" + explanation
  }

  var length: Tick { bar.end - bar.start }

  func events(from begin: Tick) -> [ScoreEvent] {
    events.filter { $0.frame >= bar.start && $0.frame < bar.end && $0.kind != .cut }.map {
      var event = $0
      event.frame = event.frame - bar.start + begin
      return event
    }
  }

  func play(on engine: Engine, _ device: SoundDevices.Output, interrupts: () -> Bool) {
    let begin = engine.framesBegun + .milliseconds(300)
    guard engine.post(events(from: begin)) else { return }
    while engine.framesBegun < begin + length + .seconds(1), !interrupts() { device.play(engine) }
  }
}
