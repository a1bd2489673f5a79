import MatchProtocol
import MatchStore
import TicTacToe

/// Chat, emotes and reports. Reports are stored; chat and emotes are only passed on.
extension Lobby {
  mutating func say(_ text: String, _ match: LiveMatch, _ command: ClientCommand) throws(Refusal) {
    try requirePlayer(of: match, command)
    let clean = ChatText.cleaned(text)
    guard !clean.isEmpty else { throw Refusal(.bad, "this text has no visible characters") }
    try chat(match, command, text: clean, emote: nil)
  }

  mutating func emote(_ emote: String, _ match: LiveMatch, _ command: ClientCommand) throws(Refusal) {
    try requirePlayer(of: match, command)
    guard ClientLine.emotes.contains(emote) else {
      throw Refusal(.bad, "an emote is one of \(ClientLine.emotes.joined(separator: ", "))")
    }
    try chat(match, command, text: nil, emote: emote)
  }

  mutating func report(_ text: String, _ match: LiveMatch, _ command: ClientCommand) throws(Refusal) {
    try requirePlayer(of: match, command)
    let account = "report \(command.account.id)"
    let address = connections[command.id]?.address.map { "report \($0)" }
    guard tries.allow(account, atMost: 2, now.monotonic) else { throw Refusal(.rate, "at most two reports a minute") }
    // An address can have many guests, and their reports would hide all others from the administrators.
    if let address, !tries.allow(address, atMost: 4, now.monotonic) {
      tries.takeBack(account)
      throw Refusal(.rate, "at most four reports a minute from one address")
    }
    let clean = ChatText.cleaned(text)
    note("report", ["by": command.account.name, "m": match.id.rawValue, "text": clean])
    ask(.report(ReportRecord(account: command.account.id, m: match.id, text: clean)), for: command) {
      lobby, answer throws(Refusal) in
      if answer == .done { return lobby.send(.ok(match.id, seq: nil), to: command.id, re: command.re) }
      for key in [account, address] { if let key { lobby.tries.takeBack(key) } }
      throw .busy
    }
  }

  private func requirePlayer(of match: LiveMatch, _ command: ClientCommand) throws(Refusal) {
    guard match.side(of: command.account.id) != nil else {
      throw Refusal(.notFound, "you do not play in this match")
    }
  }

  private mutating func chat(
    _ match: LiveMatch, _ command: ClientCommand, text: String?, emote: String?
  ) throws(Refusal) {
    let account = command.account
    guard !account.muted else { throw Refusal(.muted, "an administrator has muted you") }
    let line = ServerMessage.chat(match.id, from: account.name, text: text, emote: emote).bytes()
    deliver(line, match.id, from: account.id)
    publish(match.nodes.filter { $0 != node }, .chat(match.id, account: account.id, line: line))
    // The answer does not reveal that the opponent has muted chat.
    send(.ok(match.id, seq: nil), to: command.id, re: command.re)
  }

  /// Sends a chat line to the account's opponent, unless the opponent has muted chat or blocked the account.
  mutating func deliver(_ line: [UInt8], _ m: MatchID, from account: Int64) {
    guard let match = matches[m], let side = match.side(of: account)?.opponent,
      let other = match.account(at: side).flatMap({ accounts[$0] }), !other.quiet, !other.blocked.contains(account)
    else { return }
    for id in sessions.connections(of: side, in: match) { replies.add(.send(id, line, .droppable)) }
  }
}
