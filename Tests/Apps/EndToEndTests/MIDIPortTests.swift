import Foundation
import Glibc
import TestSupport
import Testing

@Suite(
  .serialized, .tidy, .needs("cc"), .enabled(if: WindowProgram.hasDisplay, "needs an X display; ./test brings one"))
struct MIDIPortTests {
  /// A file that receives a program's MIDI messages in place of the ALSA sequencer.
  private struct Sequencer {
    let file: URL
    let environment: [String: String]

    init(_ folder: URL) throws {
      file = folder.appending(path: "messages")
      let library = folder.appending(path: "sequencer.so").path
      let source = repository.appending(path: "Tests/Apps/Sequencer/sequencer.c").path
      try WindowProgram.shell("cc", "-shared", "-fPIC", "-o", library, source)
      environment = ["LD_PRELOAD": library, "SEQUENCER": file.path, "SDL_AUDIODRIVER": "dummy"]
    }

    var held: HeldKeys {
      var held = HeldKeys()
      for line in ((try? String(contentsOf: file, encoding: .utf8)) ?? "").split(separator: "\n") {
        let words = line.split(separator: " ")
        let numbers = words.dropFirst().compactMap { Int($0) }
        switch words.first {
        case "note": held.note(numbers[1], velocity: numbers[2], channel: numbers[0])
        case "control": held.control(numbers[1], numbers[2], channel: numbers[0])
        default: break
        }
      }
      return held
    }

    func waitForSound() throws {
      try waitFor(seconds: 60, "a note and a pedal: \(held)") { held.isSounding ? () : nil }
    }

    func expectSilence() { #expect(held.isSilentAfterNotes, "\(held)") }
  }

  @Test(
    "However the window ends, no key or pedal stays down at its MIDI port", arguments: [SIGINT, SIGTERM, SIGHUP, 0])
  func window(signal number: Int32) throws {
    let folder = try WindowProgram.newFolder()
    let sequencer = try Sequencer(folder)
    let desk = try WindowProgram(
      ["--midi-port", "--level", "person", "--piano", "modal"], environment: sequencer.environment, folder: folder)
    try desk.click(cell: 4)
    try sequencer.waitForSound()
    if number == 0 {
      #expect(try desk.quit() == 0)
    } else {
      kill(desk.processIdentifier, number)
      #expect(try desk.waitForExit() == 0)
    }
    sequencer.expectSilence()
    #expect(desk.complaints == "")
  }

  @Test(
    "However `alina-score live` ends, no key or pedal stays down at its MIDI port",
    arguments: [SIGINT, SIGTERM, SIGHUP, 0])
  func live(signal number: Int32) throws {
    let sequencer = try Sequencer(WindowProgram.newFolder())
    let live = try Child(
      [WindowProgram.program.deletingLastPathComponent().appending(path: "alina-score").path, "live", "--midi-port"],
      environment: sequencer.environment.mapValues { $0 }, input: .pipe)
    try live.input.write(contentsOf: Data((#"{"voice": "first", "degree": 4}"# + "\n").utf8))
    try sequencer.waitForSound()
    if number == 0 { try live.input.close() } else { live.signal(number) }
    #expect(try live.wait(seconds: 120) == -number)
    sequencer.expectSilence()
  }
}
