import Base
import MatchProtocol

/// Secrets of clients, most of them made by the server. The store keeps only their digests.
package enum Secret {
  /// 300 random bits as 60 base-32 digits.
  package static func make(from random: inout Entropy) -> String {
    (0..<5).map { _ in crockford(bits: random.next(), count: 12, lowercase: true) }.joined()
  }

  package static func digest(_ secret: String) -> SHA256.Digest { SHA256.hash(Array(secret.utf8)) }
}
