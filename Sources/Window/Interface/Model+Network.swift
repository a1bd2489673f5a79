import TicTacToe

/// Where the connection stands, for the network page.
package struct NetworkModel: Sendable, Hashable {
  /// The steps of a connection.
  package enum Phase: Sendable, Hashable {
    case offline
    case connecting
    /// In the lobby, free to choose.
    case lobby
    /// Waiting for whoever comes next; so many bots would play instead.
    case queued(bots: Int)
    /// In an own room; others enter with the code.
    case room(code: String)
    /// In a match or watching one: the board shows it.
    case playing

    package var isRoom: Bool { if case .room = self { true } else { false } }
  }

  /// A match that can be watched.
  package struct Match: Sendable, Hashable {
    package var id: String
    /// Who plays, as one line.
    package var title: String

    package init(id: String, title: String) {
      (self.id, self.title) = (id, title)
    }
  }

  /// A room somebody near has opened.
  package struct Nearby: Sendable, Hashable {
    /// The server, `HOST:PORT`.
    package var address: String
    package var code: String
    /// Who waits there.
    package var name: String

    package init(address: String, code: String, name: String) {
      (self.address, self.code, self.name) = (address, code, name)
    }
  }

  /// Who the server takes this player for.
  package struct You: Sendable, Hashable {
    package var name: String
    /// The rating in each game that was played.
    package var ratings: [Variant: Int]
    /// Whether the name is a guest's, who has no rating to keep.
    package var isGuest: Bool

    package init(name: String, ratings: [Variant: Int] = [:], isGuest: Bool) {
      (self.name, self.ratings, self.isGuest) = (name, ratings, isGuest)
    }

    /// The rating in a game; of one that was never played it is that of a new player.
    package func rating(in rules: Variant) -> Int { ratings[rules] ?? 1_500 }
  }

  package var phase: Phase
  /// What went wrong last, in one line.
  package var message: String?
  /// Who this player is there, once known.
  package var you: You?
  package var matches: [Match]
  /// The clock of the game that is chosen, seconds and seconds a move.
  package var usualClock = "60+2"
  /// Rooms of others on this network.
  package var nearby: [Nearby] = []
  /// Where others reach the server that runs on this machine, if one does.
  package var hostAddress: String?
  /// The page of the server on this machine, for a browser near.
  package var hostPage: String?

  package init(phase: Phase = .offline, message: String? = nil, you: You? = nil, matches: [Match] = []) {
    (self.phase, self.message, self.you, self.matches) = (phase, message, you, matches)
  }
}

/// What the board page shows of a match played, or watched, over the network.
package struct OnlineModel: Sendable, Hashable {
  /// How far something is that both must want.
  package enum Proposal: Sendable, Hashable {
    case nobody, mine, theirs
  }

  /// The side played here; `nil` for a spectator.
  package var you: Player?
  package var draw = Proposal.nobody
  package var mayOfferDraw = false
  /// Whether the match may still be given up without a result.
  package var mayAbort = false
  package var rematch = Proposal.nobody
  /// Whether the own connection is lost, and whether the program tries to reconnect by itself.
  package var isOffline = false
  package var reconnects = true
  /// Whether the opponent is away.
  package var isAlone = false
  /// Whether another game may be begun, or the match left.
  package var mayLeave = false
  /// Seconds in which a rematch can still be asked for, or agreed to; `nil` if it cannot.
  package var rematchIn: Int? = 30
  package var mayRematch: Bool { rematchIn != nil }
  /// Whether the match was called off, rather than not begun in time.
  package var isCalledOff = false
  /// Seconds left for the first mark of the side to move.
  package var firstMoveIn: Int?
  /// Seconds until the win over an opponent who is away may be claimed; 0 when it may be.
  package var claimIn: Int?
  /// The own rating before and after the match, where it changed.
  package var rating: (before: Int, after: Int)? {
    get { ratingBefore.flatMap { before in ratingAfter.map { (before, $0) } } }
    set { (ratingBefore, ratingAfter) = (newValue?.before, newValue?.after) }
  }
  private var ratingBefore: Int?
  private var ratingAfter: Int?

  package init(you: Player?) { self.you = you }

  /// The same but for seconds that run down: what is worth saying aloud.
  package var withoutCountdown: OnlineModel {
    var model = self
    if claimIn != 0 { model.claimIn = nil }
    model.firstMoveIn = nil
    if model.mayRematch { model.rematchIn = 0 }
    return model
  }
}

/// What is said beside a match.
package struct TalkModel: Sendable, Hashable {
  /// One thing said.
  package struct Line: Sendable, Hashable {
    package var name: String
    package var text: String

    package init(name: String, text: String) {
      (self.name, self.text) = (name, text)
    }
  }

  /// What was said, the newest last.
  package var lines: [Line] = []
  /// What this player has said and the server has not taken yet.
  package var unsent: [String] = []
  /// How many of the lines nobody has seen yet.
  package var unread = 0
  /// Whether this player wants to hear nothing.
  package var isMuted = false
  package var isBlocked = false
  package var opponent = ""

  package init() {}
}

/// A small word for the opponent that needs no typing.
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
