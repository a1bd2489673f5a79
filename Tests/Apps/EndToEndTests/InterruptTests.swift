import Foundation
import Glibc
import TestSupport
import Testing

@Suite(.tidy, .needs("ffmpeg")) struct InterruptTests {
  @Test(
    "Ctrl-C while a sound or film is written ends the program by the signal and leaves no unfinished file",
    arguments: [["simulate", "--games", "40", "--wav", "a.wav"], ["film", "game.pgn", "--out", "a.mp4"]])
  func interrupted(arguments: [String]) throws {
    let folder = try WindowProgram.newFolder()
    try FileManager.default.copyItem(
      at: repository.appending(path: "docs/heard/game.pgn"), to: folder.appending(path: "game.pgn"))
    let score = WindowProgram.program.deletingLastPathComponent().appending(path: "alina-score").path
    let child = try Child([score] + arguments, folder: folder.path)
    func files() -> [String] { (FileManager.default.subpaths(atPath: folder.path) ?? []).filter { $0 != "game.pgn" } }
    while child.isRunning, files().isEmpty { usleep(10_000) }
    child.signal(SIGINT)
    #expect(try child.wait(seconds: 60) == -SIGINT)
    #expect(files() == [])
  }
}
