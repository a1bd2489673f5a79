import Base
import Interface

/// A broadcast datagram that announces a room on the local network: `alina 1 PORT CODE NAME`. Unlike mDNS a broadcast needs no daemon.
package struct Announcement: Sendable, Hashable {
  /// The UDP port of announcements: the number after the servers' TCP port, 4664.
  package static let port: UInt16 = 4665
  /// Seconds between two datagrams, and seconds without a datagram after which a room is dropped.
  package static let (interval, lifetime) = (2.0, 7.0)

  package var port: Int
  package var code: String
  /// The name of the room's owner.
  package var name: String

  package init(port: Int, code: String, name: String) { (self.port, self.code, self.name) = (port, code, name) }

  package var bytes: [UInt8] { Array("alina 1 \(port) \(code) \(name)".utf8) }

  package init?(_ bytes: some Collection<UInt8>) {
    guard bytes.count <= 200, let text = String(validating: Array(bytes), as: UTF8.self) else { return nil }
    let parts = text.unicodeScalars.split(separator: " ", maxSplits: 4, omittingEmptySubsequences: false)
      .map { Substring($0) }
    guard parts.count == 5, parts[0] == "alina", parts[1] == "1", let port = Int(parts[2]), (1...65_535).contains(port),
      (1...16).contains(parts[3].count), parts[3].allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber) }),
      (1...40).contains(parts[4].count), !parts[4].unicodeScalars.contains(where: { $0.isControl })
    else { return nil }
    self.init(port: port, code: String(parts[3]), name: String(parts[4]))
  }
}

/// The rooms announced recently.
package struct Neighbours: Sendable {
  private var heard: [NetworkModel.Nearby: Double] = [:]

  package init() {}

  package mutating func hear(_ beacon: Announcement, from host: String, at now: Double) {
    let room = NetworkModel.Nearby(address: "\(host):\(beacon.port)", code: beacon.code, name: beacon.name)
    // At most 32 rooms, so that a program that floods the network cannot fill the memory and the list.
    guard heard[room] != nil || heard.count < 32 else { return }
    heard[room] = now
  }

  package mutating func rooms(at now: Double) -> [NetworkModel.Nearby] {
    heard = heard.filter { now - $0.value < Announcement.lifetime }
    return heard.keys.sorted { ($0.name, $0.address, $0.code) < ($1.name, $1.address, $1.code) }
  }
}
