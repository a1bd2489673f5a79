import TicTacToe

/// An action of the player. Buttons, keys, scripts and the window state all name actions by this type.
///
/// A button sends its intent up the responder chain (cell → board → page → screen) until a view handles it.
package enum Intent: Sendable, Hashable {
  // Pages
  case show(SceneName)
  /// Return to the previous page.
  case back

  // The board
  case play(Cell)
  /// Sound the preview tone of the cell that has the pointer or the focus; `nil` ends the tone.
  case preview(Cell?)
  case newGame(GameSetup)
  /// Play again with sides swapped.
  case rematch
  case resign
  /// Take back the player's last move and the opponent's reply.
  case undo
  case redo
  case hint, analysis, toggleStrip
  /// Evaluate the moves by a search; the result is `BoardModel.analysis`.
  case judge
  /// Start or end the listening mode, in which computer opponents play one game after another.
  case listen, stopListening
  /// Begin free play, in which each touch of a cell sounds.
  case touchBoard
  /// Touch a cell with a second finger; in a game this has the same effect as `play`.
  case touchAlso(Cell)
  /// Choose the next setting of the sleep timer, such as 30 minutes, after which the listening mode ends by itself.
  case sleep
  /// Explain each musical sign (the music's answer to, for example, a threat) once more when the sign next sounds.
  case explainAgain
  /// `today`: play the daily puzzle against the best defence. `shareToday`: share the puzzle's result as text and picture.
  case today, shareToday
  /// `another`: show another puzzle. `sprint`: start a run of as many puzzles as possible in three minutes.
  case another, sprint
  /// Offer a draw, or accept the pending offer.
  case offerDraw
  case declineDraw
  /// Claim the win over an absent opponent.
  case claimWin
  /// Abort the match before both sides have moved.
  case abortMatch

  // Games and pieces

  /// Review the game on the board (`PagesModel.replay`).
  case review
  /// Go to a ply of the game under review.
  case seek(Int)
  /// Start a new game from a position of the game under review.
  case playOn(VariantState)
  /// Export the music of the game under review, or else of the game on the board, as a sound file, MIDI, MusicXML and a picture of the score.
  case keepPiece
  /// `makeFilm`: start to make a film of the game under review, or else of the game on the board. `stopFilm`: cancel the film.
  case makeFilm, stopFilm
  /// Open the folder of exported pieces.
  case openPieces
  case saveGame
  /// List the saved games (`PagesModel.games`).
  case listGames
  /// List more of the older games.
  case listOlder
  /// Open a game file by its path: from the list, from the field for paths, or dropped on the window.
  case openGame(path: String)
  case deleteGame(path: String)
  /// `chooseGame`: show or hide the actions for a game of the list. `nameGame`: edit the name of that game.
  case chooseGame(path: String), nameGame(path: String)
  /// `renameGame`: give a saved game a name. `playGame`: play the game's music. `shareSaved`: share the game's link.
  case renameGame(path: String, name: String), playGame(path: String), shareSaved(path: String)
  /// `copyGame`: copy the game under review, or else the game on the board, to the clipboard. `pasteGame`: open the game in the clipboard.
  case copyGame, pasteGame
  /// Copy a text to the clipboard.
  case copyText(String)
  /// `shareRoom`: share the link of a room. `shareGame`: share the link of the game under review or, if no game is under review, of the
  /// game on the board. `shareMatch`: share the match's link for spectators.
  case shareRoom(code: String), shareGame, shareMatch
  /// Compute the statistics (`PagesModel.statistics`).
  case statistics

  // Games played by links, one letter for each move
  case letter(LetterIntent)

  // Tournaments
  case tournament(TournamentIntent)

  // Music
  case ownMusic(MusicIntent)
  /// Play an example of a musical sign (such as the sign of a threat), for the help page.
  case playSign(MusicSign)
  /// Play the music of the game under review, beginning with the bar of the given ply (0 is the opening); `nil` stops the music.
  case replay(fromPly: Int?)
  /// If the music of the game under review is playing, stop it, else play it from the shown ply.
  case playAll
  /// Read the score rules again.
  case reloadRules
  case setMuted(Bool)

  // The network

  /// Connect to a server and enter its lobby. `token`: a token that the player has entered; if it is empty, the saved login is used.
  case connect(address: String, token: String = "")
  /// Start a server on this machine and wait for an opponent.
  case host
  /// Open a room: on the connected server, else on the server of the settings, else on this machine.
  case playFriend
  /// Ask the server for a match with another player who seeks a match.
  case quickMatch
  /// Play a match with a bot, instead of waiting for a person.
  case acceptBot
  /// Register a name on the server.
  case registerName(String)
  case openRoom
  case joinRoom(code: String)
  /// Join a room whose announcement was received on the local network.
  case joinNearby(address: String, code: String)
  case watch(id: String)
  /// Leave the match on the board; a match in progress can be left only while disconnected. Without a match, leave the room, the queue or
  /// the server.
  case leave
  case say(String)
  case emote(Emote)
  /// Mute or unmute the chat.
  case setTalkMuted(Bool)
  /// Block or unblock the opponent.
  case setBlocked(Bool)
  /// Report the opponent's chat to the server's administrators.
  case reportOpponent

  // The program
  case screenshot, quit
  /// Leave the program: a browser returns to the page that was shown before Alina.
  case leavePage
}

/// The pages of the window, by name.
package enum SceneName: String, Sendable, Hashable, CaseIterable {
  case board
  case newGame = "new-game"
  case contents, settings, help, rules, review, games, statistics, network, talk, letters, letter, tournament, music
}
