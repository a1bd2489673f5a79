import TicTacToe

/// What the player wants: the one vocabulary of buttons, keys, scripts and the window state.
///
/// A button carries one, the responder chain brings it up (cell → board → page → screen), and whoever cares answers.
package enum Intent: Sendable, Hashable {
  // Pages
  case show(SceneName)
  /// One page back.
  case back

  // The board
  case play(Cell)
  /// Rest on an empty cell, or on none (hover or keyboard focus).
  case preview(Cell?)
  case newGame(GameSetup)
  /// Play the same again, sides swapped.
  case rematch
  case resign
  /// Take back the last move and the opponent's answer.
  case undo
  case redo
  case hint, analysis, toggleStrip
  /// What a search believes of the moves is wanted (`BoardModel.judgement`).
  case judge
  /// Two seeded players compose without end.
  case listen, stopListening
  /// Names the signs of the music again as they come.
  case explainAgain
  /// The position of the day, against best defence; and its result as a text.
  case today, shareToday
  /// Offer a draw, or accept the offer that stands.
  case offerDraw
  case declineDraw
  /// Take the win over an opponent who stays away.
  case claimWin
  /// Give the match up before both have moved.
  case abortMatch

  // Games and pieces
  /// The game on the board is wanted for review (`PagesModel.replay`).
  case review
  /// Walk to a ply of the game under review.
  case seek(Int)
  /// Go on from a position of the game under review, as a new game.
  case playOn(VariantState)
  /// Write the game's piece as FLAC, MIDI, MusicXML and a titled score page.
  case keepPiece
  /// Make a film of the game, or make none after all.
  case makeFilm, stopFilm
  /// Show the folder of kept pieces.
  case openPieces
  case saveGame
  /// The list of saved games is wanted (`PagesModel.games`).
  case listGames
  /// List more of the older games.
  case listOlder
  /// Open a game file by path (from the list, the path field or a drop).
  case openGame(path: String)
  case deleteGame(path: String)
  /// Show what can be done with a game of the list, or hide it; write a new name for it.
  case chooseGame(path: String), nameGame(path: String)
  /// Give a saved game a name, play its music, give its link away.
  case renameGame(path: String, name: String), playGame(path: String), shareSaved(path: String)
  /// Put the game on the clipboard, or open the one that is there.
  case copyGame, pasteGame
  /// Put some words on the clipboard.
  case copyText(String)
  /// Give away the link of a room, of the game under review or on the board, or of the match for those who want to watch.
  case shareRoom(code: String), shareGame, shareMatch
  /// Statistics are wanted (`PagesModel.statistics`).
  case statistics

  // Music
  /// Sound one sign of the music, for the help page.
  case playSign(MusicSign)
  /// Play the music of the reviewed game from the bar of a ply (0 is the opening) on; `nil` stops it.
  case replay(fromPly: Int?)
  /// Play what the page shows, or stop it.
  case playAll
  /// Read the score rules again.
  case reloadRules
  case setMuted(Bool)

  // The network
  /// Look for a server and enter its lobby.
  case connect(address: String)
  /// Serve on this machine, and play with whoever comes.
  case host
  /// Open a room, on the server that is known or on this machine.
  case playFriend
  /// Play whoever comes next.
  case quickMatch
  /// Play a bot, as nobody comes.
  case acceptBot
  /// Take a name on the server for good.
  case registerName(String)
  case openRoom
  case joinRoom(code: String)
  /// Enter a room that somebody near has opened.
  case joinNearby(address: String, code: String)
  case watch(id: String)
  /// Leave the match that is over or watched, the room, the queue or the server, whichever one is in.
  case leave
  case say(String)
  case emote(Emote)
  /// Hear nothing of what is said, or hear it again.
  case setTalkMuted(Bool)
  /// Meet and hear the opponent no more, or again.
  case setBlocked(Bool)
  /// Tell the server's keepers of what the opponent said.
  case reportOpponent

  // The program
  case screenshot, quit
  /// Go back from the board to where the browser was before.
  case leavePage
}

/// The pages of the window, by name.
package enum SceneName: String, Sendable, Hashable, CaseIterable {
  case board
  case newGame = "new-game"
  case contents, settings, help, rules, review, games, statistics, network, talk, easings
}
