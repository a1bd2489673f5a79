import Foundation

/// PostgreSQL and server nodes as processes, run by `scripts/cluster`, which ends them when this object is released.
package final class ClusterScript {
  private let script: Child
  /// The nodes' addresses for clients, `HOST:PORT`, n1 first.
  package private(set) var nodes: [String] = []
  /// The database's URL.
  package private(set) var url = ""
  /// The temporary folder with the nodes' logs.
  package private(set) var folder = ""

  /// An order that the script could not carry out.
  package struct Failed: Error, CustomStringConvertible {
    package let description: String
  }

  /// Whether network namespaces work here. Each node then has its own, so that its connection to the database can be cut.
  package static let hasNamespaces = (try? Child.run([path(of: "namespaces")]))?.status == 0

  private static func path(of script: String) -> String { repository.appending(path: "scripts/\(script)").path }

  /// Starts the cluster; `learned` is called once the database's URL is known, before the nodes start, and then once for each node's
  /// address.
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

  /// Gives the script an order such as `kill n1`, waits until it is carried out, and returns its output.
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

  /// For each node its readiness and the number of live nodes it knows, or the reason it does not answer.
  package func states() throws -> [String] {
    try nodes.indices.map { i in
      let said = try order("status n\(i + 1)")
      let shown = said.filter { $0.hasPrefix("ready:") || $0.hasPrefix("nodes alive:") }
      return (shown.isEmpty ? said : shown).joined(separator: ", ")
    }
  }

  /// Whether each node is ready and knows all others, given the result of `states`.
  package func isWhole(_ states: [String]) -> Bool {
    states.allSatisfy { $0 == "ready: yes, nodes alive: \(nodes.count)" }
  }
}

/// The password of the tests' databases. Without one every user of this machine could run programs as the databases' superuser.
package enum TestPassword {
  /// A random password, put into the environment, where libpq and `scripts/postgres` of this process and its children find it.
  package static let postgres: String = {
    if let given = ProcessInfo.processInfo.environment["PGPASSWORD"] { return given }
    let fresh = UUID().uuidString
    setenv("PGPASSWORD", fresh, 1)
    return fresh
  }()
}
