import ClientModel
import Interface
import MatchProtocol

/// The chat of a match.
extension WindowState {
  mutating func speak(_ intent: Intent) -> [Effect] {
    guard case .online(let m) = mode else { return refuse(.nobodyToTalkTo) }
    guard link != .none else { return refuse(.notConnected) }
    let later: [Effect] = link == .online ? [] : [.say("\(.sentLater)")]
    switch intent {
    case .say(let said):
      talk.unsent.append(Message(said))
      return [.command(.say(m, said))]
    case .emote(let emote):
      talk.unsent.append("\(emote.phrase)")
      return [.command(.emote(m, emote.rawValue))]
    case .setTalkMuted(let isMuted): return [.command(.mute(isMuted))] + later
    case .setBlocked(let isBlocked): return [.command(.block(talk.opponent, isBlocked))] + later
    default:
      reported = talk.opponent
      let said = talk.lines.last { $0.name == talk.opponent }?.text.text(in: .english) ?? ""
      return [.command(.report(m, said))] + later
    }
  }

  mutating func hear(_ name: String, _ said: Message, _ m: MatchID, _ page: SceneName) -> [Effect] {
    guard m == match else { return [] }
    let isMine = name == network.you?.name
    if isMine, !talk.unsent.isEmpty { talk.unsent.removeFirst() }
    talk.lines.append(.init(name: name, text: said))
    guard page != .talk, !isMine else { return [] }
    talk.unread += 1
    return [.say("\(name): \(said)")]
  }
}
