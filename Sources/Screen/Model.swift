import ScoreModel
import TicTacToe

/// Who plays a side in the window.
public enum Seat: Sendable, Hashable {
  /// A person at this machine.
  case human
  /// Level 1–6 of the built-in opponents.
  case level(Int)
  /// The uniform random player.
  case random
  /// The perfect player.
  case perfect
  /// The opponent that adapts its level to the games played so far.
  case adaptive
  /// The matchbox machine that learns, with its boxes to be seen.
  case menace
  /// Someone at the other end of a connection.
  case remote(name: String)
}

/// What the player set up on the new-game scene.
public struct GameSetup: Sendable, Hashable {
  /// Who plays X.
  public var x: Seat
  /// Who plays O.
  public var o: Seat
  /// Each side's time for the whole game in seconds; `nil` without clocks.
  public var clockSeconds: Int?

  /// Makes a set-up.
  public init(x: Seat, o: Seat, clockSeconds: Int? = nil) {
    self.x = x
    self.o = o
    self.clockSeconds = clockSeconds
  }
}

/// What the score strip must know of the score rules.
public struct Tonality: Sendable, Hashable {
  /// The scale the score is spelled in; it gives the key signature.
  public var scale: Scale
  /// The pitches of the cells in reading order, as X and as O play them; nine each.
  public var cells: [Player: [Pitch]]

  /// Makes a tonality from the scale and both hands' cells, nine each, in reading order.
  public init(scale: Scale, x: [Pitch], o: [Pitch]) {
    precondition(x.count == 9 && o.count == 9, "\(x.count) and \(o.count) cells instead of 9")
    self.scale = scale
    cells = [.x: x, .o: o]
  }

  /// B minor on the cells of the standard score; O plays an octave lower.
  public static let standard: Tonality = {
    let cells = [86, 88, 90, 81, 83, 85, 74, 79, 78]
    return Tonality(
      scale: Scale(tonicLetter: 6, tonicAlteration: 0, steps: [0, 2, 3, 5, 7, 8, 10]), x: cells.map { Pitch($0) },
      o: cells.map { Pitch($0 - 12) })
  }()

  /// The pitch of a cell in a side's hand.
  public func pitch(of square: Square, for player: Player) -> Pitch { cells[player]?[square.index] ?? Pitch(60) }
}

/// Everything the board scene shows, as a value; the executable fills it from the session.
public struct BoardModel: Sendable, Hashable {
  /// The game as played so far.
  public var game = Game()
  /// Who plays which side.
  public var setup = GameSetup(x: .human, o: .level(3))
  /// Whether a mark may be made here now (a local human's turn).
  public var acceptsMove = true
  /// Whether an opponent is thinking.
  public var isThinking = false
  /// The bars of the score so far, for the strip.
  public var bars: [Bar] = []
  /// Where the sound is now, in score time.
  public var soundNow: Tick = .zero
  /// The key of the score and the pitches of the cells.
  public var tonality = Tonality.standard
  /// Whether the sound is muted.
  public var isMuted = false
  /// The time left on each side's clock in milliseconds, where clocks are used.
  public var clocks: Clocks?
  /// Whether the last move may be taken back.
  public var canUndo = true
  /// Whether a move taken back may be played again.
  public var canRedo = false
  /// The beads of menace's matchbox for this position, cell by cell in reading order; `nil` where it is not its turn.
  public var beads: [Int]?
  /// The match over the network, if this is one.
  public var online: OnlineModel?
  /// One line of notice (no audio device, a refused file), shown once for a while.
  public var notice: String?

  /// Both clocks.
  public struct Clocks: Sendable, Hashable {
    /// X's time left in milliseconds.
    public var x: Int
    /// O's time left in milliseconds.
    public var o: Int

    /// Makes a pair of clocks from milliseconds.
    public init(x: Int, o: Int) {
      self.x = x
      self.o = o
    }
  }

  /// Makes the model of an empty board.
  public init() {}
}

/// What the player wants, as the responder chain delivers it to the executable.
public enum Intent: Sendable, Hashable {
  /// Mark a cell.
  case play(Square)
  /// Rest on an empty cell, or on none (hover or keyboard focus).
  case preview(Square?)
  /// Start a game.
  case newGame(GameSetup)
  /// Play the same again, sides swapped.
  case rematch
  /// Give up the running game.
  case resign
  /// Take back the last move (and the opponent's answer).
  case undo
  /// Mute or unmute.
  case setMuted(Bool)
  /// Save a picture of the window.
  case screenshot
  /// Play the move taken back again.
  case redo
  /// Write the finished game as FLAC, MIDI, MusicXML and a titled score page.
  case keepPiece
  /// Two seeded players compose without end.
  case listen
  /// Save the running or finished game.
  case saveGame
  /// The list of saved games is wanted (`RootScreen.games`).
  case listGames
  /// Open a game file by path (from the list, the path field or a drop).
  case openGame(path: String)
  /// Put the game on the clipboard as text.
  case copyGame
  /// Open a game or position that came as text.
  case pasteGame(text: String)
  /// The game on the board is wanted for review (`RootScreen.replay`).
  case review
  /// Go on from a position of the game under review, as a new game.
  case playOn(Position)
  /// Statistics are wanted (`RootScreen.statistics`).
  case statistics
  /// Sound one sign of the music, for the help page.
  case playSign(MusicSign)
  /// Play the music of the replayed game from the bar of a ply (0 is the opening) on; `nil` stops it.
  case replay(fromPly: Int?)
  /// Read the score rules again.
  case reloadRules
  /// Look for a server and enter its lobby.
  case connect(address: String)
  /// Play whoever comes next.
  case quickMatch
  /// Play a bot, as nobody comes.
  case acceptBot
  /// Take a name on the server for good.
  case registerName(String)
  /// Open a room and show its code.
  case openRoom
  /// Enter a room by its code.
  case joinRoom(code: String)
  /// Watch a running match.
  case watch(id: String)
  /// Leave room, match or server.
  case disconnect
  /// Offer a draw, or accept the offer that stands.
  case offerDraw
  /// Decline the draw offer that stands.
  case declineDraw
  /// Take the win over an opponent who stays away.
  case claimWin
  /// Give the match up before both have moved.
  case abortMatch
  /// Say something to the opponent.
  case say(String)
  /// Send a small word.
  case emote(Emote)
  /// Hear nothing of what is said, or hear it again.
  case setTalkMuted(Bool)
  /// Meet and hear the opponent no more, or again.
  case setBlocked(Bool)
  /// Tell the server's keepers of what the opponent said.
  case reportOpponent
  /// Leave the program.
  case quit
}
