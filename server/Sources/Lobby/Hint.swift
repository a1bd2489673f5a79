import MatchProtocol
import MatchStore
import TicTacToe

/// What a node tells others, as a text of one or more lines. Losing one costs time and nothing else.
enum Hint: Hashable, Sendable {
  /// A match has these events, beginning with this `seq`; none if they are too long to be told.
  case grown(MatchID, seq: Int, [[UInt8]])
  /// A side that is away has said goodbye.
  case bye(MatchID, Player)
  /// A ticket of this account has led to a match.
  case paired(ticket: String, account: Int64, MatchID)
  /// So many bots would play with whoever waits with a ticket.
  case bots(ticket: String, Int)
  /// A ticket cannot wait any more.
  case look(ticket: String)
  /// Somebody waits to be paired.
  case queued
  /// A session was entered elsewhere with this generation, or is over (`.max`).
  case session(String, generation: Int64)
  /// An account has changed.
  case account(Int64)
  /// An account says something in a match, to whoever sits opposite.
  case chat(MatchID, account: Int64, line: [UInt8])

  var text: String {
    switch self {
    case .grown(let m, let seq, let bodies):
      let text = (["grown \(m) \(seq)"] + bodies.map { String(decoding: $0, as: UTF8.self) }).joined(separator: "\n")
      // The time at which it is told comes before it.
      return text.utf8.count <= MemoryStore.hintBytes - 20 ? text : "grown \(m) \(seq)"
    case .bye(let m, let side): return "bye \(m) \(side.text)"
    case .paired(let ticket, let account, let m): return "paired \(ticket) \(account) \(m)"
    case .bots(let ticket, let count): return "bots \(ticket) \(count)"
    case .look(let ticket): return "look \(ticket)"
    case .queued: return "queued"
    case .session(let session, let generation): return "session \(session) \(generation)"
    case .account(let id): return "account \(id)"
    case .chat(let m, let account, let line):
      return "chat \(m) \(account)\n\(String(decoding: line.dropLast(), as: UTF8.self))"
    }
  }

  /// Reads a hint; `nil` for a kind that only another build knows, and for numbers out of range.
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
    case ("chat", 3):
      guard let m = m(1), let account = Int64(words[2]), lines.count == 2 else { return nil }
      self = .chat(m, account: account, line: Array(lines[1].utf8) + [UInt8(ascii: "\n")])
    default: return nil
    }
  }
}
