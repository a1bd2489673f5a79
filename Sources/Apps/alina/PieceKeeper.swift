import Film
import GameScore
import Play
import Records
import ScoreIO
import ScoreModel
import SampledPiano
import Screen
import Synth
import TicTacToe
import Tintinnabuli

/// Writes one game's piece in every form: a film, or FLAC, Standard MIDI File, MusicXML, a titled page, and the game itself.
struct PieceKeeper: Sendable {
  private let piece: Piece
  /// The SoundFont, where the sampled grand plays.
  private let font: String?
  /// Writes a file whole, and the folder it lies in.
  private let writeFile: @Sendable (String, [UInt8]) -> Bool

  init(_ piece: Piece, font: String?, writeFile: @escaping @Sendable (String, [UInt8]) -> Bool) {
    (self.piece, self.font, self.writeFile) = (piece, piece.isGrand ? font : nil, writeFile)
  }

  /// Pixels a point of the page: sharp on paper.
  private static let zoom = 2.0

  /// Writes the files into a folder, which is made; returns what went wrong, in one line. `progress` is told the percents
  /// of the sound that are done, in tens.
  func write(to folder: String, progress: (Int) -> Void) -> String? {
    let music = Rendition(of: piece.record, rules: piece.rules, human: piece.human, trimmed: true)
    let rules = music.rules
    do {
      // The notes first: they are there at once, the sound takes some seconds.
      for (name, bytes) in [
        ("game.pgn", Array(piece.record.text.utf8)), ("piece.mid", MIDIFile.bytes(music, title: piece.title)),
        ("piece.musicxml", Array(MusicXML.text(music.bars, rules: rules, title: piece.title).utf8)),
      ] where !writeFile("\(folder)/\(name)", bytes) {
        throw ScoreFileError("\(folder)/\(name): cannot be written")
      }
      let page = ScorePage(music.bars, rules: rules, title: piece.title, subtitle: ScoreTitle.subtitle(piece.record))
      try WholeFile.write("\(folder)/piece.png") { try page.writePNG(to: $0, zoom: PieceKeeper.zoom) }
      try WholeFile.write("\(folder)/piece.flac") { try writeSound(of: music, to: $0, progress: progress) }
    } catch {
      return "\(error)"
    }
    return nil
  }

  /// Makes a film of the piece, with the record beside it; `progress` is told the percents done, and what it throws ends the work.
  func writeFilm(to folder: String, shape: FilmShape, progress: (Int) throws -> Void) throws {
    guard writeFile("\(folder)/game.pgn", Array(piece.record.text.utf8)) else {
      throw ScoreFileError("\(folder)/game.pgn: cannot be written")
    }
    let music = FilmStage.music(of: piece.record, rules: piece.rules, human: piece.human)
    let size = shape.size
    try SampledPiano.playing(Patch(music.rules), font: font) { engine in
      if piece.a4 != 440 { engine.setTuning(a4: piece.a4) }
      var told = 0
      try FilmMaker(piece.record, music, names: piece.names).write(
        to: "\(folder)/film.mp4", width: size.width, height: size.height, engine: engine
      ) { done, all in
        let percent = Int(100 * done / all)
        guard percent > told else { return }
        told = percent
        try progress(percent)
      }
    }
  }

  /// The sound as it was heard: on the same piano, in the same tuning.
  private func writeSound(of music: Rendition, to path: String, progress: (Int) -> Void) throws {
    try SampledPiano.playing(Patch(music.rules), font: font) { engine in
      if piece.a4 != 440 { engine.setTuning(a4: piece.a4) }
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
