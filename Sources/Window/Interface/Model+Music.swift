/// A request on the page of the player's own music.
package enum MusicIntent: Sendable, Hashable {
  /// Show the music that was edited last.
  case show
  /// Show the music that the text of a link encodes.
  case open(String)
  /// Move a dial to a position.
  case turn(dial: Int, to: Int)
  /// Play an example of the music or, if the example is playing, stop it.
  case hear
  /// Use this music for games from now on.
  case use
  /// Set all dials to the numbers of the shipped rules.
  case reset
  case share, saveFile
}

/// A dial of the player's own music.
package struct DialModel: Sendable, Hashable {
  package var caption: Phrase
  /// The position, in steps from the lower end of the dial.
  package var position: Int
  /// The position at the upper end of the dial.
  package var most: Int
  /// For each position the number that the dial sets there, as a rule file spells it. If the number in the shipped rules lies between two
  /// positions, it is shown at the nearer one.
  package var texts: [String]

  package init(_ caption: Phrase, position: Int, texts: [String]) {
    (self.caption, self.position, self.texts) = (caption, position, texts)
    most = texts.count - 1
  }
}

/// The player's own music, for its page.
package struct OwnMusicModel: Sendable, Hashable {
  package var dials: [DialModel] = []
  /// Whether this music accompanies the games.
  package var isUsed = false
  /// Whether the example of this music is being played.
  package var isPlaying = false
  /// Whether all dials are at the numbers of the shipped rules.
  package var isUnchanged = true

  package init() {}
}
