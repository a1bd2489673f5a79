import ArgumentParser
import Foundation
import GameScore
import ScoreIO
import ScoreModel
import Synth
import TicTacToe
import Tintinnabuli

struct Render: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Write the whole music of a game in one or several formats.")

  @OptionGroup var source: GameOptions
  @Option(help: ArgumentHelp("Sound: 48 kHz, 24 bits, stereo.", valueName: "file")) var wav: String?
  @Option(help: ArgumentHelp("Sound: the same, packed without loss.", valueName: "file")) var flac: String?
  @Option(help: ArgumentHelp("Standard MIDI File: M, T and bass on channels 1, 2, 3.", valueName: "file"))
  var midi: String?
  @Option(name: .customLong("musicxml"), help: ArgumentHelp("For notation programs.", valueName: "file"))
  var musicXML: String?
  @Option(
    help: ArgumentHelp("A picture of the score; a long one continues in NAME-2.png and so on.", valueName: "file"))
  var png: String?
  @Option(help: ArgumentHelp("A picture of the score.", valueName: "file")) var svg: String?
  @Flag(help: "Print the score as text, bar by bar, M over T.") var text = false
  @OptionGroup var sounding: SoundOptions
  @Option(
    help: ArgumentHelp(
      "Pauses as the record keeps them, or trimmed to six short notes after a bar.", valueName: "kept|trimmed"))
  var times = "kept"
  @Option(
    help: ArgumentHelp(
      "Sound from here on; pictures, text and MusicXML from the bar that sounds then.", valueName: "seconds")) var from:
    Double?
  @Option(
    help: ArgumentHelp(
      "Sound up to here; the others up to the bar that has begun. MIDI is always whole.", valueName: "seconds")) var to:
    Double?

  func validate() throws {
    guard wav ?? flac ?? midi ?? musicXML ?? png ?? svg != nil || text else {
      throw ValidationError("say what to write: --wav --flac --midi --musicxml --png --svg FILE, or --text")
    }
    guard ["kept", "trimmed"].contains(times) else { throw ValidationError("--times \(times): kept or trimmed") }
    let from = from ?? 0
    guard from >= 0, from.isFinite, (to ?? .greatestFiniteMagnitude) > from else {
      throw ValidationError("--from and --to: seconds from the first sound, --to after --from")
    }
  }

  func run() throws {
    let record = try source.record()
    let home = try source.rules(for: record)
    let rendition = Rendition(
      of: record, rules: home, seed: source.seed, human: source.side, trimmed: times == "trimmed")
    let rules = rendition.rules
    let title = ScoreTitle.title(record, called: GameOptions.called)
    let bars = bars(of: rendition)
    if let from, bars.isEmpty, text || musicXML != nil || png != nil || svg != nil {
      throw ScoreFileError("--from \(from): the music ends at \(Int(rendition.end.seconds)) s")
    }
    if text { try writeOut(TextScore.text(bars, scale: rules.scale)) }
    if let midi { try OutputFile.write(MIDIFile.bytes(rendition, title: title), to: midi) }
    if let musicXML {
      try OutputFile.write(Array(MusicXML.text(bars, rules: rules, title: title).utf8), to: musicXML)
    }
    if png != nil || svg != nil {
      let page = ScorePage(
        bars, rules: rules, title: title, subtitle: ScoreTitle.subtitle(record),
        isExcerpt: bars.last?.index != rendition.bars.last?.index)
      if let svg { try OutputFile.write(Array(page.svg.utf8), to: svg) }
      if let png { try page.writePNG(to: png) }
    }
    var sound = OfflineSound(rendition.events, end: rendition.end)
    sound.range = (from ?? 0)...(to ?? .greatestFiniteMagnitude)
    for (path, format) in [(wav, AudioFile.Format.wav), (flac, .flac)] {
      guard let path else { continue }
      try OutputFile.write(path) { try sound.write(to: $0, format: format, rules: rules, sounding) }
    }
  }

  private func bars(of rendition: Rendition) -> [Bar] {
    let all = rendition.bars
    let ends = all.dropFirst().map(\.start.seconds) + [rendition.end.seconds]
    return zip(all, ends).filter { bar, end in
      bar.start.seconds < (to ?? .infinity) && end > (from ?? 0)
    }.map(\.0)
  }
}

extension OfflineSound {
  func write(to path: String, format: AudioFile.Format, rules: ScoreRules, _ options: SoundOptions) throws {
    try options.playing(rules) { engine in
      let progress = Progress()
      defer { progress.end() }
      try write(to: path, format: format, engine: engine) { try progress.tell($0, of: $1) }
    }
  }
}

/// After SIGINT, SIGTERM or SIGHUP `tell` throws, which ends the work.
struct Progress {
  /// Thrown after a signal, so that the callers remove unfinished files before the program ends.
  struct Interrupted: Error {}

  private let isShown = isatty(STDERR_FILENO) == 1

  init() { EndSignal.watch() }

  func tell(_ done: Double, of all: Double, _ unit: String = "s") throws {
    if EndSignal.hasCome { throw Interrupted() }
    guard isShown, Int(done * 10) % 10 == 0 else { return }
    try? FileHandle.standardError.write(
      contentsOf: Data("\r\(Int(100 * done / max(all, 0.001))) % of \(Int(all)) \(unit) ".utf8))
  }

  func end() {
    if isShown { try? FileHandle.standardError.write(contentsOf: Data("\r\u{1B}[K".utf8)) }
  }
}
