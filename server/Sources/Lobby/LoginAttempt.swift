import Base
import MatchProtocol
import MatchStore

/// A `hello` that is being handled: new secrets for the client, and the login for the store.
struct LoginAttempt: Sendable {
  let hello: ClientMessage.Hello
  /// The token of a new guest; `nil` for a client that has an account.
  let token: String?
  /// The secret with which the session can be resumed the next time.
  let resume: String
  let login: Login

  init(_ hello: ClientMessage.Hello, _ lives: Lifetimes, _ random: inout Entropy) {
    self.hello = hello
    token = hello.resume ?? hello.token == nil ? Lobby.makeToken(from: &random) : nil
    resume = Lobby.makeToken(from: &random)
    let fresh = Lobby.digest(resume)
    if let presented = hello.resume {
      login = .resume(presented: Lobby.digest(presented), fresh: fresh, lives: lives)
      return
    }
    let session = crockford(bits: random.next(), count: 10, lowercase: true)
    if let token {
      // The store takes the first free name of these: the client's wish, the wish with a number from 2 to 5, five random names.
      let liked = hello.guest.map(PlayerName.guest) ?? ""
      let numbered = liked.isEmpty ? [] : [liked] + (2...5).map { "\(liked.prefix(11))-\($0)" }
      let chance = (0...4).map { String(session.dropFirst($0).prefix(6)) }
      login = .guest(
        names: (numbered + chance).map { "guest-" + $0 }, token: Lobby.digest(token), session: session, resume: fresh,
        lives: lives)
    } else {
      login = .token(Lobby.digest(hello.token ?? ""), session: session, resume: fresh, lives: lives)
    }
  }

  /// The refusal, and the text of the `bye` after it, if the store knows neither the token nor the session.
  var refusalIfUnknown: (refusal: Refusal, byeText: String) {
    if hello.resume != nil {
      let text = "this session is not known any more; say hello with your token, or as a guest"
      return (Refusal(.auth, text), "unknown session")
    }
    return (Refusal(.auth, "this token is unknown, expired or revoked"), "unknown token")
  }
}
