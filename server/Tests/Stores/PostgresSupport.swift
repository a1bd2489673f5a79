import Foundation
import MatchProtocol
import Synchronization
import TestSupport
import Testing

@testable import MatchStore

func event(_ seq: Int, _ text: String = "") -> [UInt8] {
  Array(#"{"k":"confirm","at":\#(seq),"side":"x"}\#(text)"#.utf8)
}

func move(_ m: MatchID, after: Int, _ text: String = "") -> StoreUnit {
  StoreUnit(logs: [.init(m, after: after, [event(after + 1, text)])])
}

func beginning(_ m: MatchID, x: Int64? = nil, o: Int64? = nil, nodes: [NodeID] = ["a"]) -> StoreUnit {
  StoreUnit(logs: [
    .init(m, after: 0, [event(1)], record: MatchRecord(id: m, x: x, o: o, created: 5), nodes: nodes)
  ])
}

extension MatchStore {
  func apply(_ unit: StoreUnit) -> Verdict { apply([unit])[0] }
  func appliesAll(_ units: [StoreUnit]) -> Bool { apply(units).allSatisfy(\.isApplied) }
  func length(_ m: MatchID) throws -> Int? { try match(m)?.bodies.count }
}

extension Verdict {
  var isUnknown: Bool { if case .unknown = self { true } else { false } }
  var isFailed: Bool { if case .failed = self { true } else { false } }
  var isApplied: Bool { if case .applied = self { true } else { false } }
}

/// Runs a function on a thread of its own.
final class Work<T: Sendable>: Sendable {
  let result = Mutex<T?>(nil)

  init(_ body: @escaping @Sendable () -> T) {
    Thread { [result = self] in
      let value = body()
      result.result.withLock { $0 = value }
    }.start()
  }

  /// The body must end within 20 s.
  func value() throws -> T {
    _ = eventually(within: 20) { result.withLock { $0 != nil } }
    return try #require(result.withLock { $0 })
  }
}
