import MatchStore

/// Which version of the log's language is in force: one row that only ever grows.
extension PostgresCluster {
  /// The version in force.
  static let language = PGStatement("language", "SELECT version FROM log_language")

  /// What every incarnation reads that may own a match or come back; see `ClusterStore.raiseLanguage`.
  private static let expected = """
    SELECT min(n.events) FROM node n WHERE n.lease_until > \(now) OR (
      n.lease_until > \(now) - \(comesBack) AND NOT n.has_left
        AND NOT EXISTS (SELECT 1 FROM node later WHERE later.name = n.name AND later.epoch > n.epoch))
    """
  /// What is in force and what could be.
  static let languages = PGStatement("languages", "SELECT version, (\(expected)) FROM log_language")

  private static let raise = PGStatement(
    once: "UPDATE log_language SET version = common.version FROM (\(expected)) AS common (version) "
      + "WHERE common.version > log_language.version")
  /// Puts all that a single server reads in force; it asks nobody.
  static let raiseAlone = PGStatement(
    once: "UPDATE log_language SET version = greatest(version, $1::bigint)")
  /// Builds of before there were versions do not look at them; what they look at is this.
  static let shutOut = PGStatement(
    once: "UPDATE schema SET min_reader = 3 WHERE min_reader < 3 AND (SELECT version FROM log_language) > 1")

  package func raiseLanguage() throws(StoreError) {
    try pool.transact { (transaction) throws(StoreError) in
      // Whoever joins meanwhile waits, and is counted or refused.
      try transaction.finish([PostgresCluster.joining(), PostgresCluster.raise(), PostgresCluster.shutOut()])
    }
  }

  /// Throws if this build cannot read what is in force.
  func checkLanguage() throws(StoreError) {
    let rows = try pool.run([PostgresCluster.language()])
    let inForce = Int(rows.first?.rows.first?.first?.int ?? 1)
    if inForce > reads { throw PostgresCluster.refusal(inForce: inForce, reads: reads, at: place) }
  }
}
