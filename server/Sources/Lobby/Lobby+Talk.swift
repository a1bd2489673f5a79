import MatchProtocol
import MatchStore

/// Chat and emotes, and being spared them. Nothing of this is stored but who is spared whom.
extension Lobby {
  mutating func talk(_ line: ClientLine, _ account: AccountRecord, _ id: ConnectionID) {
    // An answer behind lines that are held back would come when the disk does.
    guard canTell(0, id, line.id) else { return }
    switch line.message {
    case .say(let m, let text):
      let clean = Lobby.cleaned(text)
      guard !clean.isEmpty else { return refuse(id, line.id, .bad, "nothing is left of this text") }
      chat(m, account, id, line.id, text: clean, emote: nil)
    case .emote(let m, let emote):
      guard ClientLine.emotes.contains(emote) else {
        return refuse(id, line.id, .bad, "an emote is one of \(ClientLine.emotes.joined(separator: ", "))")
      }
      chat(m, account, id, line.id, text: nil, emote: emote)
    case .report(let m, let text):
      guard let match = table(m, account) else {
        return refuse(id, line.id, .notFound, "there is no such match of yours")
      }
      guard allow("report \(account.id)", perMinute: 2) else {
        return refuse(id, line.id, .rate, "two reports a minute")
      }
      note("report", ["by": account.name, "m": match.id.rawValue, "text": Lobby.cleaned(text)])
      answer(.ok(match.id, seq: nil), to: id, re: line.id, after: 0)
    default: break
    }
  }

  /// The match meant: the named one, or the last one played.
  private func table(_ m: MatchID?, _ account: AccountRecord) -> CachedMatch? {
    guard let m = m ?? matchesOf[account.id]?.last, let match = matches[m], match.side(of: account.id) != nil else {
      return nil
    }
    return match
  }

  private mutating func chat(
    _ m: MatchID?, _ account: AccountRecord, _ id: ConnectionID, _ re: String?, text: String?, emote: String?
  ) {
    guard let match = table(m, account), let side = match.side(of: account.id) else {
      return refuse(id, re, .notFound, "there is no such match of yours")
    }
    guard !account.muted else { return refuse(id, re, .muted, "an administrator has muted you") }
    let other = side == .x ? match.record.o : match.record.x
    if let other = other.flatMap({ accounts[$0] }), !other.quiet, !other.blocked.contains(account.id) {
      for connection in connections(of: side.opponent, in: match) {
        send(.chat(match.id, from: account.name, text: text, emote: emote), to: connection, kind: .droppable, after: 0)
      }
    }
    // The answer is the same whether anybody listens: being muted is nobody else's business.
    answer(.ok(match.id, seq: nil), to: id, re: re, after: 0)
  }

  /// A text without control characters, bidirectional overrides and invisible format characters, but for what joins two
  /// pictures into one: a family is several people and three joiners.
  static func cleaned(_ text: String) -> String {
    var result = String.UnicodeScalarView()
    let scalars = text.unicodeScalars
    for i in scalars.indices {
      let scalar = scalars[i]
      switch scalar.properties.generalCategory {
      case .format where scalar == "\u{200D}" && joins(result.last, scalars[scalars.index(after: i)...].first):
        result.append(scalar)
      case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: continue
      default: result.append(scalar)
      }
    }
    var clean = String(result)
    while clean.first == " " { clean.removeFirst() }
    while clean.last == " " { clean.removeLast() }
    return clean
  }

  /// Whether a joiner between two scalars makes one picture of them.
  private static func joins(_ before: Unicode.Scalar?, _ after: Unicode.Scalar?) -> Bool {
    func isPicture(_ scalar: Unicode.Scalar) -> Bool { scalar.properties.isEmoji && scalar.value > 0xFF }
    guard let before, let after else { return false }
    return (isPicture(before) || before == "\u{FE0F}") && isPicture(after)
  }
}
