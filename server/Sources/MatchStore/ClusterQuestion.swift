import MatchProtocol
import TicTacToe

/// What a lobby wants of the store that its node shares with others: the calls of `ClusterStore` as values.
package enum ClusterQuestion: Sendable, Hashable {
  case renew(lease: Int64)
  case raise
  case takeOver(limit: Int)
  case enter(Entry)
  case settle(session: String, generation: Int64)
  case detach(session: String, generation: Int64)
  case change(AccountReference, AccountChange)
  case profile(Int64)
  case place(MatchID)
  case placeOfCode(String)
  case begin(MatchBegin)
  case top(Variant, limit: Int)
  case live(limit: Int)
  case clean

  /// Whether not knowing if it was carried out leaves the lobby not knowing what it owns.
  package var mustBeKnown: Bool {
    switch self {
    case .begin, .takeOver: true
    default: false
    }
  }
}

package enum ClusterAnswer: Sendable, Hashable {
  case done
  case renewed(Renewal?)
  case adoptions([Adoption])
  case entry(EntryResult)
  case change(ChangeResult)
  case profile(Profile?)
  case place(MatchPlace?)
  case begin(BeginResult)
  case accounts([AccountRecord])
  case matches([StoredMatch])
}

/// The incarnation that asks. Its question may wait until there is another one, which must not own what it takes.
@TaskLocal package var asking: Int64?

extension ClusterStore {
  package func answer(_ question: ClusterQuestion) throws(StoreError) -> ClusterAnswer {
    switch question {
    case .renew(let lease): return .renewed(try renew(lease: lease))
    case .raise: try raiseLanguage()
    case .takeOver(let limit): return .adoptions(try takeOver(limit: limit))
    case .enter(let entry): return .entry(try enter(entry))
    case .settle(let session, let generation): try settle(session: session, generation: generation)
    case .detach(let session, let generation): try detach(session: session, generation: generation)
    case .change(let who, let what): return .change(try change(who, what))
    case .profile(let account): return .profile(try profile(account))
    case .place(let m): return .place(try place(m))
    case .placeOfCode(let code): return .place(try place(code: code))
    case .begin(let begun): return .begin(try begin(begun))
    case .top(let rules, let limit): return .accounts(try top(rules, limit: limit))
    case .live(let limit): return .matches(try live(limit: limit))
    case .clean: try clean()
    }
    return .done
  }
}
