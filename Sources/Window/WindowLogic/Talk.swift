import Base
import ClientModel
import Interface
import MatchProtocol

/// The chat of the match on the board, and the chat settings that the server stores: mute and blocked players.
struct Talk: Sendable {
  private(set) var model = TalkModel()
  /// Whether chat is muted, as stored by the server.
  private var isQuiet = false
  private var blocked: Set<String> = []
  private var reported = ""

  /// Keeps the lines of the chat if the opponent stays the same.
  mutating func begin(with opponent: String) {
    if opponent != model.opponent { model = TalkModel() }
    model.opponent = opponent
    showSettings()
  }

  mutating func end() { model = TalkModel() }

  /// Resets the settings that the former server stored.
  mutating func forgetServer() { (isQuiet, blocked) = (false, []) }

  /// Drops unsent lines, because the connection failed permanently.
  mutating func connectionFailed() { model.unsent = [] }

  mutating func pageOpened() { model.unread = 0 }

  // MARK: - Requests of the player

  /// Unless `isOnline`, the command reaches the server after the client has reconnected.
  mutating func answer(_ intent: Intent, in m: MatchID, isOnline: Bool) -> [Effect] {
    let later: [Effect] = isOnline ? [] : [.say("\(.sentLater)")]
    switch intent {
    case .say(let said):
      model.unsent.append(Message(said))
      return [.command(.say(m, said))]
    case .emote(let emote):
      model.unsent.append("\(emote.phrase)")
      return [.command(.emote(m, emote.rawValue))]
    case .setTalkMuted(let isMuted): return [.command(.mute(isMuted))] + later
    case .setBlocked(let isBlocked): return [.command(.block(model.opponent, isBlocked))] + later
    default:
      reported = model.opponent
      let said = model.lines.last { $0.name == model.opponent }?.text.text(in: .english) ?? ""
      return [.command(.report(m, said))] + later
    }
  }

  // MARK: - Events of the server

  /// `me` is this player's name. Shows a line of the opponent as a message unless the chat page is open.
  mutating func hear(_ event: ClientEvent, me: String?, page: SceneName) -> [Effect] {
    switch event {
    case .chat(_, let name, let text, let emote):
      let word: Message? = emote.map { code in Emote(rawValue: code).map { "\($0.phrase)" } ?? Message(code) }
      guard let said = text.map({ Message($0) }) ?? word else { return [] }
      if name == me { dropUnsent() }
      model.lines.append(.init(name: name, text: said))
      guard page != .talk, name != me else { return [] }
      model.unread += 1
      return [.say("\(name): \(said)")]
    case .muted(let isMuted): isQuiet = isMuted
    case .blocked(let name, true): blocked.insert(name)
    case .blocked(let name, false): blocked.remove(name)
    case .page("me", let rows, _):
      isQuiet = rows.first?["quiet"]?.bool ?? false
      blocked = Set(rows.first?["blocked"]?.array?.compactMap { $0.string } ?? [])
    case .reported: return [.say("\(.wasReported, Message(reported))")]
    default: break
    }
    showSettings()
    return []
  }

  /// Removes the oldest unconfirmed line, because the server has accepted or refused it.
  mutating func dropUnsent() { if !model.unsent.isEmpty { model.unsent.removeFirst() } }

  private mutating func showSettings() {
    (model.isMuted, model.isBlocked) = (isQuiet, blocked.contains(model.opponent))
  }
}
