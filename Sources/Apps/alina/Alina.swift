import ClientModel
import Interface
import ArgumentParser
import Base
import WindowLogic
import Glibc
import MatchProtocol
import Processes
import Screen
import Session
import TicTacToe
import Tintinnabuli

struct Alina: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "alina", abstract: "Tic-tac-toe whose music is composed by the game itself.", version: alinaVersion)

  @Argument(help: ArgumentHelp("A game to open.", valueName: "game-file"))
  var gameFile: String?

  @Option(
    help: ArgumentHelp(
      "The opponent: 1–6, random, perfect, adaptive, menace, or person for two people.", valueName: "level"))
  var level: String?

  @Option(help: ArgumentHelp("The game: \(Variant.names).", valueName: "game"))
  var game: String?

  @Option(help: ArgumentHelp("The side you play, x or o.", valueName: "x|o"))
  var side: String?

  @Option(help: "Seed of the music and of the opponents; the same seed and moves sound the same.")
  var seed: UInt64?

  @Option(help: ArgumentHelp("When opponents answer: musical or immediate.", valueName: "reply"))
  var reply: String?

  @Option(help: "Speed of the music, 0.7 slow to 1.3 fast.")
  var pace: Double?

  @Option(help: ArgumentHelp("A rule file by name or path, see docs/score-rules.md.", valueName: "rules"))
  var scoreRules: String?

  @Option(help: ArgumentHelp("The piano: modal, grand, or a SoundFont.", valueName: "piano"))
  var piano: String?

  @Option(
    help: ArgumentHelp(
      "Play on a match server (port 4664 unless given), or on nodes of it.", valueName: "host[:port],…"))
  var connect: String?

  @Option(help: ArgumentHelp("With --connect: enter a friend's room by its code.", valueName: "code"))
  var room: String?

  @Option(
    help: ArgumentHelp("With --connect: watch a match by its id; a private one needs --room too.", valueName: "id"))
  var watch: String?

  @Flag(help: "With --connect: use TLS even to this machine.")
  var tls = false

  @Flag(help: "With --connect: use no TLS even to another machine.")
  var plain = false

  @Flag(help: "Print a line for a screen reader whenever something changes.")
  var speakLines = false

  @Flag(help: "Speak moves, turns and controls through speech-dispatcher.")
  var speak = false

  @Option(help: ArgumentHelp("The page to show first.", valueName: "page"))
  var scene: String?

  @Flag(help: "Play without sound.")
  var noAudio = false

  @Flag(help: "Make a port of the ALSA sequencer, named Alina, on which the notes appear as they sound.")
  var midiPort = false

  @Option(help: "Frames of one audio block, 64–8192.")
  var buffer: Int = 1_024

  @Option(help: "The sound device by name.")
  var device: String?

  @Option(help: ArgumentHelp("Size of the window or picture.", valueName: "WxH"))
  var size: String?

  @Flag(help: "Open in full screen.")
  var fullScreen = false

  @Option(help: "Size of text in window and picture, 0.75 to 2.")
  var textScale: Double?

  @Option(help: ArgumentHelp("Write a picture of the window and exit; needs no display.", valueName: "png"))
  var screenshot: String?

  @Option(help: ArgumentHelp("Play a list of timed inputs (see the manual page).", valueName: "file"))
  var script: String?

  @Option(help: .hidden)
  var icon: String?

  @Option(help: .hidden)
  var latencyLog: String?

  @Option(help: .hidden)
  var controlLog: String?

  @Flag(help: .hidden)
  var asPage = false

  @Flag(help: .hidden)
  var forFingers = false

  func validate() throws {
    func check<Value>(_ option: String, _ value: Value?, _ rule: String, _ holds: (Value) -> Bool) throws {
      if let value, !holds(value) { throw ValidationError("--\(option) \(value): \(rule)") }
    }
    try check("level", level, "allowed are 1–6, random, perfect, adaptive, menace and person") {
      Seat(argument: $0) != nil
    }
    try check("game", game, "allowed are \(Variant.names)") { Variant(rawValue: $0) != nil }
    try check("side", side, "allowed are x and o") { Player(text: $0) != nil }
    try check("reply", reply, "allowed are musical and immediate") { Conductor.Reply(rawValue: $0) != nil }
    try check("pace", pace, "allowed are 0.7 to 1.3") { (0.7...1.3).contains($0) }
    try check("text-scale", textScale, "allowed are 0.75 to 2") { (0.75...2).contains($0) }
    try check("piano", piano, "allowed are modal, grand, or a SoundFont file that can be read") {
      PianoKind(rawValue: $0) != nil || access($0, R_OK) == 0
    }
    let scenes = SceneName.allCases.map(\.rawValue).joined(separator: ", ")
    try check("scene", scene, "allowed are \(scenes)") { SceneName(rawValue: $0) != nil }
    try check(
      "connect", connect, "write \(ServerAddress.form)"
    ) { ServerAddress($0) != nil }
    let online = [("--room", room != nil), ("--watch", watch != nil), ("--tls", tls), ("--plain", plain)]
    if connect == nil, let (option, _) = online.first(where: { $0.1 }) {
      throw ValidationError("\(option) needs --connect HOST[:PORT]")
    }
    if tls && plain { throw ValidationError("--tls and --plain exclude each other") }
    try check("room", room, "a code has \(Limits.code) letters and digits") { canonicalCode($0) != nil }
    try check("watch", watch, "a match's id has 1 to 32 letters, digits and hyphens") { MatchID(rawValue: $0) != nil }
    try check("buffer", buffer, "allowed are 64 to 8192 frames") { (64...8_192).contains($0) }
    try check("size", size, "write WIDTHxHEIGHT, 320x480 to 7680x4320") { Alina.parse(size: $0) != nil }
  }

  static func parse(size: String) -> (width: Int, height: Int)? {
    let parts = size.split(separator: "x", omittingEmptySubsequences: false)
    guard parts.count == 2, let width = Int(parts[0]), let height = Int(parts[1]),
      (320...7_680).contains(width), (480...4_320).contains(height)
    else { return nil }
    return (width, height)
  }

  func run() throws { try Launch(options: self).run() }
}

/// Exits with status 2 for wrong arguments, with 1 for an unusable display, MIDI port or output file.
@main
enum Main {
  static func main() {
    if let fault = Arguments.fault {
      complain(fault)
      exit(2)
    }
    do {
      try Alina.parse().run()
    } catch let failure as Launch.Failure {
      complain(failure.description)
      exit(failure.status)
    } catch {
      guard Alina.exitCode(for: error) != .success else { Alina.exit(withError: error) }
      complain(Alina.message(for: error).split(separator: "\n").first.map(String.init) ?? "bad arguments")
      exit(2)
    }
  }

  static func complain(_ line: String) {
    let bytes = Array("alina: \(line)\n".utf8)
    write(STDERR_FILENO, bytes, bytes.count)
  }
}
