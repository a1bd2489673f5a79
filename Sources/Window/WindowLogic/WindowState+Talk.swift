import ClientModel
import Interface
import MatchProtocol

/// The chat of a match.
extension WindowState {
  mutating func speak(_ intent: Intent) -> [Effect] {
    guard case .online(let m) = mode else { return refuse(.nobodyToTalkTo) }
    guard link != .none else { return refuse(.notConnected) }
    let later: [Effect] = link == .online ? [] : [.notice(text(.sentLater))]
    switch intent {
    case .say(let said):
      talk.unsent.append(said)
      return [.command(.say(m, said))]
    case .emote(let emote):
      talk.unsent.append(text(emote.phrase))
      return [.command(.emote(m, emote.rawValue))]
    case .setTalkMuted(let isMuted): return [.command(.mute(isMuted))] + later
    case .setBlocked(let isBlocked): return [.command(.block(talk.opponent, isBlocked))] + later
    default:
      reported = talk.opponent
      let said = talk.lines.last { $0.name == talk.opponent }?.text ?? ""
      return [.command(.report(m, said))] + later
    }
  }

  mutating func hear(_ name: String, _ said: String?, _ emote: String?, _ m: MatchID) -> [Effect] {
    let word = emote.map { code in Emote(rawValue: code).map { text($0.phrase) } ?? code }
    guard m == match, let said = said ?? word else { return [] }
    let isMine = name == network.you?.name
    if isMine, !talk.unsent.isEmpty { talk.unsent.removeFirst() }
    talk.lines.append(.init(name: name, text: said))
    guard page != .talk, !isMine else { return [] }
    talk.unread += 1
    return [.notice("\(name): \(said)")]
  }
}
