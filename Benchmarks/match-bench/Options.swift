import Foundation

func complain(_ text: String) { FileHandle.standardError.write(Data("match-bench: \(text)\n".utf8)) }

struct Options {
  static let names = [
    "echo", "redis", "memory", "durable", "cluster", "pairing", "event", "latency", "across", "flood", "idle",
    "idle-tls",
  ]
  static let help = """
    match-bench SERVER [--cluster SCRIPT] [--seconds N] [--matches N] [--idle N] [--only NAME,…]

    Measures SERVER, an alina-server binary, over loopback with its real protocol, and prints a table with ratios to a bare
    NIO line echo driven by the same client. Every log that was played is fetched back and checked afterwards.

      --cluster S   scripts/cluster, without which cluster is skipped
      --seconds N   seconds of each throughput measurement (default 10)
      --matches N   matches at once in the throughput measurements (default 500)
      --idle N      idle connections whose memory is measured (default 19000)
      --only NAMES  of: \(names.joined(separator: ", ")) (default all)

    cluster starts a PostgreSQL of its own by scripts/cluster and one, two and three nodes on it; players of all nodes play one
    another. pairing begins matches and aborts them at once, in memory, in SQLite and in such clusters. event is 512 players who play game
    after game, without and with a tournament, in SQLite and in three nodes; at least thirty seconds each. across is a hundred
    matches between two such nodes, five moves a second each: how long after its mover a move reaches the opponent. flood is a
    hundred matches, alone and beside fifty connections that say ten times what they may.
    """

  var server = ""
  var cluster: String?
  var seconds = 10
  var matches = 500
  var idle = 19_000
  var only: Set<String> = []

  init(_ arguments: [String]) {
    var rest = arguments[...]
    func fail(_ text: String) -> Never {
      complain("\(text)")
      exit(2)
    }
    while let word = rest.popFirst() {
      func number(_ range: ClosedRange<Int>) -> Int {
        guard let value = rest.popFirst().flatMap({ Int($0) }), range.contains(value) else {
          fail("\(word) takes \(range.lowerBound)–\(range.upperBound)")
        }
        return value
      }
      switch word {
      case "--help", "-h":
        print(Options.help)
        exit(0)
      case "--cluster":
        cluster = rest.popFirst()
        guard let cluster, access(cluster, X_OK) == 0 else { fail("\(cluster ?? "nothing") is not a script") }
      case "--seconds": seconds = number(1...60)
      case "--matches": matches = number(1...9000)
      case "--idle": idle = number(1...19_000)
      case "--only":
        only = Set((rest.popFirst() ?? "").split(separator: ",").map(String.init))
        if let wrong = only.first(where: { !Options.names.contains($0) }) {
          fail("--only takes one or more of \(Options.names.joined(separator: ", ")), not \(wrong)")
        }
      case _ where word.hasPrefix("-"): fail("unknown option \(word); see --help")
      default: server = word
      }
    }
    guard !server.isEmpty else { fail("which server? --help tells how") }
    guard access(server, X_OK) == 0 else { fail("\(server) is not a program") }
  }

  func wants(_ name: String) -> Bool { only.isEmpty || only.contains(name) }
}
