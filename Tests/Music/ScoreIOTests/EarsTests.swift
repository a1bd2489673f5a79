import Foundation
import TestSupport
import Testing

@testable import ScoreIO

/// Independent tools (numpy, scipy, mido, FluidSynth's player, ffmpeg) analyse the output of `alina-score`. `EARS=1` runs the tests at full
/// length.
@Suite(.serialized, .long) struct EarsTests {
  private static let isLong = ProcessInfo.processInfo.environment["EARS"] != nil

  private static let score: String = {
    var folder = URL(
      fileURLWithPath: CommandLine.arguments.first { $0.contains(".xctest") } ?? CommandLine.arguments[0])
    while folder.path.contains(".xctest") { folder.deleteLastPathComponent() }
    return folder.appendingPathComponent("alina-score").path
  }()

  private static func succeeds(_ command: [String]) -> (ok: Bool, out: String) {
    guard let result = try? Child.run(["env"] + command, seconds: 100_000) else {
      return (false, "\(command[0]) cannot be run")
    }
    return (result.status == 0, result.out + result.errors)
  }

  // Debian's own Python, because apt installs the modules for it.
  private static func python(_ arguments: [String]) -> (ok: Bool, out: String) {
    succeeds(["PYTHONDONTWRITEBYTECODE=1", "/usr/bin/python3"] + arguments)
  }
  private static let hasNumerics = python(["-c", "import numpy, scipy"]).ok
  private static let hasReader = python(["-c", "import numpy, scipy, mido"]).ok
  private static let hasPlayer = hasReader && succeeds(["fluidsynth", "--version"]).ok
  private static let hasFont = FileManager.default.fileExists(
    atPath: "/usr/share/sounds/sf3/MuseScore_General_Lite.sf3")
  private static let hasMeter = succeeds(["ffmpeg", "-version"]).ok

  private func run(_ tool: String, _ arguments: [String]) {
    let (ok, out) = Self.python([repository.appending(path: tool).path] + arguments)
    print(out, terminator: "")
    #expect(ok, "\(tool):\n\(out)")
  }

  @Test(
    "numpy and scipy find every unit of the synthesizer within its limits",
    .enabled(if: hasNumerics, "needs numpy, scipy"))
  func nodes() { run("Tests/Ears/nodes.py", [Self.score]) }

  @Test(
    "The mover of every downbeat, and nearly every row, is recognised from the sound alone",
    .enabled(if: hasNumerics, "needs numpy, scipy"))
  func listening() { run("Tests/Ears/listen.py", [Self.score, Self.isLong ? "60" : "8"]) }

  @Test(
    "The signs of a mistake and an only move are recognised in the sound",
    .enabled(if: hasReader, "needs numpy, scipy and mido"))
  func signs() { run("Tests/Ears/signs.py", [Self.score, Self.isLong ? "40" : "12"]) }

  @Test(
    "FluidSynth plays our MIDI file with the onsets of our render",
    .enabled(if: hasPlayer && hasFont, "needs fluidsynth, mido, scipy and the soundfont"))
  func midi() { run("Tests/Ears/midi.py", [Self.score, "\(assets)/score.yaml", Self.isLong ? "6" : "1"]) }

  @Test(
    "Phrases in minutes of sound end on long notes, without long waits for them",
    .enabled(if: hasNumerics, "needs numpy, scipy"))
  func form() { run("Tests/Ears/form.py", [Self.score, "--games", Self.isLong ? "12" : "4"]) }

  @Test(
    "The ends of each game at each pace are recognised with their key, and cuts are not taken for ends",
    .enabled(if: hasReader, "needs numpy, scipy and mido"))
  func ends() { run("Tests/Ears/ends.py", [Self.score, "--games", Self.isLong ? "67" : "24"]) }

  @Test(
    "The phase of a game is recognised from ten seconds of its music",
    .enabled(if: hasReader, "needs numpy, scipy and mido"))
  func phases() { run("Tests/Ears/phases.py", [Self.score, "--games", Self.isLong ? "100" : "40"]) }

  @Test("Simulated play has the documented loudness by ffmpeg's meter", .enabled(if: hasMeter, "needs ffmpeg"))
  func loudness() {
    let pianos = Self.hasFont && Self.isLong ? "modal,grand" : "modal"
    run("tools/loudness.py", [Self.score, "--games", Self.isLong ? "40" : "5", "--pianos", pianos])
  }
}
