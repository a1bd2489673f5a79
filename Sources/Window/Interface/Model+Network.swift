import TicTacToe

/// The state of the connection, for the network page.
package struct NetworkModel: Sendable, Hashable {
  /// The state of the connection or, while connected, the player's activity on the server.
  package enum Phase: Sendable, Hashable {
    case offline
    case connecting
    /// In the lobby without a match.
    case lobby
    /// Waiting for an opponent; `bots` is the number of bots that could play instead.
    case queued(bots: Int)
    /// Waiting in this player's room, until another player joins it with its code.
    case room(code: String)
    /// Playing or watching a match on the board.
    case playing

    package var isRoom: Bool { if case .room = self { true } else { false } }
  }

  /// A match that can be watched.
  package struct Match: Sendable, Hashable {
    package var id: String
    /// The names of the players, and the variant unless it is Classic.
    package var title: Message

    package init(id: String, title: Message) {
      (self.id, self.title) = (id, title)
    }
  }

  /// A room on the local network.
  package struct Nearby: Sendable, Hashable {
    /// The server, `HOST:PORT`.
    package var address: String
    package var code: String
    /// The name of the player who opened the room.
    package var name: String

    package init(address: String, code: String, name: String) {
      (self.address, self.code, self.name) = (address, code, name)
    }
  }

  /// This player's account on the server.
  package struct You: Sendable, Hashable {
    package var name: String
    /// The ratings that the server has sent, one for each variant.
    package var ratings: [Variant: Int]
    /// Whether the name is a guest's; guests have no lasting rating.
    package var isGuest: Bool

    package init(name: String, ratings: [Variant: Int] = [:], isGuest: Bool) {
      (self.name, self.ratings, self.isGuest) = (name, ratings, isGuest)
    }

    /// The rating in the given variant; before the first match in this variant 1,500, the rating that the server gives a new player.
    package func rating(in rules: Variant) -> Int { ratings[rules] ?? 1_500 }
  }

  package var phase: Phase
  /// A message for the network page, such as the reason why the server cannot be reached or refused a request.
  package var message: Message?
  /// This player's account; `nil` before the login.
  package var you: You?
  package var matches: [Match]
  /// Seconds for which this player has waited for an opponent; `nil` if the player does not wait.
  package var waited: Int?
  /// The default clock of the selected variant: seconds for each side, `+`, seconds added after each move.
  package var usualClock = "60+2"
  /// The default clock of a tournament of the selected variant, in the form of `usualClock`.
  package var tournamentClock = "20+1"
  /// The default length in minutes of a tournament of the selected variant.
  package var tournamentMinutes = 10
  /// The rooms that other players have opened on the local network.
  package var nearby: [Nearby] = []
  /// The address at which players on the local network reach the server on this machine; `nil` if no server runs on this machine.
  package var hostAddress: String?
  /// The URL of the page that the server on this machine offers to browsers on the local network.
  package var hostPage: String?

  package init(phase: Phase = .offline, message: Message? = nil, you: You? = nil, matches: [Match] = []) {
    (self.phase, self.message, self.you, self.matches) = (phase, message, you, matches)
  }
}

/// The state of a network match, for the board page.
package struct OnlineModel: Sendable, Hashable {
  /// Which side, if any, has proposed a draw or a rematch, to which the other side must agree.
  package enum Proposal: Sendable, Hashable {
    case nobody, mine, theirs
  }

  /// The side that this player has; `nil` for a spectator.
  package var you: Player?
  /// The cell that the player has chosen in advance: it is played once the opponent has moved.
  package var premove: Cell?
  package var draw = Proposal.nobody
  package var mayOfferDraw = false
  /// Whether the match may still be aborted without a result.
  package var mayAbort = false
  package var rematch = Proposal.nobody
  /// Whether this player's connection is lost.
  package var isOffline = false
  /// Whether the client reconnects automatically.
  package var reconnects = true
  /// Whether the opponent is absent.
  package var isOpponentAway = false
  /// Whether the player may leave the match: the match is over or only watched, or the connection is lost.
  package var mayLeave = false
  /// Seconds left to ask for or accept a rematch; `nil` if a rematch is impossible.
  package var rematchIn: Int?
  package var mayRematch: Bool { rematchIn != nil }
  /// Whether the match ended without a result because a side aborted it, not because the first move was late.
  package var isCalledOff = false
  /// Seconds left for the first move of the side to move; `nil` after this move, or if more than a minute is left.
  package var firstMoveIn: Int?
  /// Seconds until the player may claim the win over an absent opponent; 0 if the player may claim it now, `nil` if the opponent is here.
  package var claimIn: Int?
  /// This player's rating before and after the match, if it changed.
  package var rating: (before: Int, after: Int)? {
    get { ratingBefore.flatMap { before in ratingAfter.map { (before, $0) } } }
    set { (ratingBefore, ratingAfter) = (newValue?.before, newValue?.after) }
  }
  private var ratingBefore: Int?
  private var ratingAfter: Int?

  package init(you: Player?) { self.you = you }

  /// A copy without the running countdowns. The screen compares two such copies to find the changes that a screen reader must announce.
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
  /// A chat line.
  package struct Line: Sendable, Hashable {
    package var name: String
    package var text: Message

    package init(name: String, text: Message) {
      (self.name, self.text) = (name, text)
    }
  }

  /// The lines, newest last.
  package var lines: [Line] = []
  /// Lines that were sent and that the server has not confirmed yet.
  package var unsent: [Message] = []
  /// The number of unread lines.
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
