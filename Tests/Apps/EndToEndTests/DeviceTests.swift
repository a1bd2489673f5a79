import Foundation
import Records
import TestSupport
import Testing
import TicTacToe

@Suite(.serialized, .long, .tidy, .enabled(if: WindowProgram.hasDisplay, "needs an X display; ./test brings one"))
struct DeviceTests {
  @Test(
    "The loss of a sound server is reported once, the game goes on, and its return brings the sound back",
    .needs("pulseaudio"))
  func loss() throws {
    let folder = try WindowProgram.newFolder()
    var server = try PulseServer(folder)
    let desk = try WindowProgram(
      ["--level", "person", "--piano", "modal"],
      environment: server.environment.merging(["SDL_AUDIODRIVER": "pulseaudio"]) { $1 }, folder: folder)
    try desk.click("b2")
    try desk.hear("X plays b2")
    server.stop()
    let lost = try desk.hear("Sound device disconnected", seconds: 60)
    try desk.click("a1")
    try desk.hear("O plays a1", after: lost)
    server = try PulseServer(folder)
    let back = try desk.hear("The sound is back", after: lost, seconds: 60)
    try desk.click("c3")
    try desk.hear("X plays c3", after: back)
    #expect(try desk.quit() == 0)
    server.stop()
    #expect(desk.complaints == "")
    #expect(desk.spoken.filter { $0.hasPrefix("Sound device disconnected") }.count == 1)
    let record = try Record(text: String(contentsOf: #require(desk.games.last), encoding: .utf8))
    let frames = record.times.compactMap(\.frame)
    #expect(frames.count == 3 && frames == frames.sorted(), "time stood still: \(frames)")
  }

  @Test(
    "Unplugging an unused sound device has no effect; when the used one is unplugged, the other is used",
    .needs("pulseaudio"), .needs("pactl"))
  func twoDevices() throws {
    let folder = try WindowProgram.newFolder()
    let server = try PulseServer(folder)
    try server.plug("other")
    let desk = try WindowProgram(
      ["--level", "person", "--piano", "modal"],
      environment: server.environment.merging(["SDL_AUDIODRIVER": "pulseaudio"]) { $1 }, folder: folder)
    try desk.click("b2")
    try desk.hear("X plays b2")
    _ = try waitFor(seconds: 30, "music at the first sink") { try server.playing() == "nul" ? true : nil }
    try server.unplug("other")
    try desk.click("a1")
    let before = try desk.hear("O plays a1")
    #expect(try server.playing() == "nul")
    #expect(!desk.spoken.contains { $0.contains("sound") }, "\(desk.spoken)")
    try server.plug("other")
    try server.unplug("nul")
    _ = try waitFor(seconds: 60, "music at the other sink") { try server.playing() == "other" ? true : nil }
    try desk.click("c3")
    try desk.hear("X plays c3", after: before)
    #expect(try desk.quit() == 0)
    server.stop()
    #expect(desk.complaints == "")
  }
}

/// A private PulseAudio server, whose sink discards the sound.
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
      ], environment: environment)
    _ = try waitFor(seconds: 10, "PulseAudio") { FileManager.default.fileExists(atPath: socket) ? 1 : nil }
  }

  func stop() { child.kill() }

  private func ask(_ line: String) throws -> String {
    let settings = environment.map { "\($0)='\($1)'" }.joined(separator: " ")
    return try WindowProgram.shell("sh", "-ec", "export \(settings); \(line)")
  }

  func plug(_ sink: String) throws { _ = try ask("pactl load-module module-null-sink sink_name=\(sink) rate=48000") }

  func unplug(_ sink: String) throws {
    _ = try ask("pactl unload-module $(pactl list short modules | awk '/sink_name=\(sink)( |$)/ { print $1 }')")
  }

  func playing() throws -> String {
    try ask(
      "for n in $(pactl list short sink-inputs | cut -f 2); do pactl list short sinks | awk -v n=$n '$1 == n { print $2 }'; done"
    )
  }
}
