import Base
import MatchProtocol

@testable import Lobby
@testable import MatchStore

/// Hints on their way between simulated nodes: lost, late, doubled and out of order.
extension Simulation {
  /// Tells some nodes something, as far as they live and listen.
  mutating func tell(_ names: [NodeID], _ text: String) {
    for name in names {
      guard let i = nodes.firstIndex(where: { $0.name == name && $0.lobby != nil }) else { continue }
      count("hint")
      if options.losesHints || !options.hintsArrive && random.below(20) == 0 { continue }
      let copies = !options.hintsArrive && random.below(20) == 0 ? 2 : 1
      for _ in 0..<copies {
        let late = random.below(20) == 0 ? 1500 : 20
        queue.set(.hint(i, text, life: nodes[i].life), at: now + 1 + Int64(random.below(late)))
      }
    }
  }

  /// A node hears a hint, if its subscription stands.
  mutating func hear(_ i: Int, _ text: String?) {
    guard nodes[i].lobby != nil, nodes[i].isListening || text == nil else { return }
    if text == nil { nodes[i].isListening = true }
    reduce(i, .hint(text))
  }

  /// A node hears nothing for a while.
  mutating func breakSubscription(_ i: Int) {
    guard nodes[i].lobby != nil, nodes[i].isListening else { return }
    count("deaf")
    nodes[i].isListening = false
    queue.set(.hint(i, nil, life: nodes[i].life), at: now + Int64(random.below(5000)))
  }
}
