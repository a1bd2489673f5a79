import GameScore
import Records
import ScoreIO
import ScoreModel
import SampledPiano
import Synth
import TicTacToe
import Tintinnabuli

/// Writes one game's piece in every form: FLAC, Standard MIDI File, MusicXML, a titled page, and the game itself.
struct PieceKeeper: Sendable {
  let record: Record
  let rules: ScoreRules
  let human: Player?
  /// What stands over the page.
  let title: String
  /// The SoundFont, where the sampled grand plays.
  let grand: String?
  /// The tuning in Hz.
  let a4: Double
  /// Writes a file whole, and the folder it lies in.
  let writeFile: @Sendable (String, [UInt8]) -> Bool

  /// Pixels a point of the page: sharp on paper.
  private static let zoom = 2.0

  /// Writes the files into a folder, which is made; returns what went wrong, in one line. `progress` is told the percents
  /// of the sound that are done, in tens.
  func write(to folder: String, progress: (Int) -> Void) -> String? {
    let music = Rendition(of: record, rules: rules, human: human, trimmed: true)
    let rules = music.rules
    do {
      // The notes first: they are there at once, the sound takes some seconds.
      for (name, bytes) in [
        ("game.pgn", Array(record.text.utf8)), ("piece.mid", MIDIFile.bytes(music, title: title)),
        ("piece.musicxml", Array(MusicXML.text(music.bars, rules: rules, title: title).utf8)),
      ] where !writeFile("\(folder)/\(name)", bytes) {
        throw ScoreFileError("\(folder)/\(name): cannot be written")
      }
      let page = ScorePage(music.bars, rules: rules, title: title, subtitle: ScoreTitle.subtitle(record))
      try WholeFile.write("\(folder)/piece.png") { try page.writePNG(to: $0, zoom: PieceKeeper.zoom) }
      try WholeFile.write("\(folder)/piece.flac") { try writeSound(of: music, to: $0, progress: progress) }
    } catch {
      return "\(error)"
    }
    return nil
  }

  /// The sound as it was heard: on the same piano, in the same tuning.
  private func writeSound(of music: Rendition, to path: String, progress: (Int) -> Void) throws {
    let engine = Engine(patch: Patch(music.rules))
    if a4 != 440 { engine.setTuning(a4: a4) }
    // The font must outlive the engine that plays it.
    let sampled = try grand.map { try SampledPiano(font: $0) }
    if let sampled {
      engine.attach(sampled.instrument)
      engine.setPiano(.grand)
    }
    try withExtendedLifetime(sampled) {
      var told = 0
      try OfflineSound(music.events, end: music.end).write(to: path, format: .flac, engine: engine) { done, all in
        let tens = Int(10 * done / all)
        guard tens > told, tens < 10 else { return }
        told = tens
        progress(10 * tens)
      }
    }
  }
}
