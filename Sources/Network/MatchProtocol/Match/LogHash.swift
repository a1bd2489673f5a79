import Base
import TicTacToe

/// A hash of all events of a match so far: h₀ = SHA-256(`alina1` ‖ m) with the match's id m, hₙ = SHA-256(hₙ₋₁ ‖ body of event n).
package struct LogHash: Sendable, Hashable {
  package let digest: SHA256.Digest

  package init(start m: MatchID) { digest = SHA256.hash(Array("alina1".utf8) + Array(m.rawValue.utf8)) }

  package init(digest: SHA256.Digest) { self.digest = digest }

  /// `body` has the event's bytes as stored and sent.
  package func adding(_ body: [UInt8]) -> LogHash {
    var next = SHA256()
    next.update(digest)
    next.update(body)
    return LogHash(digest: next.digest)
  }

  /// The first 32 hexadecimal digits, which go over the wire.
  package var short: String {
    let words = digest.words
    return String(unsafeUninitializedCapacity: 32) { out in
      for i in 0..<32 { out[i] = hexDigit(UInt8(truncatingIfNeeded: words[i / 8] >> UInt32(28 - 4 * (i % 8)) & 15)) }
      return 32
    }
  }
}
