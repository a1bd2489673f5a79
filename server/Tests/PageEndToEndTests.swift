import Foundation
import MatchProtocol
import TestSupport
import Testing
import TicTacToe

@testable import MatchServer

/// The page for people: what it serves, and what a browser makes of it.
@Suite(.serialized) struct PageEndToEndTests {
  @Test func `the page may run nothing but its own script, and what players type stays text`() throws {
    let folder = TemporaryFolder()
    let server = ServerChild(folder)
    try server.start(pages: true)
    let port = try #require(server.port(of: "page"))
    for (path, type) in [
      ("", "text/html"), ("page.js", "text/javascript"), ("now.js", "text/javascript"), ("page.css", "text/css"),
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

  @Test func `live boards come as server-sent events, current ones first, private ones never`() throws {
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
    watcher.send(Array("GET /boards HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8))
    try watcher.wait("text/event-stream")
    let first = try watcher.wait("data: ")
    #expect(first.contains(#""m":"\#(m)""#) && first.contains(#""board":"....x....""#) && first.contains(#""last":4"#))
    o.move(m, 1, "a3")
    #expect(try watcher.wait("data: ").contains(#""board":"o...x....""#))
    x.type(#"{"t":"resign","m":"\#(m)","mid":"end"}"#)
    #expect(try watcher.wait("result").contains(#""result":"o","reason":"resign""#))
    #expect(!watcher.rest(pause: 0.3).joined().contains(secret))
    server.kill9()
  }

  /// Runs Chromium on a page.
  private func chromium(_ arguments: [String]) throws -> String {
    let browser = try #require(program("chromium"))
    let profile = TemporaryFolder()
    let process = Process()
    let out = Pipe()
    process.executableURL = URL(filePath: browser)
    process.arguments =
      [
        "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--user-data-dir=\(profile.path)",
        "--no-first-run", "--disable-background-networking", "--window-size=900,700",
      ] + arguments
    process.standardOutput = out
    process.standardError = FileHandle.nullDevice
    try process.run()
    let timeout = DispatchWorkItem { process.terminate() }
    DispatchQueue.global().asyncAfter(deadline: .now() + 60, execute: timeout)
    defer { timeout.cancel() }
    let text = String(decoding: out.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return text
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
    let page = try chromium(["--dump-dom", "http://127.0.0.1:\(port)/"])
    #expect(page.contains("2 live boards"))
    #expect(page.contains(#"data-m="\#(m)""#) && page.contains(#"data-m="\#(m2)""#))
    #expect(page.contains(#"aria-label="board o.x.x.o..""#) && page.contains(#"aria-label="board ........x""#))
    #expect(page.components(separatedBy: "<circle").count - 1 == 2, "two noughts")
    #expect(page.components(separatedBy: #"class="x"#).count - 1 == 3, "three crosses")
    #expect(page.contains("move 5 · 60+2"))
    if let picture = ProcessInfo.processInfo.environment["PAGE_PICTURE"] {
      _ = try chromium(["--screenshot=\(picture)", "http://127.0.0.1:\(port)/"])
    }
    server.kill9()
  }
}
