import MatchProtocol

/// Counts the attempts (logins, codes, reports, tables) of each client address and account within the present minute. `now`: monotonic ms.
struct Tries: Sendable {
  private var minute: Int64 = 0
  private var counts: [String: Int] = [:]

  /// Counts an attempt of `what`, such as `login 203.0.113.7`; `false` if the attempt exceeds `limit` in the present minute.
  mutating func allow(_ what: String, atMost limit: Int, _ now: Int64) -> Bool {
    if minute != now / 60_000 { (minute, counts) = (now / 60_000, [:]) }
    counts[what, default: 0] += 1
    return counts[what, default: 0] <= limit
  }

  /// Takes an attempt off the count, because a failure of the server must not count against the client.
  private mutating func takeBack(_ what: String) { counts[what]? -= 1 }

  // MARK: codes of rooms and tournaments

  /// Counts an attempt with a code; throws beyond `most`.
  mutating func countCode(_ command: ClientCommand, atMost most: Int, _ now: Int64) throws(Refusal) {
    let allowed = command.tries("code").map { allow($0, atMost: most, now) }
    guard !allowed.contains(false) else { throw .tooManyCodeTries(most) }
  }

  /// The code was right: only wrong ones count.
  mutating func takeBackCode(_ command: ClientCommand) { for what in command.tries("code") { takeBack(what) } }

  /// Throws if no attempt is left in this minute. The caller counts the attempt once the code has proved wrong.
  func requireCode(_ command: ClientCommand, atMost most: Int, _ now: Int64) throws(Refusal) {
    let count = command.tries("code").map { minute == now / 60_000 ? counts[$0] ?? 0 : 0 }
    guard count.allSatisfy({ $0 < most }) else { throw .tooManyCodeTries(most) }
  }

  /// Throws if a player may not see a match: it began as a room, the player neither plays nor watches it, and its code is missing or wrong.
  /// With a code, also throws if no attempt is left, even if the code is right.
  mutating func requireMaySee(
    _ match: LiveMatch, _ code: String?, _ command: ClientCommand, atMost most: Int, _ now: Int64
  ) throws(Refusal) {
    if match.record.opener == nil || match.accounts.contains(command.account.id) { return }
    if let code {
      // Check this first: once the limit is reached, a right code must be answered like a wrong one.
      try requireCode(command, atMost: most, now)
      if let right = match.record.code, canonicalCode(code) == right { return }
      try countCode(command, atMost: most, now)
    }
    guard match.isWatched(by: command.id) else {
      throw Refusal(.notFound, "there is no such match, or it needs its code")
    }
  }

  // MARK: tables and reports

  /// Counts a whole table of a tournament, which has up to 40 KiB; throws beyond 60 a minute.
  mutating func countTable(_ command: ClientCommand, _ now: Int64) throws(Refusal) {
    guard allow("table \(command.account.id)", atMost: 60, now) else {
      throw Refusal(.rate, "at most 60 tables a minute")
    }
  }

  /// Counts a report; throws beyond two a minute from an account, or four from an address.
  mutating func countReport(_ command: ClientCommand, _ now: Int64) throws(Refusal) {
    let who = command.tries("report")
    guard allow(who[0], atMost: 2, now) else { throw Refusal(.rate, "at most two reports a minute") }
    // An address can have many guests, and their reports would hide all others from the administrators.
    guard who.count == 1 || allow(who[1], atMost: 4, now) else {
      takeBack(who[0])
      throw Refusal(.rate, "at most four reports a minute from one address")
    }
  }

  /// The server could not store the report.
  mutating func takeBackReport(_ command: ClientCommand) { for what in command.tries("report") { takeBack(what) } }
}

extension ClientCommand {
  /// The account and, for a client of another machine, the address, as which attempts are counted.
  fileprivate func tries(_ what: String) -> [String] {
    ["\(what) \(account.id)"] + (address.map { ["\(what) \($0)"] } ?? [])
  }
}
