import Base
import Records
import TicTacToe

/// The page for the link of a letter (a game played by links). Messaging apps, which run no scripts, show a preview of this page; a browser
/// goes on to the game's page.
struct LetterPreview {
  private let letter: Letter
  private let link: String

  /// `nil` if the link is damaged or not a letter.
  init?(link: String) {
    guard let letter = try? Letter(link: link) else { return nil }
    (self.letter, self.link) = (letter, link)
  }

  var title: String {
    func name(_ player: Player) -> String { letter[player].isEmpty ? "\(player.letter)" : letter[player] }
    let game = letter.game
    let next =
      switch game.end?.outcome {
      case .win(let winner): "\(name(winner)) has won"
      case .draw: "a draw"
      case nil: "\(name(game.turn)) to move"
      }
    return "\(name(letter.sender)) plays \(game.variant.title) by link: \(next)"
  }

  var page: String {
    let title = escapedMarkup(title)
    return """
      <!doctype html>
      <html lang="en">
      <meta charset="utf-8">
      <title>\(title) – Alina</title>
      <meta property="og:type" content="website">
      <meta property="og:site_name" content="Alina">
      <meta property="og:title" content="\(title)">
      <meta property="og:description" content="Open the link to see and hear the game.">
      <meta name="robots" content="noindex">
      <meta name="referrer" content="no-referrer">
      <meta http-equiv="refresh" content="0; url=../#/l/\(link)">
      <p><a href="../#/l/\(link)">\(title)</a></p>

      """
  }
}
