import TicTacToe

/// The state of the connection, for the network page.
package struct NetworkModel: Sendable, Hashable {
  package enum Phase: Sendable, Hashable {
    case offline
    case connecting
    /// In the lobby without a match.
    case lobby
    /// Waiting for an opponent; `bots` is the number of bots that could play instead.
    case queued(bots: Int)
    /// Waiting in this player's room until another player joins with the code.
    case room(code: String)
    /// Playing or watching a match on the board.
    case playing

    package var isQueued: Bool { if case .queued = self { true } else { false } }
    package var isRoom: Bool { if case .room = self { true } else { false } }
  }

  package struct Match: Sendable, Hashable {
    package var id: String
    /// The names of the players, and the variant unless it is Classic.
    package var title: Message

    package init(id: String, title: Message) {
      (self.id, self.title) = (id, title)
    }
  }

  /// A room that another player has opened on the local network.
  package struct Nearby: Sendable, Hashable {
    /// `HOST:PORT` of the server.
    package var address: String
    package var code: String
    /// The name of the player who opened the room.
    package var name: String

    package init(address: String, code: String, name: String) {
      (self.address, self.code, self.name) = (address, code, name)
    }
  }

  package struct You: Sendable, Hashable {
    package var name: String
    package var ratings: [Variant: Int]
    /// Whether the name is a guest's; guests have no lasting rating.
    package var isGuest: Bool

    package init(name: String, ratings: [Variant: Int] = [:], isGuest: Bool) {
      (self.name, self.ratings, self.isGuest) = (name, ratings, isGuest)
    }

    /// Before the first match in a variant, the rating is 1,500, as the server gives a new player.
    package func rating(in rules: Variant) -> Int { ratings[rules] ?? 1_500 }
  }

  package var phase: Phase
  /// A message for the player, such as why the server refused a request.
  package var message: Message?
  /// `nil` before the login.
  package var you: You?
  package var matches: [Match]
  /// Seconds of waiting for an opponent; `nil` if the player does not wait.
  package var waited: Int?
  /// The default clock of the selected variant: seconds for each side, `+`, seconds added after each move.
  package var usualClock = "60+2"
  /// The default clock of a tournament of the selected variant, in the form of `usualClock`.
  package var tournamentClock = "20+1"
  /// The default length of a tournament of the selected variant.
  package var tournamentMinutes = 10
  package var nearby: [Nearby] = []
  /// The local-network address of this machine's server; `nil` if no server runs on this machine.
  package var hostAddress: String?
  /// The URL of this machine's server for browsers on the local network.
  package var hostPage: String?

  package init(phase: Phase = .offline, message: Message? = nil, you: You? = nil, matches: [Match] = []) {
    (self.phase, self.message, self.you, self.matches) = (phase, message, you, matches)
  }
}

/// The state of a network match, for the board page.
package struct OnlineModel: Sendable, Hashable {
  /// Which side, if any, has proposed a draw or a rematch.
  package enum Proposal: Sendable, Hashable {
    case nobody, mine, theirs
  }

  /// This player's side; `nil` for a spectator.
  package var you: Player?
  /// The cell chosen in advance: it is played once the opponent has moved.
  package var premove: Cell?
  package var draw = Proposal.nobody
  package var mayOfferDraw = false
  /// Whether the match may still be aborted without a result.
  package var mayAbort = false
  package var rematch = Proposal.nobody
  package var isOffline = false
  package var reconnects = true
  package var isOpponentAway = false
  /// Whether the player may leave: the match is over or only watched, or the connection is lost.
  package var mayLeave = false
  /// Seconds left to agree on a rematch; `nil` if a rematch is impossible.
  package var rematchIn: Int?
  package var mayRematch: Bool { rematchIn != nil }
  /// Whether the match ended without a result because a side aborted the match.
  package var isCalledOff = false
  /// Seconds left for the first move of the side to move; `nil` after this move, or if more than a minute is left.
  package var firstMoveIn: Int?
  /// Seconds until the player may claim the win over an absent opponent; `nil` if the opponent is present.
  package var claimIn: Int?
  /// This player's rating before and after the match, if the rating changed.
  package var rating: (before: Int, after: Int)? {
    get { ratingBefore.flatMap { before in ratingAfter.map { (before, $0) } } }
    set { (ratingBefore, ratingAfter) = (newValue?.before, newValue?.after) }
  }
  private var ratingBefore: Int?
  private var ratingAfter: Int?

  package init(you: Player?) { self.you = you }

  /// A copy without the running countdowns, to find the changes that a screen reader must announce.
  package var withoutCountdown: OnlineModel {
    var model = self
    if claimIn != 0 { model.claimIn = nil }
    model.firstMoveIn = nil
    if model.mayRematch { model.rematchIn = 0 }
    return model
  }
}

/// The chat of a match.
package struct TalkModel: Sendable, Hashable {
  package struct Line: Sendable, Hashable {
    package var name: String
    package var text: Message

    package init(name: String, text: Message) {
      (self.name, self.text) = (name, text)
    }
  }

  /// Newest last.
  package var lines: [Line] = []
  /// Lines that the server has not confirmed yet.
  package var unsent: [Message] = []
  package var unread = 0
  package var isMuted = false
  package var isBlocked = false
  package var opponent = ""

  package init() {}
}

/// A predefined short message.
package enum Emote: String, Sendable, Hashable, CaseIterable {
  case hi, gl, gg, thx, wow, oops

  package var phrase: Phrase {
    switch self {
    case .hi: .emoteHi
    case .gl: .emoteGl
    case .gg: .emoteGg
    case .thx: .emoteThx
    case .wow: .emoteWow
    case .oops: .emoteOops
    }
  }
}
