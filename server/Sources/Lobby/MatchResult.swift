import Base
import MatchProtocol
import MatchStore
import TicTacToe

/// The results and ratings that the end of a match adds to its players' accounts.
struct MatchResult {
  private(set) var scores: [AccountScore] = []
  /// The changes of both players' ratings; `nil` if the match does not count for them.
  private(set) var changes: Sides<MatchEvent.RatingChange>?

  /// Without an outcome, a match adds nothing.
  init(of match: LiveMatch, _ outcome: Outcome?, _ accounts: Accounts, at wall: Int64) {
    guard let outcome, let x = match.record.x, let o = match.record.o else { return }
    let rules = match.state.terms.rules
    var both = Sides(x: AccountScore(account: x, rules), o: AccountScore(account: o, rules))
    for side in Player.allCases {
      switch outcome {
      case .draw: both[side].drawn = 1
      case .win(side): both[side].won = 1
      default: both[side].lost = 1
      }
    }
    if match.state.terms.rated, let x = accounts[x], let o = accounts[o] {
      changes = MatchResult.rate(Sides(x: x[rules], o: o[rules]), outcome, &both, at: wall)
    }
    scores = [both.x, both.o].sorted { $0.account < $1.account }
  }

  private static func rate(
    _ before: Sides<Standing>, _ outcome: Outcome, _ scores: inout Sides<AccountScore>, at wall: Int64
  ) -> Sides<MatchEvent.RatingChange> {
    func aged(_ standing: Standing) -> Glicko2.Rating {
      standing.ratedAt == 0
        ? standing.rating : standing.rating.aged(days: Double(max(0, wall - standing.ratedAt)) / 86_400_000)
    }
    let old = Sides(x: aged(before.x), o: aged(before.o))
    func change(_ side: Player) -> MatchEvent.RatingChange {
      let score = outcome == .draw ? 0.5 : outcome == .win(side) ? 1 : 0
      let new = Glicko2.rate(old[side], [(old[side.opponent], score)])
      (scores[side].rating, scores[side].ratedAt) = (new, wall)
      scores[side].replacedRating = before[side].rating
      return .init(before: Int(before[side].rating.value.rounded()), after: Int(new.value.rounded()))
    }
    return Sides(x: change(.x), o: change(.o))
  }
}
