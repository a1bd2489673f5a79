/// An action on the page where players edit music of their own with dials.
package enum MusicIntent: Sendable, Hashable {
  /// Show the music edited last.
  case show
  /// Show the music that a link's text encodes.
  case open(String)
  case turn(dial: Int, to: Int)
  /// Play or stop an example of the music.
  case hear
  /// Use the edited music for games from now on.
  case use
  /// Set all dials to the numbers of the shipped rules.
  case reset
  case share, saveFile
}

/// A dial on the page of the player's own music.
package struct DialModel: Sendable, Hashable {
  package var caption: Phrase
  /// In steps from the lower end of the dial.
  package var position: Int
  /// The position at the upper end of the dial.
  package var most: Int
  /// For each position, the number that the dial sets, as a rule file spells it.
  package var texts: [String]

  package init(_ caption: Phrase, position: Int, texts: [String]) {
    (self.caption, self.position, self.texts) = (caption, position, texts)
    most = texts.count - 1
  }
}

package struct OwnMusicModel: Sendable, Hashable {
  package var dials: [DialModel] = []
  /// Whether the edited music accompanies the games.
  package var isUsed = false
  /// Whether an example of the edited music is playing.
  package var isPlaying = false
  /// Whether all dials are at the numbers of the shipped rules.
  package var isUnchanged = true

  package init() {}
}
