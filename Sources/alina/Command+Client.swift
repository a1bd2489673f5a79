import ClientModel
import Desk
import MatchClient
import MatchProtocol
import Play
import Screen

extension Command {
  /// Tells the server.
  func perform(on client: MatchClient) {
    switch self {
    case .seek(let terms): client.seek(terms)
    case .acceptBots: client.acceptBots()
    case .unseek: client.unseek()
    case .create(let terms): client.create(terms)
    case .join(let code): client.join(code)
    case .watch(let m, let code): client.watch(m, code: code)
    case .unwatch(let m): client.unwatch(m)
    case .list: client.ask(.list)
    case .register(let name): client.register(name)
    case .forget(let m): client.forget(m)
    case .move(let m, let square): client.move(m, square)
    case .resign(let m): client.resign(m)
    case .offerDraw(let m): client.offerDraw(m)
    case .answerDraw(let m, let accept): client.answerDraw(m, accept: accept)
    case .rematch(let m): client.rematch(m)
    case .abort(let m): client.abort(m)
    case .claim(let m): client.claim(m)
    case .say(let m, let text): client.say(m, text)
    case .emote(let m, let emote): client.emote(m, emote)
    case .mute(let isMuted): client.mute(isMuted)
    case .block(let name, let isBlocked): client.block(name, isBlocked)
    case .report(let m, let text): client.report(m, text)
    }
  }
}

extension Connection {
  /// A connection over sockets that heals itself.
  init(
    to address: ServerAddress, guest: String?, _ security: MatchClient.Configuration.Security,
    _ services: PlatformServices
  ) {
    var configuration = MatchClient.Configuration(
      host: address.host, port: address.port, security: security, identity: .init(client: "alina", guest: guest),
      folder: services.dataFolder())
    configuration.others = address.others.map { .init(host: $0.host, port: $0.port) }
    let client = MatchClient(configuration)
    client.onWake(services.wake)
    client.connect()
    self.init(
      poll: { client.poll() }, match: { client.match($0) }, perform: { $0.perform(on: client) },
      disconnect: { client.disconnect() })
  }
}
