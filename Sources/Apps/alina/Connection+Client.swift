import ClientModel
import WindowLogic
import MatchClient
import MatchProtocol
import Play
import Screen

extension Connection {
  init(
    to address: ServerAddress, name: String?, newToken: String?, _ security: MatchClient.Configuration.Security,
    _ services: PlatformServices
  ) {
    let identity = ClientModel.Identity(client: "alina", newToken: newToken, guest: name)
    let folder = services.dataFolder()
    let client = MatchClient(
      .init(address, security: security, identity: identity, folder: folder.isEmpty ? nil : folder))
    client.onWake(services.wake)
    client.connect()
    self.init(
      poll: { client.poll() }, match: { client.match($0) }, perform: { client.perform($0) },
      disconnect: { client.disconnect() })
  }
}
