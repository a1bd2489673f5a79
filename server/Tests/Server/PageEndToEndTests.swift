import Foundation
import MatchProtocol
import NIOPosix
import TestSupport
import Records
import Testing
import TicTacToe

@testable import Lobby
@testable import MatchStore
@testable import ServerTransport

@Suite(.serialized) struct PageEndToEndTests {
  @Test func `without the files of the page a browser is told how to build it`() async throws {
    let server = try await TestServer()
    let answer = try RawPeer(server.page.port).http("")
    #expect(answer.status == 404 && answer.body == "the game page is not built: run scripts/web\n")
    try await server.stop()
  }

  @Test func `the game page is compressed, cached by name, restricted to its own script, and reached by links`()
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
    // Browsers install the page only if every file of the build is served.
    let values = try ask("v/1/ultimate.values")
    #expect(values.body == "numbers" && values.head.contains("content-type: application/octet-stream"))
    let tag = try #require(script.head.split(separator: "\r\n").first { $0.hasPrefix("etag: ") }).dropFirst(6)
    let again = try ask("v/1/alina.js", "Accept-Encoding: br", "If-None-Match: \"x\", \(tag)")
    #expect(again.0 == 304 && again.body == "")
    #expect(try ask("v/1/alina.js", "If-None-Match: \(tag)").0 == 200, "an ETag is valid for one coding only")
    for (link, place) in [
      ("r/k7q2xd", "../#/r/k7q2xd"), ("t/k7q2xd", "../#/t/k7q2xd"), ("w/a_b-1", "../#/w/a_b-1"),
      ("r/%0d%0aX:%20y", "../#/r/%0D%0AX%3A%20y"),
    ] {
      let answer = try ask(link)
      #expect(answer.0 == 302 && answer.head.contains("location: \(place.lowercased())\r\n"), "\(answer)")
    }
    var letter = Letter(id: 7, variant: .ultimate)
    try letter.play(Cell(40))
    letter[.x] = "<b>\"Vera\""
    letter[.o] = "Ida"
    let preview = try ask("l/\(letter.link)")
    #expect(preview.0 == 200 && preview.body.contains("url=../#/l/\(letter.link)\""))
    let title = "&lt;b&gt;&quot;Vera&quot; plays Ultimate by link: Ida to move"
    #expect(preview.body.contains("property=\"og:title\" content=\"\(title)\""), "\(preview.body)")
    #expect(
      try ask("l/\(letter.link.dropLast())").head.contains("location: ../#/l/"), "the page reports a damaged link")
    #expect(page.head.contains("server-timing: alina\r\n"))
    for path in [
      "notes.md", ".git/config", "v", "v/1", "v/2/alina.js", "../\(folder.path)/log", "%2e%2e/etc/passwd",
      "//etc/passwd",
    ] {
      let answer = try ask(path)
      #expect(answer.0 == 404 && answer.body == "there is no such page\n", "\(path)")
    }
    #expect(try ask("", method: "POST").0 == 405)
    server.kill9()
  }

  @Test func `a page that cannot be served is reported in one line`() throws {
    for (flags, line) in [
      (["--web", "/nowhere"], "--web: /nowhere has no page: scripts/web makes it"),
      (["--page-origin", "alina.example"], "--page-origin: alina.example is not an origin like https://alina.example"),
      (["--page-origin", "https://a/b"], "--page-origin: https://a/b is not an origin like https://alina.example"),
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
      at: .tcp(host: "127.0.0.1", port: 0), loop: MultiThreadedEventLoopGroup.singleton.next(),
      limits: HTTPLimits(most: 10),
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
}
