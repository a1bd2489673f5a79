import ClientModel
import WindowLogic
import MatchClient
import MatchProtocol
import Play
import Screen

extension Connection {
  /// A connection over sockets that reconnects by itself.
  init(
    to address: ServerAddress, name: String?, _ security: MatchClient.Configuration.Security,
    _ services: PlatformServices
  ) {
    let client = MatchClient(
      .init(
        address, security: security, identity: .init(client: "alina", written: name), folder: services.dataFolder()))
    client.onWake(services.wake)
    client.connect()
    self.init(
      poll: { client.poll() }, match: { client.match($0) }, perform: { client.perform($0) },
      disconnect: { client.disconnect() })
  }
}
