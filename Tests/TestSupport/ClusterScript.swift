import Foundation

/// PostgreSQL and nodes of the match server as processes, by `scripts/cluster`, which ends them when this goes.
package final class ClusterScript {
  private let script: Child
  /// Where each node listens for clients, `HOST:PORT`, n1 first.
  package private(set) var nodes: [String] = []
  /// The database's.
  package private(set) var url = ""
  /// The temporary folder, with the nodes' logs.
  package private(set) var folder = ""

  /// What the script could not do.
  package struct Failed: Error, CustomStringConvertible {
    package let description: String
  }

  /// Whether this machine lets each node have a network namespace of its own, so that its way to the database can be cut.
  package static let hasNamespaces = (try? Child.run([path(of: "namespaces")]))?.status == 0

  private static func path(of script: String) -> String { repository.appending(path: "scripts/\(script)").path }

  /// Starts them with a program; `learned` is called when the database's URL is known and before the nodes start, then with
  /// each node's.
  package init(
    server: String, nodes count: Int = 3, namespaces: Bool = false, flags: [String] = [],
    environment: [String: String] = [:], learned: (ClusterScript) -> Void = { _ in }
  ) throws {
    script = try Child(
      [Self.path(of: "cluster"), "--nodes", "\(count)"] + (namespaces ? ["--namespaces"] : []) + ["--"] + flags,
      environment: environment.merging(["ALINA_SERVER": server]) { given, _ in given }, input: .pipe, output: .pipe,
      errors: .ours)
    while let line = script.line(), !line.hasPrefix("connect ") {
      let words = line.split(separator: " ")
      switch words.first {
      case "folder":
        folder = String(words[1])
        continue
      case "url": url = String(words[1])
      case "node" where words.count == 5: nodes.append(String(words[2]))
      default: continue
      }
      learned(self)
    }
    guard nodes.count == count else { throw Failed(description: "scripts/cluster did not start") }
  }

  deinit {
    try? script.input.close()
    _ = try? script.wait()
  }

  /// Gives an order, waits until it is carried out, and gives what is printed meanwhile.
  @discardableResult package func order(_ order: String) throws -> [String] {
    try script.input.write(contentsOf: Data((order + "\n").utf8))
    var printed: [String] = []
    while let line = script.line() {
      if line == "done" { return printed }
      if line.hasPrefix("failed") { throw Failed(description: "scripts/cluster \(order): \(line)") }
      printed.append(line)
    }
    throw Failed(description: "scripts/cluster ended at \(order)")
  }

  /// Of each node whether it is ready, and how many nodes live as it knows; or why it does not say.
  package func states() throws -> [String] {
    try nodes.indices.map { i in
      let said = try order("status n\(i + 1)")
      let shown = said.filter { $0.hasPrefix("ready:") || $0.hasPrefix("nodes alive:") }
      return (shown.isEmpty ? said : shown).joined(separator: ", ")
    }
  }

  /// Whether each node is ready and knows all others, by what `states` says.
  package func isWhole(_ states: [String]) -> Bool {
    states.allSatisfy { $0 == "ready: yes, nodes alive: \(nodes.count)" }
  }
}
