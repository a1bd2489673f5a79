import Foundation
import TestSupport
import Testing

/// The page in real browsers: Tests/Browser drives them, and says in one line what went wrong.
@Suite(.serialized) struct BrowserTests {
  /// Runs a script of Tests/Browser with the match server as its last argument.
  private func run(_ script: String, _ arguments: String...) throws {
    let folder = TemporaryFolder()
    let errors = URL(filePath: folder.path + "/errors")
    let server = WindowProgram.program.deletingLastPathComponent().appendingPathComponent("alina-server").path
    let child = try Child(
      ["/usr/bin/python3", repository.appending(path: "Tests/Browser/\(script)").path] + arguments + [server],
      errors: .file(errors.path))
    #expect(try child.wait(seconds: 600) == 0, "\((try? String(contentsOf: errors, encoding: .utf8)) ?? "")")
  }

  @Test(.long, .needs("chromium"))
  func `in Chromium the page's socket, files and controls work, without a network too, and no two versions mix`() throws
  {
    try run("frame.py", "chromium")
  }

  @Test(.long, .needs("firefox-esr"))
  func `in Firefox the page's socket, files and controls work, without a network too, and no two versions mix`() throws
  {
    try run("frame.py", "firefox")
  }

  @Test(.long, .needs("chromium"), .enabled(if: Self.isBuilt, "the page is not built: scripts/web"))
  func `in Chromium a game sounds to its end, friends play through a killed server, and what is damaged is a line`()
    throws
  {
    try run("play.py", "chromium")
  }

  @Test(.long, .needs("firefox-esr"), .enabled(if: Self.isBuilt, "the page is not built: scripts/web"))
  func `in Firefox a game goes to its end, friends play through a killed server, and what is damaged is a line`() throws
  {
    try run("play.py", "firefox")
  }

  @Test(
    .long, .needs("chromium", "convert"), .enabled(if: Self.isBuilt, "the page is not built: scripts/web"))
  func `each page looks in Chromium as in the window, to one pixel, its text to two`() throws {
    try run("pictures.py", "chromium")
  }

  @Test(
    .long, .needs("firefox-esr", "convert"), .enabled(if: Self.isBuilt, "the page is not built: scripts/web"))
  func `each page looks in Firefox as in the window, to one pixel, its text to two`() throws {
    try run("pictures.py", "firefox")
  }

  @Test(
    .long, .needs("chromium", "Xvfb", "xdotool"), .enabled(if: Self.isBuilt, "the page is not built: scripts/web"))
  func `a page plays a window, a page and a bot through a killed server, and all have kept the same games`() throws {
    try run("duels.py", "chromium", "2")
  }

  @Test(.long, .needs("chromium"), .enabled(if: Self.isBuilt, "the page is not built: scripts/web"))
  func `in Chromium a match survives reloads, a hidden page and the browser's Back, and addresses say what is shown`()
    throws
  {
    try run("live.py", "chromium")
  }

  @Test(.long, .needs("firefox-esr"), .enabled(if: Self.isBuilt, "the page is not built: scripts/web"))
  func `in Firefox a match survives reloads, a hidden page and the browser's Back, and addresses say what is shown`()
    throws
  {
    try run("live.py", "firefox")
  }

  @Test(.long, .needs("chromium"), .enabled(if: Self.isBuilt, "the page is not built: scripts/web"))
  func `in Chromium keys, clipboard, tabs, an interrupted sound, a full store and a trap leave the game as it was`()
    throws
  {
    try run("hands.py", "chromium")
  }

  @Test(.long, .needs("firefox-esr"), .enabled(if: Self.isBuilt, "the page is not built: scripts/web"))
  func `in Firefox keys, clipboard, tabs, a full store and a trap leave the game as it was`() throws {
    try run("hands.py", "firefox")
  }

  @Test(.long, .needs("chromium"), .enabled(if: Self.isBuilt, "the page is not built: scripts/web"))
  func `in Chromium two people play Infinite and Ultimate to the end, one on a phone, and load the page again`() throws
  {
    try run("games.py", "chromium")
  }

  @Test(.long, .needs("firefox-esr"), .enabled(if: Self.isBuilt, "the page is not built: scripts/web"))
  func `in Firefox two people play Infinite and Ultimate to the end, one on a phone, and load the page again`() throws {
    try run("games.py", "firefox")
  }

  /// Whether scripts/web has been run.
  private static let isBuilt = FileManager.default.fileExists(
    atPath: repository.appending(path: ".build-web/page/index.html").path)
}
