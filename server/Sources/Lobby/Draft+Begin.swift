import Base
import MatchProtocol
import MatchStore
import TicTacToe

/// The units of players who begin a match together: a rematch, or a room that a second player joins.
extension Draft {
  /// A player's request for a rematch. If the opponent has asked already, it begins the rematch. `isFull`: whether an account may have no
  /// more matches. Throws if the request is too late, or a player cannot play.
  init(
    rematchOf match: LiveMatch, by side: Player, _ mid: String?, isFull: (Int64) -> Bool, _ context: MatchContext,
    _ random: inout Entropy
  ) throws(Refusal) {
    guard let until = match.rematchUntil, context.now <= until, match.record.x != nil else {
      let text = "a rematch can be asked for within \(context.configuration.rematchWithin / 1000) s"
      throw Refusal(.over, text, showing: match.id)
    }
    let agreed = match.state.wantsRematch[side.opponent]
    guard !agreed || match.account(at: side.opponent).map(isFull) != true else {
      throw Refusal.tooManyMatches.showing(match.id)
    }
    let next = agreed ? MatchID(using: &random) : nil
    let event = MatchEvent(at: context.wall, side: side, mid: mid, .rematch(next: next))
    let asked = Draft(appending: [event], to: match)
    guard let next else {
      self = asked
      return
    }
    let accounts = context.people.accounts
    guard let x = match.record.o.flatMap({ accounts[$0] }), let o = match.record.x.flatMap({ accounts[$0] }) else {
      throw Refusal(.over, "your opponent's account no longer exists", showing: match.id)
    }
    /// Whether a side was a bot. Bots have named accounts but are marked as guests in the `start` event: this contradiction reveals them.
    func wasBot(_ side: Player, _ account: AccountRecord) -> Bool {
      !account.guest && match.state.players?[side].guest == true
    }
    var record = MatchRecord(id: next, x: x.id, o: o.id, created: context.wall)
    (record.opener, record.code) = (match.record.opener, match.record.code)
    let living = Set(context.nodes.others.map(\.id))
    self.init(
      starting: LiveMatch(record), Sides(x: x, o: o), bots: Sides(x: wasBot(.o, x), o: wasBot(.x, o)),
      match.state.terms, at: context.wall, nodes: [context.nodes.node] + living.intersection(match.nodes),
      previous: match.id, station: match.state.nextStation)
    add(asked.unit.logs[0], [event])
  }

  /// Begins the match of a room, which `command` joins. The player with the lower balance (games as X minus games as O) gets X, unless the
  /// opener has chosen a side. Chance decides a tie.
  init(
    joining room: LiveMatch, of opener: AccountRecord, _ command: ClientCommand, _ context: MatchContext,
    _ random: inout Entropy
  ) {
    let (account, session) = (command.account, command.session)
    var (room, terms) = (room, room.state.terms)
    let joinerIsX =
      terms.opener.map { $0 == .o }
      ?? (account.xBalance == opener.xBalance ? random.next() & 1 == 0 : account.xBalance < opener.xBalance)
    terms.opener = nil
    let openerIsBot = context.people.sessions.of(opener.id).contains(where: \.isBot)
    let pair = joinerIsX ? Sides(x: account, o: opener) : Sides(x: opener, o: account)
    let bots = joinerIsX ? Sides(x: session.isBot, o: openerIsBot) : Sides(x: openerIsBot, o: session.isBot)
    (room.record.x, room.record.o) = (pair.x.id, pair.o.id)
    self.init(starting: room, pair, bots: bots, terms, at: context.wall)
  }
}
