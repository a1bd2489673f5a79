import MatchProtocol
import MatchStore
import TicTacToe

/// Chat, emotes and reports. Reports are stored; chat and emotes are only passed on.
extension Lobby {
  mutating func talk(_ match: LiveMatch, _ call: Call) throws(Refusal) {
    guard match.side(of: call.account.id) != nil else { throw Refusal(.notFound, "you do not play in this match") }
    switch call.line.message {
    case .say(_, let text):
      let clean = ChatText.cleaned(text)
      guard !clean.isEmpty else { throw Refusal(.bad, "this text has no visible characters") }
      try chat(match, call, text: clean, emote: nil)
    case .emote(_, let emote):
      guard ClientLine.emotes.contains(emote) else {
        throw Refusal(.bad, "an emote is one of \(ClientLine.emotes.joined(separator: ", "))")
      }
      try chat(match, call, text: nil, emote: emote)
    case .report(_, let text):
      // The name under which `tries` counts the reports of an account.
      let reports = "report \(call.account.id)"
      guard tries.allow(reports, atMost: 2, now.monotonic) else {
        throw Refusal(.rate, "at most two reports a minute")
      }
      let clean = ChatText.cleaned(text)
      note("report", ["by": call.account.name, "m": match.id.rawValue, "text": clean])
      let report = ReportRecord(account: call.account.id, m: match.id, text: clean)
      ask(.report(report), for: call.id, call.re) { lobby, answer throws(Refusal) in
        if answer == .done { return lobby.send(.ok(match.id, seq: nil), to: call.id, re: call.re) }
        lobby.tries.takeBack(reports)
        throw .busy
      }
    default: break
    }
  }

  private mutating func chat(
    _ match: LiveMatch, _ call: Call, text: String?, emote: String?
  ) throws(Refusal) {
    let account = call.account
    guard !account.muted else { throw Refusal(.muted, "an administrator has muted you") }
    let line = ServerMessage.chat(match.id, from: account.name, text: text, emote: emote).bytes()
    deliver(line, match.id, from: account.id)
    publish(match.nodes.filter { $0 != node }, .chat(match.id, account: account.id, line: line))
    // The answer does not reveal that the opponent has muted chat.
    send(.ok(match.id, seq: nil), to: call.id, re: call.re)
  }

  /// Sends a chat line to the account's opponent, unless the opponent has muted chat or blocked the account.
  mutating func deliver(_ line: [UInt8], _ m: MatchID, from account: Int64) {
    guard let match = matches[m], let side = match.side(of: account)?.opponent,
      let other = match.account(at: side).flatMap({ accounts[$0] }), !other.quiet, !other.blocked.contains(account)
    else { return }
    for id in sessions.connections(of: side, in: match) { replies.add(.send(id, line, .droppable)) }
  }
}
