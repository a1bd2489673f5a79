import Base
import Film
import GameScore
import Glibc
import Locks
import Play
import Records
import ScoreIO
import ScoreModel
import SampledPiano
import SDLPlatform
import Screen
import Synth
import TicTacToe
import Tintinnabuli

/// Counts the running jobs, so that the program can cancel them and wait for them before it ends.
final class Workshop: Sendable {
  private let state = Mutex((isOpen: true, running: 0))

  /// Returns a function that cancels the work: from then on `isWanted` returns `false`.
  func make(_ services: PlatformServices, _ body: @escaping @Sendable (_ isWanted: () -> Bool) -> Void) -> () -> Void {
    let isWanted = Mutex(true)
    state.withLock { $0.running += 1 }
    services.inBackground { [self] in
      body { isWanted.withLock { $0 } && state.withLock { $0.isOpen } }
      state.withLock { $0.running -= 1 }
    }
    return { isWanted.withLock { $0 = false } }
  }

  /// Cancels all work and waits at most 5 s until the partial files are removed.
  func close() {
    state.withLock { $0.isOpen = false }
    for _ in 0..<500 where state.withLock({ $0.running > 0 }) { usleep(10_000) }
  }
}

struct PieceKeeper: Sendable {
  private let piece: Piece
  private let services: PlatformServices
  private let folder: String
  /// The SoundFont of the sampled grand; `nil` for the modal piano.
  private let font: String?

  init(_ piece: Piece, _ services: PlatformServices, font: String?) {
    (self.piece, self.services, self.font) = (piece, services, piece.isGrand ? font : nil)
    folder = "\(services.dataFolder())/pieces/\(piece.name)"
  }

  /// Pixels per point of the score page; two are enough for print.
  private static let zoom = 2.0

  private func write(_ name: String, _ bytes: [UInt8]) throws(MakingFault) {
    do throws(WriteFault) { try services.files.write("\(folder)/\(name)", bytes) } catch {
      throw .write(path: "\(folder)/\(name)", error)
    }
  }

  private struct Stopped: Error {}

  private func news(_ error: any Error) -> MakingNews {
    switch error {
    case is Stopped: return .stopped
    case is FilmMaker.NoFFmpeg: return .failed(.noFFmpeg)
    case let fault as MakingFault: return .failed(fault)
    default:
      let number = (error as? ScoreFileError)?.number
      return .failed(number.map { .write(path: folder, WriteFault($0)) } ?? .other(path: folder, "\(error)"))
    }
  }

  func keep(isWanted: () -> Bool, told: (MakingNews) -> Void) {
    let music = Rendition(of: piece.record, rules: piece.rules, human: piece.human, trimmed: true)
    let rules = music.rules
    do {
      // Write the notation first, because the sound takes seconds.
      try write("game.pgn", Array(piece.record.text.utf8))
      try write("piece.mid", MIDIFile.bytes(music, title: piece.title))
      try write("piece.musicxml", Array(MusicXML.text(music.bars, rules: rules, title: piece.title).utf8))
      let page = ScorePage(music.bars, rules: rules, title: piece.title, subtitle: ScoreTitle.subtitle(piece.record))
      try page.writePNG(to: "\(folder)/piece.png", zoom: PieceKeeper.zoom)
      try OutputFile.write("\(folder)/piece.flac") { path in
        try playing(music) { engine in
          var progress = 0
          try OfflineSound(music.events, end: music.end).write(to: path, format: .flac, engine: engine) { done, all in
            guard isWanted() else { throw Stopped() }
            let tens = Int(10 * done / all)
            guard tens > progress, tens < 10 else { return }
            progress = tens
            told(.percent(10 * tens))
          }
        }
      }
      told(.kept(folder))
    } catch {
      told(news(error))
    }
  }

  func film(_ shape: FilmShape, isWanted: () -> Bool, told: (MakingNews) -> Void) {
    let music = FilmStage.music(of: piece.record, rules: piece.rules, human: piece.human)
    let size = shape.size
    do {
      try write("game.pgn", Array(piece.record.text.utf8))
      try playing(music) { engine in
        var progress = 0
        try FilmMaker(piece.record, music, names: piece.names).write(
          to: "\(folder)/film.mp4", width: size.width, height: size.height, engine: engine
        ) { done, all in
          guard isWanted() else { throw Stopped() }
          let percent = Int(100 * done / all)
          guard percent > progress else { return }
          progress = percent
          told(.percent(percent))
        }
      }
      told(.kept("\(folder)/film.mp4"))
    } catch {
      told(news(error))
    }
  }

  private func playing(_ music: Rendition, _ body: (Engine) throws -> Void) throws {
    try SampledPiano.playing(Patch(music.rules), font: font) { engine in
      if piece.a4 != 440 { engine.setTuning(a4: piece.a4) }
      engine.setEven(piece.isEven)
      try body(engine)
    }
  }
}
