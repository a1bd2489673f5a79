import Foundation
import TestSupport
import Testing

@Suite(.serialized) struct BrowserTests {
  /// The browsers run side by side: most of their time is waiting for the other player, for the music and for lost connections.
  private func run(_ script: String, in browsers: [String] = ["chromium", "firefox"], _ arguments: String...) throws {
    let folder = TemporaryFolder()
    let server = WindowProgram.program.deletingLastPathComponent().appendingPathComponent("alina-server").path
    let children = try browsers.map { browser in
      try Child(
        ["/usr/bin/python3", repository.appending(path: "Tests/Browser/\(script)").path, browser] + arguments + [
          server
        ],
        errors: .file("\(folder.path)/\(browser)"))
    }
    for (browser, child) in zip(browsers, children) {
      let status = try child.wait(seconds: 600)
      #expect(
        status == 0, "\(browser): \((try? String(contentsOfFile: "\(folder.path)/\(browser)", encoding: .utf8)) ?? "")")
    }
  }

  @Test(.long, .needs("chromium", "firefox-esr"))
  func `the page's connection, files and controls work, also offline, and never mix two versions' files`() throws {
    try run("frame.py")
  }

  @Test(.long, .needs("chromium", "firefox-esr"), .enabled(if: Self.isBuilt, "the page is not built: scripts/web"))
  func `a game is played to its end, a match continues after a server kill, and damaged input is reported`() throws {
    try run("play.py")
  }

  @Test(
    .long, .needs("chromium", "firefox-esr", "convert"),
    .enabled(if: Self.isBuilt, "the page is not built: scripts/web"))
  func `each page looks like the window's page: shapes within one pixel of their place, text within two`() throws {
    try run("pictures.py")
  }

  @Test(
    .long, .needs("chromium", "Xvfb", "xdotool"), .enabled(if: Self.isBuilt, "the page is not built: scripts/web"))
  func `a page plays against a window, a page and a bot across a server kill, and all keep the same games`() throws {
    try run("duels.py", in: ["chromium"], "2")
  }

  @Test(.long, .needs("chromium", "firefox-esr"), .enabled(if: Self.isBuilt, "the page is not built: scripts/web"))
  func `a match survives reloads, hiding and Back, and the address always names the page shown`() throws {
    try run("live.py")
  }

  @Test(.long, .needs("chromium", "firefox-esr"), .enabled(if: Self.isBuilt, "the page is not built: scripts/web"))
  func `a player's own music equals that of alina-score, and a damaged link changes nothing`() throws {
    try run("dials.py")
  }

  @Test(.long, .needs("chromium", "firefox-esr"), .enabled(if: Self.isBuilt, "the page is not built: scripts/web"))
  func `a board without a game sounds at each touch, and its link and file keep the touches`() throws {
    try run("touch.py")
  }

  @Test(.long, .needs("chromium", "firefox-esr"), .enabled(if: Self.isBuilt, "the page is not built: scripts/web"))
  func `keys, clipboard, tabs, interrupted sound, full storage and a crash leave the game intact`() throws {
    try run("hands.py")
  }

  @Test(.long, .needs("chromium", "firefox-esr"), .enabled(if: Self.isBuilt, "the page is not built: scripts/web"))
  func `two people, one on a phone, play Infinite, Misère and Ultimate to the end across reloads`() throws {
    try run("games.py")
  }

  @Test(.long, .needs("chromium", "firefox-esr"), .enabled(if: Self.isBuilt, "the page is not built: scripts/web"))
  func `games by links are exchanged between our server's page and a static host, over reloads`() throws {
    try run("letters.py")
  }

  @Test(
    .long, .needs("chromium", "firefox-esr", "Xvfb", "xdotool"),
    .enabled(if: Self.isBuilt, "the page is not built: scripts/web"))
  func `a game by links goes from the window to Chromium, to Firefox at a phone's size, and back`() throws {
    try run("journey.py", in: ["chromium"], "firefox")
  }

  @Test(.long, .needs("chromium", "firefox-esr"), .enabled(if: Self.isBuilt, "the page is not built: scripts/web"))
  func `each game is played to its end by keys and the live region alone`() throws {
    try run("spoken.py", in: ["chromium"])
  }

  private static let isBuilt = FileManager.default.fileExists(
    atPath: repository.appending(path: ".build-web/page/index.html").path)
}
