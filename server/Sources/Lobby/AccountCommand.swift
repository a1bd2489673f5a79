import Base
import MatchProtocol
import MatchStore

/// A player's command to change the player's own account.
struct AccountCommand: Sendable {
  let change: AccountChange
  /// The new token, to be sent to the player once the store has the change.
  var token: String?

  /// Throws if the command is refused before the store is asked.
  init(_ command: ClientCommand, _ configuration: LobbyConfiguration, _ random: inout Entropy) throws(Refusal) {
    let account = command.account
    switch command.line.message {
    case .register(let name):
      // A player who registers the present name again has missed the answer with the token, and gets a new token.
      guard account.guest || account.name.lowercased() == name.lowercased() else {
        throw Refusal(.forbidden, "you are \(account.name) already")
      }
      try PlayerName.check(name)
      let quota = (account.guest ? command.address : nil).map {
        NameQuota(address: Secret.digest($0), most: configuration.namesPerDay)
      }
      let fresh = Secret.make(from: &random)
      token = fresh
      change = .register(name: name, token: Secret.digest(fresh), lives: configuration.lives.account, quota: quota)
    case .token(.rotate):
      let fresh = Secret.make(from: &random)
      token = fresh
      change = .token(Secret.digest(fresh), lives: configuration.lives.account)
    case .token(.revoke): change = .revoke(keep: command.session.id)
    case .mute(let on): change = .quiet(on)
    case .block(let name, let on): change = .block(name: name, on: on)
    default: preconditionFailure("not a command about accounts")
    }
  }
}
