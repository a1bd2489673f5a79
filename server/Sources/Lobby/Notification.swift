import MatchProtocol
import MatchStore
import TicTacToe

/// A message between nodes, as text. If it is lost, comparing memory with the store finds the change, except for `bye`, `bots` and `chat`.
enum Notification: Hashable, Sendable {
  /// The events from `seq` on were appended to a match; they are left out if the text would exceed `longestNotification`.
  case grown(MatchID, seq: Int, [[UInt8]])
  /// An absent side has sent `bye`.
  case bye(MatchID, Player)
  /// A ticket of this account was matched to this match.
  case paired(ticket: String, account: Int64, MatchID)
  /// This many bots are available to the player who waits with this ticket.
  case bots(ticket: String, Int)
  /// The store cannot pair this ticket, which was removed. The player's node must queue it again to learn the reason.
  case look(ticket: String)
  case queued
  /// A session was resumed at another node with this generation, or revoked (`.max`).
  case session(String, generation: Int64)
  /// An account was changed in the store.
  case account(Int64)
  /// A tournament or its table has changed.
  case tournament(String)
  /// A chat line of an account, for the opponent in this match.
  case chat(MatchID, account: Int64, line: [UInt8])

  var text: String {
    switch self {
    case .grown(let m, let seq, let bodies):
      let text = (["grown \(m) \(seq)"] + bodies.map { String(decoding: $0, as: UTF8.self) }).joined(separator: "\n")
      // 20 bytes are left for the time of sending, which the transport puts in front of the text.
      return text.utf8.count <= longestNotification - 20 ? text : "grown \(m) \(seq)"
    case .bye(let m, let side): return "bye \(m) \(side.text)"
    case .paired(let ticket, let account, let m): return "paired \(ticket) \(account) \(m)"
    case .bots(let ticket, let count): return "bots \(ticket) \(count)"
    case .look(let ticket): return "look \(ticket)"
    case .queued: return "queued"
    case .session(let session, let generation): return "session \(session) \(generation)"
    case .account(let id): return "account \(id)"
    case .tournament(let code): return "tournament \(code)"
    case .chat(let m, let account, let line):
      return "chat \(m) \(account)\n\(String(decoding: line.dropLast(), as: UTF8.self))"
    }
  }

  /// Decodes a notification; `nil` for a kind that only newer builds know, and for numbers out of range.
  init?(_ text: String) {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    let words = (lines.first ?? "").split(separator: " ").map(String.init)
    func m(_ i: Int) -> MatchID? { MatchID(rawValue: words[i]) }
    switch (words.first, words.count) {
    case ("grown", 3):
      guard let m = m(1), let seq = Int(words[2]), (1...Int(Int32.max)).contains(seq) else { return nil }
      self = .grown(m, seq: seq, lines.dropFirst().map { Array($0.utf8) })
    case ("bye", 3):
      guard let m = m(1), let side = Player(text: words[2]) else { return nil }
      self = .bye(m, side)
    case ("paired", 4):
      guard let account = Int64(words[2]), let m = m(3) else { return nil }
      self = .paired(ticket: words[1], account: account, m)
    case ("bots", 3):
      guard let count = Int(words[2]) else { return nil }
      self = .bots(ticket: words[1], count)
    case ("look", 2): self = .look(ticket: words[1])
    case ("queued", 1): self = .queued
    case ("session", 3):
      guard let generation = Int64(words[2]) else { return nil }
      self = .session(words[1], generation: generation)
    case ("account", 2):
      guard let id = Int64(words[1]) else { return nil }
      self = .account(id)
    case ("tournament", 2): self = .tournament(words[1])
    case ("chat", 3):
      guard let m = m(1), let account = Int64(words[2]), lines.count == 2 else { return nil }
      let line = Array(lines[1].utf8)
      // The line is sent to a player unchanged, so it must be a chat line of this match.
      guard case .chat(m, _, _, _) = try? line.withUnsafeBytes({ try ServerLine($0).message }) else { return nil }
      self = .chat(m, account: account, line: line + [UInt8(ascii: "\n")])
    default: return nil
    }
  }
}
