import MatchProtocol
import TicTacToe

extension ClientModel {
  package enum Command: Sendable, Hashable {
    /// `acceptBots` lets the open seek accept a bot, too.
    case seek(MatchTerms), acceptBots, unseek
    /// `create` opens a room, whose code comes as `ClientEvent.room`.
    case create(MatchTerms), join(String)
    /// A private match needs its code.
    case watch(MatchID, code: String?), unwatch(MatchID), list
    /// Asks for the player's rating in each game.
    case me
    case register(String)
    /// Drops a finished match from the client.
    case forget(MatchID)
    /// Marks a cell at the current ply; ignored when it is not the player's turn.
    case move(MatchID, Cell)
    case resign(MatchID), offerDraw(MatchID), answerDraw(MatchID, accept: Bool), rematch(MatchID)
    /// `abort` ends a match before both sides have moved; `claim` claims the win over an opponent who is away too long.
    case abort(MatchID), claim(MatchID)
    case say(MatchID, String), emote(MatchID, String), report(MatchID, String)
    /// `host` makes a tournament and follows it. `nextGame` waits for the next game in the tournament that the client follows.
    case host(TournamentTerms), tournament(TournamentOrder), nextGame
    /// `mute` hides all chat, `block` excludes pairing and chat with a player. The server stores both settings.
    case mute(Bool), block(String, Bool)
  }

  /// Ignores a command that no longer applies, such as the answer to a draw offer that is no longer open.
  package mutating func perform(_ command: Command) -> Output {
    switch command {
    case .seek(let terms): return ask(.seek(.init(terms, range: nil, bots: false, key: nil)))
    case .acceptBots:
      guard var seek = currentSeek else { return Output() }
      seek.bots = true
      return ask(.seek(seek))
    case .unseek: return ask(.unseek)
    case .create(let terms): return ask(.create(terms, key: nil))
    case .join(let code): return ask(.join(code: code))
    case .watch(let m, let code): return ask(.watch(m, code: code))
    case .unwatch(let m): return ask(.unwatch(m))
    case .list: return ask(.list)
    case .me: return ask(.me)
    case .register(let name): return ask(.register(name: name))
    case .forget(let m):
      forget(m)
      return Output()
    case .move(let m, let cell):
      guard let state = matches[m]?.state else { return Output() }
      return act(m, .move(ply: state.position.plies, cell: CellName(cell, in: state.terms.rules)))
    case .resign(let m): return act(m, .resign)
    case .offerDraw(let m): return act(m, .draw(.offer, offer: nil))
    case .answerDraw(let m, let accept):
      guard let offer = matches[m]?.state.offer else { return Output() }
      return act(m, .draw(accept ? .accept : .decline, offer: offer.seq))
    case .rematch(let m): return act(m, .rematch)
    case .abort(let m): return act(m, .abort)
    case .claim(let m): return act(m, .claim)
    case .say(let m, let text):
      return ask(.say(m, String(String.UnicodeScalarView(text.unicodeScalars.prefix(Limits.say)))))
    case .emote(let m, let emote): return ask(.emote(m, emote))
    case .host(let terms): return ask(.host(terms, secret: nil))
    case .tournament(let order): return ask(.tournament(order))
    case .nextGame:
      guard let tournament, tournament.mayPlay, currentSeek == nil else { return Output() }
      var terms = MatchTerms(rules: tournament.notice.terms.rules, clock: tournament.notice.terms.clock)
      terms.tournament = tournament.code
      return ask(.seek(.init(terms, key: nil)))
    case .mute(let isMuted): return ask(.mute(on: isMuted))
    case .block(let name, let isBlocked): return ask(.block(name: name, on: isBlocked))
    case .report(let m, let text): return ask(.report(m, text: text))
    }
  }

  /// The longest time in milliseconds for which a server can send a client away.
  package static let longestWait = 3_600_000

  /// The milliseconds before the client connects again: more with each try, and at least `asked` (at most `longestWait`). A random part
  /// keeps the clients of a restarted server from reconnecting at the same time.
  package static func pause(
    after tries: Int, from first: Int = 250, to longest: Int = 8_000, asked: Int,
    chance: (Int) -> Int = { Int.random(in: 0..<$0) }
  ) -> Int {
    let half = min(longest, first << min(tries, 5)) / 2
    return max(min(asked, longestWait), half) + chance(half + 1)
  }
}

extension ClientMessage {
  var isAct: Bool { if case .act = self { true } else { false } }

  /// Whether the client sends the message again after each reconnect until it is answered.
  var isSentAgain: Bool {
    switch self {
    case .act, .create, .join, .register, .token, .mute, .block, .say, .emote, .report, .unseek, .host, .tournament:
      true
    default: false
    }
  }
}

extension ErrorCode {
  /// Whether the same message may be accepted a little later.
  package var isPassing: Bool { [.busy, .rate, .draining].contains(self) }
}
