import GameScore
import Play
import Screen

/// A film recorded by the browser: this class draws its pictures, and the script records them with the sound.
final class PageFilm {
  private var stage: FilmStage
  private let surface: Surface
  private var isNew = true
  private let name: String
  private let told: (MakingNews) -> Void

  init(_ piece: Piece, shape: FilmShape, told: @escaping (MakingNews) -> Void) {
    let music = FilmStage.music(of: piece.record, rules: piece.rules, human: piece.human)
    let size = shape.size
    stage = FilmStage(piece.record, music, names: piece.names)
    surface = .film(width: size.width, height: size.height)
    (name, self.told) = (piece.name, told)
    let words = [piece.name, "\(size.width)", "\(size.height)"] + PageSound.order(music, piece)
    music.events.withUnsafeBytes { _ = Page.write("film/" + words.joined(separator: "\t"), Array($0)) }
  }

  /// Draws the film's picture at the time `now`, in seconds from the film's start.
  func draw(at now: Double) {
    _ = stage.draw(into: surface, isNew: isNew, at: now)
    surface.flush()
    isNew = false
  }

  /// Returns false once the film has ended.
  func hear(_ line: String) -> Bool {
    let parts = line.split(separator: "\t", maxSplits: 1, omittingEmptySubsequences: false).map { String($0) }
    let words = parts.count > 1 ? parts[1] : ""
    switch parts[0] {
    case "percent":
      told(.percent(Int(words) ?? 0))
      return true
    case "kept": told(.kept(words))
    case "failed": told(.failed(.other(path: name, words)))
    default: told(.stopped)
    }
    return false
  }
}
