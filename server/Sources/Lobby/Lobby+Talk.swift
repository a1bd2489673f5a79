import MatchProtocol
import MatchStore
import TicTacToe

/// Chat, emotes and reports. Reports are stored; chat and emotes are only passed on.
extension Lobby {
  mutating func talk(_ line: ClientLine, _ m: MatchID, _ account: AccountRecord, _ id: ConnectionID) {
    guard let match = matches[m], let side = match.side(of: account.id) else {
      return refuse(id, line.id, .notFound, "you do not play in this match")
    }
    switch line.message {
    case .say(_, let text):
      let clean = ChatText.cleaned(text)
      guard !clean.isEmpty else { return refuse(id, line.id, .bad, "this text has no visible characters") }
      chat(match, side, account, id, line.id, text: clean, emote: nil)
    case .emote(_, let emote):
      guard ClientLine.emotes.contains(emote) else {
        return refuse(id, line.id, .bad, "an emote is one of \(ClientLine.emotes.joined(separator: ", "))")
      }
      chat(match, side, account, id, line.id, text: nil, emote: emote)
    case .report(_, let text):
      guard tries.allow(Lobby.reports(by: account.id), atMost: 2, now.monotonic) else {
        return refuse(id, line.id, .rate, "at most two reports a minute")
      }
      let clean = ChatText.cleaned(text)
      note("report", ["by": account.name, "m": m.rawValue, "text": clean])
      let report = ReportRecord(account: account.id, m: m, text: clean)
      ask(.report(report), for: id) { lobby, answer in
        if answer == .done { return lobby.send(.ok(m, seq: nil), to: id, re: line.id) }
        lobby.tries.takeBack(Lobby.reports(by: account.id))
        lobby.refuseBusy(id, line.id)
      }
    default: break
    }
  }

  /// The name under which `tries` counts the reports of an account.
  private static func reports(by account: Int64) -> String { "report \(account)" }

  private mutating func chat(
    _ match: LiveMatch, _ side: Player, _ account: AccountRecord, _ id: ConnectionID, _ re: String?, text: String?,
    emote: String?
  ) {
    guard !account.muted else { return refuse(id, re, .muted, "an administrator has muted you") }
    let line = ServerMessage.chat(match.id, from: account.name, text: text, emote: emote).bytes()
    deliver(line, match.id, from: account.id)
    publish(match.nodes.filter { $0 != node }, .chat(match.id, account: account.id, line: line))
    // The answer does not reveal that the opponent has muted chat.
    send(.ok(match.id, seq: nil), to: id, re: re)
  }

  /// Sends a chat line to the account's opponent, unless the opponent has muted chat or blocked the account.
  mutating func deliver(_ line: [UInt8], _ m: MatchID, from account: Int64) {
    guard let match = matches[m], let side = match.side(of: account)?.opponent,
      let other = match.account(at: side).flatMap({ accounts[$0] }), !other.quiet, !other.blocked.contains(account)
    else { return }
    for id in connections(of: side, in: match) { replies.add(.send(id, line, .droppable)) }
  }
}
