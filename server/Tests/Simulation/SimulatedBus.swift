import Base
import MatchProtocol

@testable import Lobby
@testable import MatchStore

extension Simulation {
  mutating func tell(_ names: [NodeID], _ text: String) {
    for name in names {
      guard let i = nodes.firstIndex(where: { $0.name == name && $0.lobby != nil }) else { continue }
      count("notification")
      if options.losesNotifications || !options.notificationsArrive && random.below(20) == 0 { continue }
      let copies = !options.notificationsArrive && random.below(20) == 0 ? 2 : 1
      for _ in 0..<copies {
        let late = random.below(20) == 0 ? 1500 : 20
        queue.set(.notification(i, text, life: nodes[i].life), at: now + 1 + Int64(random.below(late)))
      }
    }
  }

  /// Delivers a notification to a subscribed node; `nil` as `text` subscribes the node.
  mutating func hear(_ i: Int, _ text: String?) {
    guard nodes[i].lobby != nil, nodes[i].isListening || text == nil else { return }
    if text == nil { nodes[i].isListening = true }
    reduce(i, .notification(text))
  }

  mutating func breakSubscription(_ i: Int) {
    guard nodes[i].lobby != nil, nodes[i].isListening else { return }
    count("deaf")
    nodes[i].isListening = false
    queue.set(.notification(i, nil, life: nodes[i].life), at: now + Int64(random.below(5000)))
  }
}
