import Foundation
import MatchProtocol
import NIOPosix
import TestSupport
import Testing
import TicTacToe

@testable import Lobby
@testable import MatchStore
@testable import ServerTransport

/// Tests of the pages for people: their content, and their display in a browser.
@Suite(.serialized) struct PageEndToEndTests {
  @Test func `the page may run only its own script, and players' text is never markup`() throws {
    let folder = TemporaryFolder()
    let server = ServerChild(folder)
    try server.start(pages: true)
    let port = try #require(server.port(of: "page"))
    for (path, type) in [
      ("boards", "text/html"), ("page.js", "text/javascript"), ("now.js", "text/javascript"),
      ("page.css", "text/css"),
      ("top.json", "application/json"),
    ] {
      let answer = try RawPeer(port).http(path)
      #expect(answer.status == 200 && answer.head.lowercased().contains("content-type: \(type)"))
      let policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; frame-ancestors 'none'"
      #expect(answer.head.contains(policy))
      #expect(answer.head.lowercased().contains("x-content-type-options: nosniff"))
    }
    #expect(try RawPeer(port).http("etc/passwd").status == 404)
    #expect(try RawPeer(port).http("../../etc/passwd").status >= 400)
    let script = try RawPeer(port).http("page.js").body
    for way in ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("] {
      #expect(!script.contains(way), "\(way) would let a name be markup")
    }
    server.kill9()
  }

