import Base
import MatchProtocol

/// The names of players.
enum PlayerName {
  private static let reserved: Set<String> = [
    "admin", "administrator", "alina", "bot", "guest", "me", "moderator", "null", "operator", "root", "server", "staff",
    "support", "system", "undefined", "you",
  ]

  /// Throws if a name cannot be registered.
  static func check(_ name: String) throws(Refusal) {
    guard isToken(name, Limits.name) else {
      throw Refusal(
        .name, "a name has \(Limits.name.lowerBound)–\(Limits.name.upperBound) characters A–Z, a–z, 0–9, _ or -")
    }
    let lower = name.lowercased()
    // Names of deleted accounts begin with `deleted-`.
    if reserved.contains(lower) || ["guest-", "deleted-"].contains(where: lower.hasPrefix) {
      throw Refusal(.name, "the name \(name) is reserved")
    }
  }

  /// A guest's name made from a wish, at most 13 characters: spaces become hyphens, letters lose accents, other characters are dropped.
  static func guest(_ wish: String) -> String {
    let words = wish.split(separator: " ").map { word in
      word.unicodeScalars.map { scalar in
        if isToken(String(scalar), 1...1) { return String(scalar) }
        // An accented letter has a name such as LATIN SMALL LETTER E WITH ACUTE.
        let parts = scalar.properties.name?.split(separator: " ") ?? []
        guard parts.count > 4, parts[0] == "LATIN", parts[2] == "LETTER", parts[3].utf8.count == 1 else { return "" }
        return parts[1] == "SMALL" ? parts[3].lowercased() : String(parts[3])
      }.joined()
    }
    return String(words.joined(separator: "-").prefix(13))
  }
}
