import Base
import MatchProtocol
import MatchStore

/// The secrets and the store's command of a `hello`: a new guest, an account's token or a session to resume.
struct LoginAttempt: Sendable {
  let hello: ClientMessage.Hello
  /// The token of a new guest; `nil` for a client that has an account.
  let token: String?
  /// The secret with which the session can be resumed the next time.
  let resume: String
  let entry: Login

  init(_ hello: ClientMessage.Hello, _ lives: Lifetimes, _ random: inout Entropy) {
    self.hello = hello
    token = hello.resume ?? hello.token == nil ? Lobby.makeToken(from: &random) : nil
    resume = Lobby.makeToken(from: &random)
    let session = hello.resume == nil ? crockford(bits: random.next(), count: 10, lowercase: true) : ""
    let fresh = Lobby.digest(resume)
    if let presented = hello.resume {
      entry = .resume(presented: Lobby.digest(presented), fresh: fresh, lives: lives)
    } else if let known = hello.token {
      entry = .token(Lobby.digest(known), session: session, resume: fresh, lives: lives)
    } else {
      // The store takes the first free name of these: the client's wish, the wish with a number from 2 to 5, five random names.
      let liked = hello.guest.map(PlayerName.guest) ?? ""
      let numbered = liked.isEmpty ? [] : [liked] + (2...5).map { "\(liked.prefix(11))-\($0)" }
      let chance = (0...4).map { String(session.dropFirst($0).prefix(6)) }
      entry = .guest(
        names: (numbered + chance).map { "guest-" + $0 }, token: Lobby.digest(token ?? ""), session: session,
        resume: fresh, lives: lives)
    }
  }

  /// The refusal and the reason of the closing, if the store knows neither the token nor the session.
  var unknown: (refusal: Refusal, closing: String) {
    hello.resume != nil
      ? (
        Refusal(.auth, "this session is not known any more; say hello with your token, or as a guest"),
        "unknown session"
      )
      : (Refusal(.auth, "this token is unknown, expired or revoked"), "unknown token")
  }
}

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

extension Lobby {
  /// 300 random bits as 60 base-32 digits.
  package static func makeToken(from random: inout Entropy) -> String {
    (0..<5).map { _ in crockford(bits: random.next(), count: 12, lowercase: true) }.joined()
  }

  package static func digest(_ token: String) -> SHA256.Digest { SHA256.hash(Array(token.utf8)) }
}
