import Foundation
import TestSupport
import Testing

/// Tests of the page in real browsers, driven by the scripts in Tests/Browser, which report failures in one line.
@Suite(.serialized) struct BrowserTests {
  /// Runs a script of Tests/Browser with the match server's path as its last argument.
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
  func `in Chromium the page's socket, files and controls work, also offline, and versions never mix`() throws {
    try run("frame.py", "chromium")
  }

  @Test(.long, .needs("firefox-esr"))
  func `in Firefox the page's socket, files and controls work, also offline, and versions never mix`() throws {
    try run("frame.py", "firefox")
  }

  @Test(.long, .needs("chromium"), .enabled(if: Self.isBuilt, "the page is not built: scripts/web"))
  func
    `in Chromium a game sounds to its end, friends play on after a server kill, and damaged input is reported in one line`()
    throws
  {
    try run("play.py", "chromium")
  }

  @Test(.long, .needs("firefox-esr"), .enabled(if: Self.isBuilt, "the page is not built: scripts/web"))
  func
    `in Firefox a game is played to its end, friends play on after a server kill, and damaged input is reported in one line`()
    throws
  {
    try run("play.py", "firefox")
  }

  @Test(
    .long, .needs("chromium", "convert"), .enabled(if: Self.isBuilt, "the page is not built: scripts/web"))
  func `each page in Chromium matches the window's within one pixel, text within two`() throws {
    try run("pictures.py", "chromium")
  }

  @Test(
    .long, .needs("firefox-esr", "convert"), .enabled(if: Self.isBuilt, "the page is not built: scripts/web"))
  func `each page in Firefox matches the window's within one pixel, text within two`() throws {
    try run("pictures.py", "firefox")
  }

  @Test(
    .long, .needs("chromium", "Xvfb", "xdotool"), .enabled(if: Self.isBuilt, "the page is not built: scripts/web"))
  func `a page plays a window, a page and a bot across a server kill, and all keep the same games`() throws {
    try run("duels.py", "chromium", "2")
  }

  @Test(.long, .needs("chromium"), .enabled(if: Self.isBuilt, "the page is not built: scripts/web"))
  func `in Chromium a match survives reloads, hiding and Back, and addresses name the page shown`()
    throws
  {
    try run("live.py", "chromium")
  }

  @Test(.long, .needs("firefox-esr"), .enabled(if: Self.isBuilt, "the page is not built: scripts/web"))
  func `in Firefox a match survives reloads, hiding and Back, and addresses name the page shown`()
    throws
  {
    try run("live.py", "firefox")
  }

  @Test(.long, .needs("chromium"), .enabled(if: Self.isBuilt, "the page is not built: scripts/web"))
  func `in Chromium keys, clipboard, tabs, interrupted sound, full storage and a crash leave the game intact`()
    throws
  {
    try run("hands.py", "chromium")
  }

  @Test(.long, .needs("firefox-esr"), .enabled(if: Self.isBuilt, "the page is not built: scripts/web"))
  func `in Firefox keys, clipboard, tabs, full storage and a crash leave the game intact`() throws {
    try run("hands.py", "firefox")
  }

  @Test(.long, .needs("chromium"), .enabled(if: Self.isBuilt, "the page is not built: scripts/web"))
  func `in Chromium two people, one on a phone, play Infinite and Ultimate to the end across reloads`() throws {
    try run("games.py", "chromium")
  }

  @Test(.long, .needs("firefox-esr"), .enabled(if: Self.isBuilt, "the page is not built: scripts/web"))
  func `in Firefox two people, one on a phone, play Infinite and Ultimate to the end across reloads`() throws {
    try run("games.py", "firefox")
  }

  @Test(.long, .needs("chromium"), .enabled(if: Self.isBuilt, "the page is not built: scripts/web"))
  func `in Chromium letters go between our server's page and a static host, over reloads`() throws {
    try run("letters.py", "chromium")
  }

  @Test(.long, .needs("firefox-esr"), .enabled(if: Self.isBuilt, "the page is not built: scripts/web"))
  func `in Firefox letters go between our server's page and a static host, over reloads`() throws {
    try run("letters.py", "firefox")
  }

  /// Whether scripts/web has been run.
  private static let isBuilt = FileManager.default.fileExists(
    atPath: repository.appending(path: ".build-web/page/index.html").path)
}
