import Foundation

/// PostgreSQL and server nodes as processes, run by `scripts/cluster`, which ends them when this object is released.
package final class ClusterScript {
  private let script: Child
  /// `HOST:PORT` for clients, n1 first.
  package private(set) var nodes: [String] = []
  package private(set) var url = ""
  /// The nodes' logs are in this folder.
  package private(set) var folder = ""

  package struct Failed: Error, CustomStringConvertible {
    package let description: String
  }

  /// Each node has a network namespace of its own, if these work here, so that its connection to the database can be cut.
  package static let hasNamespaces = (try? Child.run([path(of: "namespaces")]))?.status == 0

  private static func path(of script: String) -> String { repository.appending(path: "scripts/\(script)").path }

  /// Calls `learned` once the database's URL is known, before the nodes start, and then once for each node's address.
  package init(
    server: String, nodes count: Int = 3, namespaces: Bool = false, flags: [String] = [],
    environment: [String: String] = [:], learned: (ClusterScript) -> Void = { _ in }
  ) throws {
    _ = TestPassword.postgres
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

  /// Gives the script an order such as `kill n1`, and waits until it is carried out.
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

  /// Each node's readiness and the number of live nodes that it knows, or the reason why it does not answer.
  package func states() throws -> [String] {
    try nodes.indices.map { i in
      let said = try order("status n\(i + 1)")
      let shown = said.filter { $0.hasPrefix("ready:") || $0.hasPrefix("nodes alive:") }
      return (shown.isEmpty ? said : shown).joined(separator: ", ")
    }
  }

  package func isWhole(_ states: [String]) -> Bool {
    states.allSatisfy { $0 == "ready: yes, nodes alive: \(nodes.count)" }
  }
}

/// The password of the tests' databases. Without one every user of this machine could run programs as the databases' superuser.
package enum TestPassword {
  /// libpq and `scripts/postgres` find the password in the environment.
  package static let postgres: String = {
    if let given = ProcessInfo.processInfo.environment["PGPASSWORD"] { return given }
    let fresh = UUID().uuidString
    setenv("PGPASSWORD", fresh, 1)
    return fresh
  }()
}