  @Test
  func `the game page is compressed, cached by name, restricted to its own script, and reached by links`()
    throws
  {
    let (folder, web) = (TemporaryFolder(), TemporaryFolder())
    for (name, text) in [
      ("index.html", "<!doctype html>page"), ("sw.js", "keep"), ("v/1/alina.js", "code"), ("v/1/alina.js.br", "br"),
      ("v/1/alina.js.gz", "gz"), ("v/1/alina.wasm", "wasm"), ("v/1/ultimate.values", "numbers"),
      ("notes.md", "not for all"), (".git/config", "secret"),
    ] {
      let url = URL(filePath: web.path + "/" + name)
      try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
      try text.write(to: url, atomically: false, encoding: .utf8)
    }
    let server = ServerChild(folder)
    try server.start(["--web", web.path], pages: true)
    let port = try #require(server.port(of: "page"))
    #expect(server.said == "listening 127.0.0.1:\(server.port)")
    #expect(server.line() == "in a browser: http://127.0.0.1:\(port)/")
    func ask(_ path: String, _ headers: String..., method: String = "GET") throws -> (Int, head: String, body: String) {
      let answer = try RawPeer(port).http(path, method: method, headers: headers)
      return (answer.status, answer.head.lowercased(), answer.body)
    }
    let page = try ask("")
    #expect(page.0 == 200 && page.body == "<!doctype html>page" && page.head.contains("cache-control: no-cache"))
    #expect(
      page.head.contains(
        "content-security-policy: default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; object-src 'none'; "
          + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"))
    let script = try ask("v/1/alina.js", "Accept-Encoding: gzip, br")
    #expect(script.body == "br" && script.head.contains("content-encoding: br"))
    #expect(script.head.contains("immutable") && script.head.contains("text/javascript"))
    #expect(try ask("v/1/alina.js", "Accept-Encoding: gzip, br;q=0").body == "gz")
    #expect(try ask("v/1/alina.js").body == "code")
    #expect(try ask("v/1/alina.js", method: "HEAD").body == "")
    #expect(try ask("v/1/alina.wasm", "Accept-Encoding: br").head.contains("content-type: application/wasm"))
    // Every file of the build is served, whatever its name: a missing one would keep the page from being installed.
    let values = try ask("v/1/ultimate.values")
    #expect(values.body == "numbers" && values.head.contains("content-type: application/octet-stream"))
    let tag = try #require(script.head.split(separator: "\r\n").first { $0.hasPrefix("etag: ") }).dropFirst(6)
    let again = try ask("v/1/alina.js", "Accept-Encoding: br", "If-None-Match: \"x\", \(tag)")
    #expect(again.0 == 304 && again.body == "")
    #expect(try ask("v/1/alina.js", "If-None-Match: \(tag)").0 == 200, "of another coding")
    for (link, place) in [
      ("r/k7q2xd", "../#/r/k7q2xd"), ("w/a_b-1", "../#/w/a_b-1"), ("r/%0d%0aX:%20y", "../#/r/%0D%0AX%3A%20y"),
    ] {
      let answer = try ask(link)
      #expect(answer.0 == 302 && answer.head.contains("location: \(place.lowercased())\r\n"), "\(answer)")
    }
    for path in [
      "notes.md", ".git/config", "v", "v/1", "v/2/alina.js", "../\(folder.path)/log", "%2e%2e/etc/passwd",
      "//etc/passwd",
    ] {
      let answer = try ask(path)
      #expect(answer.0 == 404 && answer.body == "there is no such page\n", "\(path)")
    }
    #expect(try ask("", method: "POST").0 == 405)
    #expect(try ask("boards").body.contains("live boards"))
    #expect(try ask("now.js").body == "const now = [], canWatch = true;\n")
    server.kill9()
  }

  @Test func `a page that cannot be served is reported in one line`() throws {
    for (flags, line) in [
      (["--web", "/nowhere"], "--web: /nowhere has no page: scripts/web makes it"),
      (["--page-origin", "alina.example"], "--page-origin: alina.example is no origin like https://alina.example"),
      (["--page-origin", "https://a/b"], "--page-origin: https://a/b is no origin like https://alina.example"),
      (
        ["--page", "0.0.0.0:80"],
        "--page 0.0.0.0:80 is reachable from outside: give certificates, --tls-self-signed, or --insecure to go without"
      ),
    ] {
      let result = try ServerChild.run(["check-config"] + flags)
      #expect(result.code == 2 && result.errors == "alina-server: \(line)\n", "\(result)")
    }
  }

  @Test(.needs("openssl")) func `pages are encrypted if the server has certificates for them`() async throws {
    let keys = TemporaryFolder()
    let server = try HTTPServer.start(
      ("127.0.0.1", 0), loop: MultiThreadedEventLoopGroup.singleton.next(), limits: HTTPLimits(most: 10),
      tls: try ServerTLS.selfSigned(in: keys.path, names: ["localhost"]), atOnce: { _ in HTTPReply(text: "in secret") }
    ) { _ in throw CancellationError() }
    let client = try Child(
      ["openssl", "s_client", "-quiet", "-connect", "127.0.0.1:\(server.port)"], input: .pipe, output: .pipe)
    try client.input.write(contentsOf: Data("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".utf8))
    let text = client.rest()
    #expect(text.hasPrefix("HTTP/1.1 200 OK") && text.hasSuffix("in secret"))
    client.kill()
    await server.stop()
  }

  @Test func `live boards are sent as server-sent events, current ones first, private ones never`() throws {
    let folder = TemporaryFolder()
    let server = ServerChild(folder)
    try server.start(pages: true)
    let port = try #require(server.port(of: "page"))
    let (x, o, m, _) = try RawPeer.pair(server.port)
    x.move(m, 0, "b2")
    try o.wait(#""ply":0"#)
    let host = try RawPeer(server.port), friend = try RawPeer(server.port)
    try host.hello()
    try friend.hello()
    host.type("create none")
    let code = try #require(RawPeer.field("code", try host.wait(#""t":"room""#)))
    friend.type("join \(code)")
    let secret = try #require(RawPeer.field("m", try friend.wait(#""t":"paired""#)))
    let watcher = try RawPeer(port)
    watcher.send(Array("GET /live HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8))
    try watcher.wait("text/event-stream")
    let first = try watcher.wait("data: ")
    #expect(first.contains(#""m":"\#(m)""#) && first.contains(#""board":"....x....""#) && first.contains(#""last":4"#))
    o.move(m, 1, "a3")
    #expect(try watcher.wait("data: ").contains(#""board":"o...x....""#))
    x.type(#"{"t":"resign","m":"\#(m)","mid":"end"}"#)
    #expect(try watcher.wait("result").contains(#""result":"o","reason":"resign""#))
    // When a later public match is seen, all events before it have arrived.
    let next = try RawPeer.pair(server.port)
    while let line = watcher.line(within: 20), !line.contains(next.m) { #expect(!line.contains(secret), "\(line)") }
    server.kill9()
  }

  @Test func `live boards describe the other games cell by cell`() throws {
    let folder = TemporaryFolder()
    let server = ServerChild(folder)
    try server.start(pages: true)
    let port = try #require(server.port(of: "page"))
    let (x, o, m, _) = try RawPeer.pair(server.port, rules: .ultimate)
    x.move(m, 0, "a9")
    try o.wait(#""ply":0"#)
    let watcher = try RawPeer(port)
    watcher.send(Array("GET /live HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8))
    try watcher.wait("text/event-stream")
    let dots = String(repeating: ".", count: 80)
    #expect(try watcher.wait("data: ").contains(#""board":"x\#(dots)""#))
    o.move(m, 1, "c9")
    let next = try watcher.wait("data: ")
    #expect(
      next.contains(#""board":"x.o\#(dots.dropLast(2))""#) && next.contains(#""rules":"ultimate","plies":2,"last":2"#))
    server.kill9()
  }

  /// Runs Chromium with a page and returns its output.
  private func chromium(_ arguments: [String]) throws -> String {
    let profile = TemporaryFolder()
    let command = [
      "chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
      "--user-data-dir=\(profile.path)", "--no-first-run", "--disable-background-networking", "--window-size=900,700",
    ]
    return try Child.run(command + arguments, seconds: 60).out
  }

  @Test(.needs("chromium")) func `Chromium shows the live boards, their players and the last moves`() throws {
    let folder = TemporaryFolder()
    let server = ServerChild(folder)
    try server.start(pages: true)
    let port = try #require(server.port(of: "page"))
    let (x, o, m, _) = try RawPeer.pair(server.port)
    for (ply, cell) in ["b2", "a3", "c3", "a1"].enumerated() {
      (ply % 2 == 0 ? x : o).move(m, ply, cell)
      try x.wait(#""ply":\#(ply)"#)
    }
    let (x2, o2, m2, _) = try RawPeer.pair(server.port)
    x2.move(m2, 0, "c1")
    try o2.wait(#""ply":0"#)
    let (x3, o3, m3, _) = try RawPeer.pair(server.port, rules: .ultimate)
    x3.move(m3, 0, "a9")
    try o3.wait(#""ply":0"#)
    o3.move(m3, 1, "c9")
    try x3.wait(#""ply":1"#)
    let page = try chromium(["--dump-dom", "http://127.0.0.1:\(port)/boards"])
    #expect(page.contains("3 live boards"))
    #expect(page.contains(#"data-m="\#(m3)""#) && page.contains("move 3 · ultimate · 60+2"))
    #expect(page.components(separatedBy: "grid fine").count - 1 == 12, "the lines of the small boards")
    #expect(page.contains(#"data-m="\#(m)""#) && page.contains(#"data-m="\#(m2)""#))
    #expect(page.contains(#"aria-label="board o.x.x.o..""#) && page.contains(#"aria-label="board ........x""#))
    #expect(page.components(separatedBy: "<circle").count - 1 == 3, "three noughts")
    #expect(page.components(separatedBy: #"class="x"#).count - 1 == 4, "four crosses")
    #expect(page.contains("move 5 · 60+2"))
    if let picture = ProcessInfo.processInfo.environment["PAGE_PICTURE"] {
      _ = try chromium(["--screenshot=\(picture)", "http://127.0.0.1:\(port)/boards"])
    }
    server.kill9()
  }
}
