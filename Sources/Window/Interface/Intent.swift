import TicTacToe

/// An action of the player, sent up the responder chain (cell → board → page → screen) until a view handles the action.
package enum Intent: Sendable, Hashable {
  case show(SceneName)
  case back

  case play(Cell)
  /// Sound the preview tone of the cell under the pointer or with the focus; `nil` ends the tone.
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
  /// `listen`: start the listening mode, in which computer opponents play one game after another.
  case listen, stopListening
  /// Begin free play: each touch of a cell sounds.
  case touchBoard
  /// Touch a cell with a second finger; in a game the same as `play`.
  case touchAlso(Cell)
  /// Choose the next setting of the sleep timer, such as 30 minutes.
  case sleep
  /// Explain each musical sign once more when the sign next sounds.
  case explainAgain
  /// `today`: play the daily puzzle. `shareToday`: share the puzzle's result.
  case today, shareToday
  /// `another`: show another puzzle. `sprint`: start a three-minute run of puzzles.
  case another, sprint
  /// Offer a draw or accept the pending offer.
  case offerDraw
  case declineDraw
  case claimWin
  /// Abort the match before both sides have moved.
  case abortMatch

  case review
  /// Go to a ply of the game under review.
  case seek(Int)
  /// Start a new game from a position of the game under review.
  case playOn(VariantState)
  /// Export the game's music as a sound file, MIDI, MusicXML and a picture of the score.
  case keepPiece
  case makeFilm, stopFilm
  case openPieces
  case saveGame
  case listGames
  case listOlder
  case openGame(path: String)
  case deleteGame(path: String)
  /// `chooseGame`: show or hide the actions for a listed game. `nameGame`: edit the name of a listed game.
  case chooseGame(path: String), nameGame(path: String)
  /// `playGame`: play the music of a saved game. `shareSaved`: share the link of a saved game.
  case renameGame(path: String, name: String), playGame(path: String), shareSaved(path: String)
  case copyGame, pasteGame
  case copyText(String)
  /// Share the link of a room, of a game, or of a match for its spectators.
  case shareRoom(code: String), shareGame, shareMatch
  case statistics

  case letter(LetterIntent)

  case tournament(TournamentIntent)

  case ownMusic(MusicIntent)
  /// Play an example of a musical sign, for the help page.
  case playSign(MusicSign)
  /// Play the music of the game under review from the bar of the given ply (0 is the opening); `nil` stops the music.
  case replay(fromPly: Int?)
  /// Play the music of the game under review from the shown ply, or stop this music.
  case playAll
  /// Read the score rules again.
  case reloadRules
  case setMuted(Bool)

  /// Connect to a server. An empty `token` stands for the saved login.
  case connect(address: String, token: String = "")
  /// Start a server on this machine and wait for an opponent.
  case host
  /// Open a room: on the connected server, else on the server of the settings, else on this machine.
  case playFriend
  /// Ask the server for an opponent.
  case quickMatch
  /// Play a match with a bot instead of waiting for a person.
  case acceptBot
  case registerName(String)
  case openRoom
  case joinRoom(code: String)
  /// Join a room that was announced on the local network.
  case joinNearby(address: String, code: String)
  case watch(id: String)
  /// Leave the match on the board. Without a match, leave the room, the queue or the server.
  case leave
  case say(String)
  case emote(Emote)
  case setTalkMuted(Bool)
  /// Block or unblock the opponent.
  case setBlocked(Bool)
  /// Report the opponent's chat to the server's administrators.
  case reportOpponent

  case screenshot, quit
  /// Leave the program: a browser returns to the page shown before Alina.
  case leavePage
}

package enum SceneName: String, Sendable, Hashable, CaseIterable {
  case board
  case newGame = "new-game"
  case contents, settings, help, rules, review, games, statistics, network, talk, letters, letter, tournament, music
}
