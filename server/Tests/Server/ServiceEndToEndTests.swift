import Foundation
import ServerTestSupport
import TestSupport
import Testing

@testable import MatchStore
@testable import SQLiteStore

@Suite struct ServiceEndToEndTests {
  @Test func `status prints a server's state, and exits with 1 if there is none`() throws {
    let server = ServerChild(TemporaryFolder())
    try server.start(pages: true)
    let port = try #require(server.port(of: "admin"))
    _ = try RawPeer.pair(server.port)
    let status = try ServerChild.run(["status", "--admin", "127.0.0.1:\(port)"])
    #expect(status.code == 0 && status.errors.isEmpty)
    for line in ["ready: yes", "connections: ", "matches in memory: 1", "waiting for an opponent: 0"] {
      #expect(status.out.contains(line), "\(status.out)")
    }
    #expect(server.stop() == 0)
    let gone = try ServerChild.run(["status", "--admin", "127.0.0.1:\(port)"])
    #expect(gone.code == 1 && gone.out.isEmpty)
    #expect(gone.errors.hasPrefix("alina-server: no server answers at 127.0.0.1:\(port)"))
  }

  @Test func `a command whose output cannot be written fails, and says what it has done`() throws {
    let folder = TemporaryFolder()
    let path = folder.path + "/matches.sqlite"
    let account = someAccount(1, "Ann")
    do {
      let store = try SQLiteStore(path: path)
      try store.add([account])
      store.close()
    }
    let binary = try #require(ServerChild.binary, "build alina-server first, or set ALINA_BIN")
    func fail(_ arguments: [String], output: String = ">/dev/full") throws -> String {
      let result = try Child.run(["/bin/sh", "-c", "exec \"$0\" \"$@\" \(output)", binary] + arguments)
      #expect(result.status == 1 && result.errors.hasPrefix("alina-server: "), "\(arguments): \(result)")
      #expect(result.errors.split(separator: "\n").count == 1, "\(result)")
      return result.errors
    }
    let full = "the standard output cannot be written: No space left on device\n"
    let data = ["--data", folder.path]
    for arguments in [
      ["--help"], ["--version"], ["token", "--help"], ["check-config", "--listen", "127.0.0.1:0"],
      ["export"] + data + ["-"],
    ] { #expect(try fail(arguments) == "alina-server: " + full, "\(arguments)") }
    let copy = folder.path + "/copy"
    #expect(try fail(["backup"] + data + [copy]) == "alina-server: backed up to \(copy), but " + full)
    #expect(FileManager.default.fileExists(atPath: copy))
    var token = account.token
    let closed = "the standard output cannot be written: Bad file descriptor\n"
    for (output, end) in [(">/dev/full", full), (">&-", closed)] {
      #expect(
        try fail(["token"] + data + ["Ann"], output: output)
          == "alina-server: the old token of Ann has ended and the new one is lost, so issue another: " + end)
      let store = try SQLiteStore(path: path)
      let now = try store.accounts().first?.token
      store.close()
      #expect(now != nil && now != token)
      token = now
    }
    #expect(try fail(["forget"] + data + ["Ann"]) == "alina-server: forgot Ann, but " + full)
    let server = ServerChild(folder)
    try server.start(pages: true)
    let admin = ["--admin", "127.0.0.1:\(try #require(server.port(of: "admin")))"]
    for command in ["status", "players", "reports"] {
      #expect(try fail([command] + admin) == "alina-server: " + full, "\(command)")
    }
    server.stop()
  }

