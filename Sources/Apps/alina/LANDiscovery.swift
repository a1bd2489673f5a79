import ClientModel
import Interface
import WindowLogic
import Glibc

/// Finds and announces rooms on the local network, and runs the server of a room that this player opens.
final class LANDiscovery {
  private(set) var server: LocalServer?
  private(set) var rooms: [NetworkModel.Nearby] = []
  private var socket: BeaconSocket?

  func host(in folder: String) -> ServerAddress? {
    if server == nil { server = LocalServer(folder: folder) }
    let address = server?.address.flatMap(ServerAddress.init)
    if address == nil { server = nil }
    return address
  }

  func stop() { server?.stop() }

  /// `isLooking`: whether the player is looking for rooms of other players.
  func meet(_ network: NetworkModel, isLooking: Bool, at now: Double) {
    // Close the socket while nothing reads it. A later read would take the announcements received meanwhile for current ones.
    guard server != nil || isLooking else { return (socket, rooms) = (nil, []) }
    let socket = socket ?? BeaconSocket()
    self.socket = socket
    if case .room(let code) = network.phase, let port = server?.address?.split(separator: ":").last {
      socket.call(Announcement(port: Int(port) ?? 0, code: code, name: network.you?.name ?? ""), at: now)
    }
    rooms = socket.listen(at: now, except: server?.address)
  }
}

private final class BeaconSocket {
  private let handle: Int32
  private var neighbours = Neighbours()
  private var nextCall = 0.0

  init() {
    handle = socket(
      AF_INET, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
    var on: Int32 = 1
    let size = socklen_t(MemoryLayout<Int32>.size)
    // Share the port, so that several windows on one computer all receive the broadcasts.
    setsockopt(handle, SOL_SOCKET, SO_REUSEADDR, &on, size)
    setsockopt(handle, SOL_SOCKET, SO_BROADCAST, &on, size)
    var everywhere = sockaddr_in(address: 0, port: Announcement.port)
    _ = everywhere.pass { bind(handle, $0, $1) }
  }

  deinit { close(handle) }

  func call(_ announcement: Announcement, at now: Double) {
    guard now >= nextCall else { return }
    nextCall = now + Announcement.interval
    let bytes = announcement.bytes
    var everybody = sockaddr_in(address: 0xFFFF_FFFF, port: Announcement.port)
    _ = everybody.pass { sendto(handle, bytes, bytes.count, 0, $0, $1) }
  }

  func listen(at now: Double, except own: String?) -> [NetworkModel.Nearby] {
    var bytes = [UInt8](repeating: 0, count: 256)
    var from = sockaddr_in()
    for _ in 0..<64 {
      let count = from.pass { recvfrom(handle, &bytes, bytes.count, 0, $0, &$1) }
      guard count > 0 else { break }
      if let announcement = Announcement(bytes.prefix(count)) {
        neighbours.hear(announcement, from: from.host, at: now)
      }
    }
    return neighbours.rooms(at: now).filter { $0.address != own }
  }
}

extension sockaddr_in {
  /// `address` is in network byte order.
  init(address: in_addr_t, port: UInt16) {
    self.init()
    sin_family = sa_family_t(AF_INET)
    sin_port = port.bigEndian
    sin_addr.s_addr = address
  }

  /// A call such as `recvfrom` overwrites the address.
  mutating func pass<T>(_ call: (UnsafeMutablePointer<sockaddr>, inout socklen_t) -> T) -> T {
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    return withUnsafeMutablePointer(to: &self) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { call($0, &size) }
    }
  }

  var host: String { String(cString: inet_ntoa(sin_addr)) }
}
