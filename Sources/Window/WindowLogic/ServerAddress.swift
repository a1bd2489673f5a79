/// Where a match server is, as people write it: `HOST`, `HOST:PORT`, `[::1]:PORT`, or several nodes of one server with commas.
package struct ServerAddress: Sendable, Hashable, CustomStringConvertible {
  /// Where servers listen unless told otherwise.
  package static let standardPort = 4664

  /// The host's name or address.
  package var host: String
  package var port: Int
  /// Other nodes of the same server, tried when the first cannot be reached.
  package var others: [ServerAddress] = []

  /// Reads an address, or several with commas between them; nil where one is none.
  package init?(_ text: String) {
    var nodes: [ServerAddress] = []
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      guard let node = ServerAddress(node: part.drop(while: { $0 == " " })) else { return nil }
      nodes.append(node)
    }
    guard let first = nodes.first else { return nil }
    self = first
    others = Array(nodes.dropFirst())
  }

  private init?(node text: Substring) {
    var rest = text
    if rest.first == "[" {
      guard let end = rest.firstIndex(of: "]") else { return nil }
      host = String(rest[rest.index(after: rest.startIndex)..<end])
      rest = rest[rest.index(after: end)...]
      guard rest.isEmpty || rest.first == ":" else { return nil }
    } else {
      // Two colons and no brackets: an IPv6 address without a port.
      let isBare6 = rest.filter { $0 == ":" }.count > 1
      let end = isBare6 ? rest.endIndex : rest.firstIndex(of: ":") ?? rest.endIndex
      host = String(rest[..<end])
      rest = rest[end...]
    }
    guard !host.isEmpty, host.allSatisfy({ $0.isASCII && !$0.isWhitespace && $0 != "/" }) else { return nil }
    guard !rest.isEmpty else {
      port = ServerAddress.standardPort
      return
    }
    guard let number = Int(rest.dropFirst()), (1...65_535).contains(number) else { return nil }
    port = number
  }

  package var description: String {
    let first = host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    return ([first] + others.map { $0.description }).joined(separator: ",")
  }
}
