/// Keeps a wrong clock from deleting all finished matches.
///
/// A store deletes old matches only if another match has an age within `evidence`. To a clock that is more than 30 days ahead no match has
/// such an age, until a match has ended by this clock and a day has passed. A server that was really off for so long waits for the same.
package enum Pruning {
  private static let day: Int64 = 86_400_000

  /// Milliseconds since the end of a match.
  package static let evidence = day...30 * day
}

extension StoreError {
  package static let clockIsDoubtful = StoreError.failed(
    "no match ended between 1 and 30 days ago by the database's clock; if the clock is right, "
      + "the deletion begins a day after the end of the next match")
}
