/// The address of a match server as users type it: one node, or several separated by commas.
package struct ServerAddress: Sendable, Hashable, CustomStringConvertible {
  package struct Node: Sendable, Hashable, CustomStringConvertible {
    private static let standardPort = 4664

    package let host: String
    package let port: Int

    package init(host: String, port: Int = standardPort) { (self.host, self.port) = (host, port) }

    /// Reads `HOST`, `HOST:PORT` or `[::1]:PORT`.
    package init?(_ text: some StringProtocol) {
      var rest = Substring(text)
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
        port = Node.standardPort
        return
      }
      guard let number = Int(rest.dropFirst()), (1...65_535).contains(number) else { return nil }
      port = number
    }

    /// By the text alone: `127.example.org` is a name, which may be anywhere.
    package var isLoopback: Bool {
      host == "localhost" || host == "::1"
        || host.hasPrefix("127.") && host.utf8.allSatisfy { $0 == UInt8(ascii: ".") || (0x30...0x39).contains($0) }
    }

    package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
  }

  package static let form = "HOST or HOST:PORT, the port 1 to 65535, or several with commas between them"

  package let first: Node
  /// Nodes of the same server, tried in turn when the first cannot be reached.
  package let others: [Node]

  package init(_ first: Node, others: [Node] = []) { (self.first, self.others) = (first, others) }

  package init?(_ text: String) {
    var nodes: [Node] = []
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      guard let node = Node(part.drop(while: { $0 == " " })) else { return nil }
      nodes.append(node)
    }
    guard let first = nodes.first else { return nil }
    self.init(first, others: Array(nodes.dropFirst()))
  }

  package var description: String { ([first] + others).map { $0.description }.joined(separator: ",") }
}
