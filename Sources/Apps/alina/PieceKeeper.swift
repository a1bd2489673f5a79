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
  private let services: PlatformServices
  /// Where the files go.
  private let folder: String
  /// The SoundFont, where the sampled grand plays.
  private let font: String?

  init(_ piece: Piece, _ services: PlatformServices, font: String?) {
    (self.piece, self.services, self.font) = (piece, services, piece.isGrand ? font : nil)
    folder = "\(services.dataFolder())/pieces/\(piece.name)"
  }

  /// Pixels a point of the page: sharp on paper.
  private static let zoom = 2.0

  private func write(_ name: String, _ bytes: [UInt8]) throws {
    guard services.writeFile("\(folder)/\(name)", bytes) else {
      throw ScoreFileError("\(folder)/\(name): cannot be written")
    }
  }

  /// Writes the piece; `told` hears the percents of the sound that are done, in tens, and in the end where it is or what went
  /// wrong, in one line.
  func keep(told: (String) -> Void) {
    let music = Rendition(of: piece.record, rules: piece.rules, human: piece.human, trimmed: true)
    let rules = music.rules
    do {
      // The notes first: they are there at once, the sound takes some seconds.
      try write("game.pgn", Array(piece.record.text.utf8))
      try write("piece.mid", MIDIFile.bytes(music, title: piece.title))
      try write("piece.musicxml", Array(MusicXML.text(music.bars, rules: rules, title: piece.title).utf8))
      let page = ScorePage(music.bars, rules: rules, title: piece.title, subtitle: ScoreTitle.subtitle(piece.record))
      try WholeFile.write("\(folder)/piece.png") { try page.writePNG(to: $0, zoom: PieceKeeper.zoom) }
      try WholeFile.write("\(folder)/piece.flac") { path in
        try playing(music) { engine in
          var progress = 0
          try OfflineSound(music.events, end: music.end).write(to: path, format: .flac, engine: engine) { done, all in
            let tens = Int(10 * done / all)
            guard tens > progress, tens < 10 else { return }
            progress = tens
            told("\(piece.keeping) \(10 * tens) %")
            services.wake()
          }
        }
      }
      told("\(piece.kept) \(folder)")
    } catch {
      told("\(error)")
    }
  }

  /// Makes a film of the piece, with the record beside it, unless it is no longer wanted on the way.
  func film(_ shape: FilmShape, isWanted: () -> Bool, told: (FilmNews) -> Void) {
    struct Stopped: Error {}
    let music = FilmStage.music(of: piece.record, rules: piece.rules, human: piece.human)
    let size = shape.size
    do {
      try write("game.pgn", Array(piece.record.text.utf8))
      try playing(music) { engine in
        var progress = 0
        try FilmMaker(piece.record, music, names: piece.names).write(
          to: "\(folder)/film.mp4", width: size.width, height: size.height, engine: engine
        ) { done, all in
          let percent = Int(100 * done / all)
          guard percent > progress else { return }
          progress = percent
          guard isWanted() else { throw Stopped() }
          told(.percent(percent))
        }
      }
      told(.kept("\(folder)/film.mp4"))
    } catch {
      told(error is Stopped ? .stopped : .failed("\(error)"))
    }
  }

  /// The sound as it was heard: on the same piano, in the same tuning.
  private func playing(_ music: Rendition, _ body: (Engine) throws -> Void) throws {
    try SampledPiano.playing(Patch(music.rules), font: font) { engine in
      if piece.a4 != 440 { engine.setTuning(a4: piece.a4) }
      try body(engine)
    }
  }
}
