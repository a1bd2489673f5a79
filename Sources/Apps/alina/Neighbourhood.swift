import ClientModel
import Interface
import WindowLogic
import Glibc

/// Rooms on this network: the server of this machine where one runs, and the socket on which others are heard of.
final class Neighbourhood {
  private(set) var server: LocalServer?
  private(set) var rooms: [NetworkModel.Nearby] = []
  private var socket: BeaconSocket?

  /// Serves on this machine; nil where that fails.
  func host(in folder: String) -> ServerAddress? {
    if server == nil { server = LocalServer(folder: folder) }
    let address = server?.address.flatMap(ServerAddress.init)
    if address == nil { server = nil }
    return address
  }

  /// Ends what is served here.
  func stop() { server?.stop() }

  /// Tells of the own room, and hears of others while somebody looks for them.
  func meet(_ network: NetworkModel, isLooking: Bool, at now: Double) {
    // A socket that stays open would keep old datagrams, which count as new when they are read.
    guard server != nil || isLooking else { return (socket, rooms) = (nil, []) }
    let socket = socket ?? BeaconSocket()
    self.socket = socket
    if case .room(let code) = network.phase, let port = server?.address?.split(separator: ":").last {
      socket.call(Beacon(port: Int(port) ?? 0, code: code, name: network.you?.name ?? ""), at: now)
    }
    rooms = socket.listen(at: now, except: server?.address)
  }
}

/// The socket of beacons; never blocks.
private final class BeaconSocket {
  private let handle: Int32
  private var neighbours = Neighbours()
  private var nextCall = 0.0

  init() {
    handle = socket(
      AF_INET, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
    var on: Int32 = 1
    let size = socklen_t(MemoryLayout<Int32>.size)
    // Two windows of one machine both listen.
    setsockopt(handle, SOL_SOCKET, SO_REUSEADDR, &on, size)
    setsockopt(handle, SOL_SOCKET, SO_BROADCAST, &on, size)
    var everywhere = sockaddr_in(address: 0, port: Beacon.port)
    _ = everywhere.pass { bind(handle, $0, $1) }
  }

  deinit { close(handle) }

  /// Calls out a room every two seconds.
  func call(_ beacon: Beacon, at now: Double) {
    guard now >= nextCall else { return }
    nextCall = now + Beacon.interval
    let bytes = beacon.bytes
    var everybody = sockaddr_in(address: 0xFFFF_FFFF, port: Beacon.port)
    _ = everybody.pass { sendto(handle, bytes, bytes.count, 0, $0, $1) }
  }

  /// Whoever has called lately, but for ourselves.
  func listen(at now: Double, except own: String?) -> [NetworkModel.Nearby] {
    var bytes = [UInt8](repeating: 0, count: 256)
    var from = sockaddr_in()
    for _ in 0..<64 {
      let count = from.pass { recvfrom(handle, &bytes, bytes.count, 0, $0, &$1) }
      guard count > 0 else { break }
      if let beacon = Beacon(bytes.prefix(count)) { neighbours.hear(beacon, from: from.host, at: now) }
    }
    return neighbours.rooms(at: now).filter { $0.address != own }
  }
}

extension sockaddr_in {
  /// A place of IPv4; the address is in the order of the network.
  init(address: in_addr_t, port: UInt16) {
    self.init()
    sin_family = sa_family_t(AF_INET)
    sin_port = port.bigEndian
    sin_addr.s_addr = address
  }

  /// Passes it to a call of the system, which may put another in its place.
  mutating func pass<T>(_ call: (UnsafeMutablePointer<sockaddr>, inout socklen_t) -> T) -> T {
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    return withUnsafeMutablePointer(to: &self) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { call($0, &size) }
    }
  }

  /// The address with its dots.
  var host: String { String(cString: inet_ntoa(sin_addr)) }
}
