import TicTacToe

/// Where the connection stands, for the network page.
public struct NetworkModel: Sendable, Hashable {
  /// The steps of a connection.
  public enum Phase: Sendable, Hashable {
    /// Not connected.
    case offline
    /// Looking for the server.
    case connecting
    /// In the lobby, free to choose.
    case lobby
    /// Waiting for whoever comes next; so many bots would play instead.
    case queued(bots: Int)
    /// In an own room; others enter with the code.
    case room(code: String)
    /// In a match or watching one: the board shows it.
    case playing
  }

  /// A match that can be watched.
  public struct Match: Sendable, Hashable {
    /// The match's id.
    public var id: String
    /// Who plays, as one line.
    public var title: String

    /// Makes an entry.
    public init(id: String, title: String) {
      (self.id, self.title) = (id, title)
    }
  }

  /// A room somebody near has opened.
  public struct Nearby: Sendable, Hashable {
    /// The server, `HOST:PORT`.
    public var address: String
    /// The room's code.
    public var code: String
    /// Who waits there.
    public var name: String

    /// Describes a room.
    public init(address: String, code: String, name: String) {
      (self.address, self.code, self.name) = (address, code, name)
    }
  }

  /// Who the server takes this player for.
  public struct You: Sendable, Hashable {
    /// The name.
    public var name: String
    /// The rating, rounded.
    public var rating: Int
    /// Whether the name is a guest's, who has no rating to keep.
    public var isGuest: Bool

    /// Makes a player.
    public init(name: String, rating: Int, isGuest: Bool) {
      (self.name, self.rating, self.isGuest) = (name, rating, isGuest)
    }
  }

  /// Where the connection stands.
  public var phase: Phase
  /// What went wrong last, in one line.
  public var message: String?
  /// Who this player is there, once known.
  public var you: You?
  /// Matches to watch.
  public var matches: [Match]
  /// Rooms of others on this network.
  public var nearby: [Nearby] = []
  /// Where others reach the server that runs on this machine, if one does.
  public var hostAddress: String?

  /// Makes the state of a connection.
  public init(phase: Phase = .offline, message: String? = nil, you: You? = nil, matches: [Match] = []) {
    (self.phase, self.message, self.you, self.matches) = (phase, message, you, matches)
  }
}

/// What the board page shows of a match played, or watched, over the network.
public struct OnlineModel: Sendable, Hashable {
  /// How far something is that both must want.
  public enum Wish: Sendable, Hashable {
    case nobody, mine, theirs
  }

  /// The side played here; `nil` for a spectator.
  public var you: Player?
  /// Who has offered a draw.
  public var draw = Wish.nobody
  /// Whether a draw may still be offered.
  public var mayOfferDraw = false
  /// Whether the match may still be given up without a result.
  public var mayAbort = false
  /// Who wants a rematch.
  public var rematch = Wish.nobody
  /// Whether the own connection is lost.
  public var isOffline = false
  /// Whether the opponent is away.
  public var isAlone = false
  /// Whether another game may be begun, or the match left.
  public var mayLeave = false
  /// Whether a rematch can still be had.
  public var mayRematch = true
  /// Whether the match was called off, rather than not begun in time.
  public var isCalledOff = false
  /// Seconds left for the first mark of the side to move.
  public var firstMoveIn: Int?
  /// Seconds until the win over an opponent who is away may be claimed; 0 when it may be.
  public var claimIn: Int?
  /// The own rating before and after the match, where it changed.
  public var rating: (before: Int, after: Int)? {
    get { ratingBefore.flatMap { before in ratingAfter.map { (before, $0) } } }
    set { (ratingBefore, ratingAfter) = (newValue?.before, newValue?.after) }
  }
  private var ratingBefore: Int?
  private var ratingAfter: Int?

  /// Makes the state of a match.
  public init(you: Player?) { self.you = you }

  /// The same but for seconds that run down: what is worth saying aloud.
  var withoutCountdown: OnlineModel {
    var model = self
    if claimIn != 0 { model.claimIn = nil }
    model.firstMoveIn = nil
    return model
  }
}

/// What is said beside a match.
public struct TalkModel: Sendable, Hashable {
  /// One thing said.
  public struct Line: Sendable, Hashable {
    /// Who said it.
    public var name: String
    /// What was said.
    public var text: String

    /// Makes a line.
    public init(name: String, text: String) {
      (self.name, self.text) = (name, text)
    }
  }

  /// What was said, the newest last.
  public var lines: [Line] = []
  /// What this player has said and the server has not taken yet.
  public var unsent: [String] = []
  /// How many of the lines nobody has seen yet.
  public var unread = 0
  /// Whether this player wants to hear nothing.
  public var isMuted = false
  /// Whether the opponent is blocked.
  public var isBlocked = false
  /// The opponent's name.
  public var opponent = ""

  /// Makes an empty talk.
  public init() {}
}

/// A small word for the opponent that needs no typing.
public enum Emote: String, Sendable, Hashable, CaseIterable {
  case hi, gl, gg, thx, wow, oops
}