  @Test func `by default only a server's user and group can give orders, and everybody reads its metrics`() throws {
    let folder = TemporaryFolder()
    let server = ServerChild(folder)
    let options = "--listen 127.0.0.1:0 --no-page --metrics 127.0.0.1:0 --data '\(folder.path)'"
    func start() throws { try server.start(shell: "exec \"$0\" \(options)") }
    try start()
    let socket = folder.path + "/admin.sock"
    var file = stat()
    #expect(stat(socket, &file) == 0 && file.st_mode == S_IFSOCK | 0o660)
    let metrics = try #require(server.port(of: "metrics"))
    for path in ["healthz", "readyz", "metrics"] { #expect(try RawPeer(metrics).http(path).status == 200) }
    for path in ["players", "reports"] { #expect(try RawPeer(metrics).http(path).status == 404) }
    #expect(try RawPeer(metrics).http("players/Ann/ban", method: "POST").status == 404)
    func run(_ arguments: [String]) throws -> String {
      let result = try ServerChild.run(arguments)
      return result.out + result.errors
    }
    for place in [["--data", folder.path], ["--admin", "unix:" + socket]] {
      #expect(try run(["status"] + place).hasPrefix("ready: yes\n"))
      #expect(try run(["players"] + place) == "id\tname\trating\tmatches\tguest\tmuted\tbanned\n")
    }
    let second = try run(["--listen", "127.0.0.1:0", "--no-page", "--memory", "--admin", "unix:" + socket])
    #expect(second.contains("--admin: cannot listen on unix:\(socket): another server does"), "\(second)")
    server.kill9()
    server.wait()
    #expect(
      try run(["status", "--data", folder.path]).contains("no server answers at unix:\(socket): Connection refused"))
    try start()
    #expect(
      try run(["status", "--data", folder.path]).hasPrefix("ready: yes\n"), "the dead server's socket is replaced")
    #expect(server.stop() == 0)
    #expect(!FileManager.default.fileExists(atPath: socket))
  }

