import Foundation
import Records
import TestSupport
import Testing
import TicTacToe

/// A sound server that goes and comes while a game is played.
@Suite(.serialized, .long, .tidy, .enabled(if: Desk.hasDisplay, "needs an X display; ./test brings one"))
struct DeviceTests {
  @Test(
    "A sound server that is killed is said once, the game goes on, and its return is taken up", .needs("pulseaudio"))
  func loss() throws {
    let folder = try Desk.newFolder()
    var server = try PulseServer(folder)
    let desk = try Desk(
      ["--level", "person", "--piano", "modal"],
      environment: server.environment.merging(["SDL_AUDIODRIVER": "pulseaudio"]) { $1 }, folder: folder)
    try desk.click("b2")
    try desk.hear("X plays b2")
    server.stop()
    let lost = try desk.hear("The sound device is gone", seconds: 60)
    try desk.click("a1")
    try desk.hear("O plays a1", after: lost)
    server = try PulseServer(folder)
    let back = try desk.hear("The sound is back", after: lost, seconds: 60)
    try desk.click("c3")
    try desk.hear("X plays c3", after: back)
    #expect(try desk.quit() == 0)
    server.stop()
    #expect(desk.complaints == "")
    #expect(desk.spoken.filter { $0.hasPrefix("The sound device is gone") }.count == 1)
    let record = try Record(text: String(contentsOf: #require(desk.games.last), encoding: .utf8))
    let frames = record.game.moves.compactMap(\.frame)
    #expect(frames.count == 3 && frames == frames.sorted(), "time stood still: \(frames)")
  }
}

/// A PulseAudio server of our own with a sink that nobody hears.
struct PulseServer {
  let environment: [String: String]
  private let child: Child

  init(_ folder: URL) throws {
    let run = folder.appendingPathComponent("run")
    try FileManager.default.createDirectory(
      at: run, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    let socket = "\(run.path)/p.sock"
    try? FileManager.default.removeItem(atPath: socket)
    environment = ["XDG_RUNTIME_DIR": run.path, "HOME": folder.path, "PULSE_SERVER": "unix:\(socket)"]
    child = try Child(
      [
        "pulseaudio", "-n", "--daemonize=no", "--use-pid-file=no", "--exit-idle-time=-1", "--realtime=no",
        "--high-priority=no", "-L", "module-native-protocol-unix socket=\(socket) auth-anonymous=1",
        "-L", "module-null-sink sink_name=nul rate=48000 channels=2 format=float32le",
      ], environment: ProcessInfo.processInfo.environment.merging(environment) { $1 })
    _ = try waitFor(seconds: 10, "PulseAudio") { FileManager.default.fileExists(atPath: socket) ? 1 : nil }
  }

  func stop() { child.kill() }
}