  @Test func `the loss of the database is reported as long as it lasts, and logged once when it begins and ends`()
    async throws
  {
    let bed = PostgresTestBed()
    let server = ServerChild(TemporaryFolder())
    try server.start(["--store", bed.url], pages: true)
    let (page, admin) = (try #require(server.port(of: "page")), try #require(server.port(of: "admin")))
    func ready(_ port: Int) throws -> String { try RawPeer(port).http("readyz").body }
    #expect(try [ready(page), ready(admin)] == ["ready\n", "ready\n"])
    try bed.order("kill")
    let lost = "the database cannot be reached"
    // The administrators' port asks the database for each reply; the page's port reports the loss after 3 s without a heartbeat.
    repeat {
      #expect(try ready(admin) == lost + "\n")
      try await Task.sleep(for: .milliseconds(50))
    } while try ready(page) == "ready\n"
    // A load balancer in front of the page need not know the administrators' port.
    #expect(try ready(page) == lost + "\n")
    #expect(try RawPeer(admin).http("metrics").body.contains("\nalina_ready 0\n"))
    let status = try ServerChild.run(["status", "--admin", "127.0.0.1:\(admin)"])
    #expect(status.code == 1 && status.errors.isEmpty && status.out.hasPrefix("ready: no, \(lost)\n"), "\(status)")
    try bed.order("start")
    #expect(server.logs("answers again"))
    #expect(try ready(admin) == "ready\n")
    let said = server.logText.split(separator: "\n").drop { !$0.contains(" warning ") }
    #expect(said.count == 2 && said.last?.contains(" notice the store answers again") == true, "\(said)")
    #expect(server.stop() == 0)
  }

  @Test func `a database's refusal is reported in the database's words, with advice`() throws {
    let bed = PostgresTestBed.shared
    try bed.sql("CREATE ROLE reader_only LOGIN PASSWORD '\(TestPassword.postgres)'")
    defer { _ = try? bed.sql("DROP ROLE reader_only") }
    func said(_ url: String) throws -> String {
      let result = try ServerChild.run(["--store", url, "--no-page", "--no-admin", "--listen", "127.0.0.1:0"])
      #expect(result.code == 1 && !result.errors.contains("cannot reach"), "\(result)")
      return result.errors
    }
    let refused = try said(bed.url.dropLast("postgres".count) + "nowhere")
    #expect(refused.contains("/nowhere: PostgreSQL: connection to server"), "\(refused)")
    #expect(refused.contains(#"database "nowhere" does not exist"#), "\(refused)")
    let reader = try said(bed.url.replacing("//postgres@", with: "//reader_only@"))
    #expect(reader.hasSuffix("the role reader_only must own the database\n"), "\(reader)")
  }

  @Test func `the packaged unit sets no time limit for a start, which may bring a large database up to date`() throws {
    let unit = try String(contentsOf: repository.appending(path: "packaging/alina-server.service"), encoding: .utf8)
    #expect(unit.contains("\nTimeoutStartSec=infinity\n"))
  }

  @Test func `systemd is told when the server is ready, when it stops, and how long that may take`() throws {
    let folder = TemporaryFolder()
    let path = folder.path + "/notify"
    let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    let bound = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    try #require(bound == 0)
    var timeout = timeval(tv_sec: 20, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
    func told() -> String {
      var bytes = [UInt8](repeating: 0, count: 100)
      let count = recv(descriptor, &bytes, bytes.count, 0)
      return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }
    let server = ServerChild(folder)
    try server.start(["--drain-seconds", "600"], environment: ["NOTIFY_SOCKET": path])
    #expect(told() == "READY=1")
    #expect(server.stop() == 0)
    #expect(told() == "STOPPING=1\nEXTEND_TIMEOUT_USEC=610000000")
  }

  @Test func `log lines for the journal begin with their priority, others do not`() throws {
    let journal = ServerChild(TemporaryFolder())
    try journal.start(shell: #"JOURNAL_STREAM=$(stat -Lc %d:%i /proc/self/fd/2) exec "$0" "$@""#)
    journal.stop()
    let lines = journal.logText.split(separator: "\n")
    #expect(!lines.isEmpty && lines.allSatisfy { $0.hasPrefix("<5>") }, "\(lines)")
    let terminal = ServerChild(TemporaryFolder())
    try terminal.start(environment: ["JOURNAL_STREAM": "1:2"])
    terminal.stop()
    #expect(!terminal.logText.isEmpty && !terminal.logText.contains("<5>"))
  }

  @Test func `every setting in the packaged configuration file can be used`() throws {
    let folder = TemporaryFolder()
    let packaged = try String(
      contentsOf: repository.appending(path: "packaging/alina-server.conf"), encoding: .utf8)
    let settings = packaged.split(separator: "\n").filter {
      $0.hasPrefix("#") && $0.contains(" = ") && !$0.hasPrefix("# ")
    }
    #expect(settings.count > 10)
    // This test has no certificates for the settings of TLS.
    let used = settings.map { String($0.dropFirst()) }.filter { !$0.hasPrefix("tls-") } + ["insecure = true"]
    let file = folder.path + "/conf"
    // The limit of open files may be lower here than for the packaged service.
    let text = used.joined(separator: "\n").replacing("max-connections = 10000", with: "max-connections = 400")
    try text.write(toFile: file, atomically: true, encoding: .utf8)
    let command = "ulimit -S -n 256 && exec \"$0\" check-config --config \"$1\""
    let result = try Child.run(["/bin/sh", "-c", command, try #require(ServerChild.binary), file])
    #expect(result.status == 0, "\(result.errors)")
  }

  /// Root in an unprivileged container may not mount, so this must be tried.
  private static let canHideProc =
    (try? Child.run(["/usr/bin/unshare", "-m", "/bin/sh", "-c", "mount -t tmpfs none /proc"]))?.status == 0

  @Test(.enabled(if: canHideProc, "nothing can be mounted over /proc here"))
  func `commands without threads work without /proc, and serve reports that it is missing`() throws {
    let binary = try #require(ServerChild.binary)
    func run(_ arguments: String) throws -> (code: Int32, said: String) {
      let (process, out) = (Process(), Pipe())
      process.executableURL = URL(filePath: "/usr/bin/unshare")
      process.arguments = ["-m", "/bin/sh", "-c", "mount -t tmpfs none /proc && exec \"$0\" \(arguments) 2>&1", binary]
      process.standardOutput = out
      try process.run()
      let text = String(decoding: out.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      process.waitUntilExit()
      return (process.terminationStatus, text)
    }
    let version = try run("--version")
    #expect(version.code == 0 && version.said.contains("."))
    let serving = try run("--memory --listen 127.0.0.1:0 --no-page --no-admin")
    // Without the lines in which a sanitizer reports the missing /proc.
    let said = serving.said.split(separator: "\n").drop { $0.hasPrefix("==") }.joined(separator: "\n")
    #expect(serving.code == 1 && said.hasPrefix("alina-server: /proc is not mounted"), "\(serving)")
  }
}
