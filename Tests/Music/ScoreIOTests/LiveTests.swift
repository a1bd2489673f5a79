import Base
import Foundation
import ScoreModel
import Synth
import TestSupport
import Testing
import Tintinnabuli

@testable import ScoreIO

private let page = try? String(contentsOf: repository.appending(path: "docs/tintinnabuli.md"), encoding: .utf8)

@Test func `Event lines become bars on their degrees, and an end line closes them with an arch`() throws {
  var score = LiveScore(seed: 3, rules: rules)
  var events = score.conductor.open(at: .zero)
  for line in [
    #"{"at": 12, "voice": "first", "degree": 4, "facts": ["threat"], "standing": 0.3}"#,
    #"{"at": 17.5, "voice": "second", "pitch": "D6", "stood": -0.3}"#,
    #"{"at": 24, "voice": "first", "degree": 7, "end": {"kind": "win", "winner": "first"}}"#,
  ] {
    events += score.compose(try EventLine(line, rules: rules), now: .zero)
  }
  let (rest, end) = score.finish()
  let bars = score.conductor.bars
  let moves = bars.filter { $0.kind == .move }
  #expect(moves.map(\.start) == [.seconds(12), .seconds(17.5), .seconds(24)])
  // B4 is degree 0, so degree 4 is F♯5 and degree 7 is B5. The second voice plays D6 an octave lower.
  #expect(moves.map { $0.pairs[0].m?.pitch.midi } == [78, 74, 83])
  #expect(moves.map { $0.signs[0] } == ["threat", "calm", "win"])
  #expect(bars.count { $0.kind == .closing } >= 4 && end > .seconds(40) && !rest.isEmpty)
  #expect(events.contains { $0.kind == .note && $0.frame == .seconds(12) })
}

@Test func `An event line with a past time sounds at once`() throws {
  var score = LiveScore(seed: 3, rules: rules)
  _ = score.conductor.open(at: .zero)
  _ = score.compose(try EventLine(#"{"voice": "first", "degree": 4}"#, rules: rules), now: .seconds(5))
  _ = score.conductor.advance(to: .seconds(20))
  let late = score.compose(
    try EventLine(#"{"at": 12, "voice": "second", "degree": 2}"#, rules: rules), now: .seconds(20))
  #expect(score.conductor.bars.filter { $0.kind == .move }.map(\.start) == [.seconds(5), .seconds(20)])
  #expect(late.allSatisfy { $0.frame >= .seconds(20) })
}

@Test(arguments: [
  ("{", "column"), ("[]", "must be a JSON object"), ("{}", "must have one of voice begin undo end connection"),
  (#"{"voice": "first", "degree": 40}"#, "degree: must be a whole number -1–14, is 40"),
  (#"{"voice": "third", "degree": 1}"#, "voice: must be one of first second, is \"third\""),
  (#"{"voice": "first"}"#, "an event must have a degree or a pitch"),
  (#"{"voice": "first", "pitch": "F5"}"#, "pitch: must be a note of the scale"),
  (#"{"voice": "first", "degree": 1, "facts": ["rain"]}"#, "facts: must be one of threat"),
  (#"{"voice": "first", "degree": 1, "standing": 2}"#, "standing: must be a number -1–1, is 2"),
  (#"{"voice": "first", "degree": 1, "colour": "red"}"#, "unknown field \"colour\"; allowed: at begin"),
  (#"{"voice": "first", "degree": 1, "end": {"kind": "win"}}"#, "end.winner: must be one of first second, is missing"),
])
func `An invalid event line is refused with its field and the allowed values`(_ line: String, _ told: String) throws {
  let error = #expect(throws: ScoreFileError.self) { _ = try EventLine(line, rules: rules) }
  #expect(error?.description.contains(told) == true, "\(error?.description ?? "")")
}

@Test func `A line that returns to an event that its piece does not have is refused`() throws {
  func told(_ lines: String...) -> String {
    do {
      _ = try EventLine.lines(lines, rules: rules)
      return "good"
    } catch { return error.description }
  }
  let event = #"{"voice": "first", "degree": 1}"#
  let returning = #"{"voice": "first", "degree": 1, "returns": 2}"#
  #expect(told(event, event, returning) == "good")
  #expect(
    told(event, returning)
      == "line 2: returns: must be the number of an earlier event of its piece, which has had 1, is 2")
  #expect(told(event, event, #"{"end": null}"#, returning).hasPrefix("line 4: returns:"))
  #expect(told(event, event, #"{"undo": true}"#, returning).hasPrefix("line 4: returns:"))
}

/// The standard rules under another name, with example events.
private func dice() throws -> (folder: TemporaryFolder, file: String) {
  let folder = TemporaryFolder()
  let example = """
    example:
      - '{"voice": "first", "degree": 4}'
      - '{"voice": "second", "degree": 7, "facts": ["threat"]}'
      - '{"voice": "first", "degree": 9, "end": {"kind": "win", "winner": "first"}}'
    """
  let file = folder.path + "/dice.yaml"
  let text = standardText.replacing("name: alina", with: "name: dice") + "\n" + example + "\n"
  try text.write(toFile: file, atomically: true, encoding: .utf8)
  return (folder, file)
}

@Test func `A sign (musical answer) is played from the example in its rule file; an error there is reported by line`()
  throws
{
  let (folder, file) = try dice()
  let wav = folder.path + "/threat.wav"
  let played = try run(["play", "threat", "--rules", file, "--wav", wav])
  #expect(
    played.status == 0 && played.out.contains("move 2  O  threat") && played.out.contains("facts: threat"), "\(played)")
  #expect(try Sound(path: wav).frames.count > 2 * 48_000)
  let unknown = try run(["play", "spoon", "--rules", file])
  #expect(unknown.status == 2 && unknown.err.contains("spoon: dice has the signs win loss draw"), "\(unknown.err)")
  let text = try String(contentsOfFile: file, encoding: .utf8)
  #expect(try RuleReader.rules(RuleText.yaml(try RuleReader.rules(text))).example == RuleReader.rules(text).example)
  try text.replacing(#""degree": 7"#, with: #""degree": 70"#).write(toFile: file, atomically: true, encoding: .utf8)
  let told = try run(["check-rules", file])
  #expect(
    told.status == 2 && told.err.contains("dice.yaml: example: line 2: degree: must be a whole number"), "\(told.err)")
}

@Test func `Lines become a MIDI file, MusicXML, a picture and explanations beside the sound, and are measured`() throws
{
  let folder = TemporaryFolder()
  let lines =
    #"{"at": 1, "voice": "first", "degree": 4}"# + "\n"
    + #"{"at": 6, "voice": "second", "degree": 7, "facts": ["threat"]}"#
    + "\n" + #"{"at": 12, "end": {"kind": "draw"}}"# + "\n"
  let files = ["wav", "mid", "musicxml", "png"].map { folder.path + "/a." + $0 }
  let told = try run(
    ["live", "--wav", files[0], "--midi", files[1], "--musicxml", files[2], "--png", files[3], "--explain"],
    input: lines)
  #expect(
    told.status == 0 && told.out.contains("rules: threat → heard as threat") && told.out.contains("candidate") == false,
    "\(told)")
  for (file, begin) in zip(files, ["RIFF", "MThd", "<?xml", "\u{89}PNG"]) {
    let bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: file)))
    #expect(bytes.starts(with: begin.unicodeScalars.map { UInt8($0.value) }), "\(file)")
  }
  let measured = try run(["measure", "--events", "-"], input: lines)
  #expect(
    measured.status == 0 && measured.out.contains("T-rule conformance") && measured.out.contains("1 games"),
    "\(measured)")
}

/// The lines of the code block in docs/tintinnabuli.md that contains `part`.
private func block(_ part: String) throws -> [String] {
  let blocks = try #require(page).components(separatedBy: "```").enumerated().filter { $0.offset % 2 == 1 }.map(
    \.element)
  let found = try #require(blocks.first { $0.contains(part) }, "no block with \(part)")
  return found.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
}

@Test func `The documented commands for events of one's own run without an error`() throws {
  let folder = TemporaryFolder()
  let lines = try block(#""facts": ["slow"]"#)
  try lines.joined(separator: "\n").write(toFile: folder.path + "/events.jsonl", atomically: true, encoding: .utf8)
  // `cat … | alina-score live` takes a minute of real time and reads the same lines.
  let steps = try (block("cp examples/") + block("cat events.jsonl")).filter { !$0.hasPrefix("cat ") }
  #expect(steps.count == 4 && lines.count == 3)
  let program = ["set -e", "cd \"$0\"", "ln -s \"$1\" examples", "PATH=${2%/*}:$PATH"] + steps
  let told = try Child.run(
    [
      "sh", "-c", program.joined(separator: "\n"), folder.path, repository.appending(path: "examples").path,
      try #require(command),
    ])
  #expect(told.status == 0 && told.out.contains("→ heard as slow"), "\(told)")
  let sound = try Sound(path: folder.path + "/events.wav")
  #expect(sound.frames.count > 60 * 48_000)
}

@Test(arguments: [["live"], ["edit"]]) func `A piano that cannot be loaded is refused on the sound device too`(
  _ words: [String]
) throws {
  let folder = TemporaryFolder()
  let file = folder.path + "/mine.yaml"
  try standardText.write(toFile: file, atomically: true, encoding: .utf8)
  let arguments = words == ["edit"] ? [file, "--sign", "calm"] : ["--score-rules", file]
  let told = try Child.run(
    [try #require(command)] + words + arguments + ["--piano", "/nowhere.sf2"],
    environment: ["SDL_AUDIODRIVER": "dummy"])
  #expect(told.status == 2 && told.errors.contains("/nowhere.sf2: not a soundfont"), "\(told)")
}

@Test func `The documented JSON Schema has exactly the fields that are read`() throws {
  let text = try #require(page)
  let begin = try #require(text.range(of: "```json\n"))
  let end = try #require(text[begin.upperBound...].range(of: "\n```"))
  let schema = try JSON(String(text[begin.upperBound..<end.lowerBound]))
  let fields = try #require(schema["properties"]?.object).fields.map(\.name)
  #expect(fields.sorted() == EventLine.fields)
}

@Test func `The command renders event lines, and reports an invalid one by its number`() throws {
  let folder = TemporaryFolder()
  let lines = #"{"at": 1, "voice": "first", "degree": 4}"# + "\n" + #"{"at": 4, "end": {"kind": "draw"}}"# + "\n"
  let told = try run(["live", "--text", "--wav", folder.path + "/a.wav"], input: lines)
  #expect(told.status == 0 && told.err.isEmpty && told.out.contains("move 1  X") && told.out.contains("closing"))
  #expect(try Sound(path: folder.path + "/a.wav").frames.count > 20 * 48_000)
  let refused = try run(["live", "--wav", folder.path + "/b.wav"], input: lines + #"{"voice": "first", "degree": 99}"#)
  #expect(refused.status == 2 && refused.err.contains("standard input: line 3: degree: must be a whole number"))
  #expect(!FileManager.default.fileExists(atPath: folder.path + "/b.wav"))
}

@Test(.needs("python3")) func `The example composes a server's log`() throws {
  let log = """
    INFO lobby: request hello
    WARNING store: slow answer
    ERROR store: timeout
    INFO lobby: request seek

    """
  let example = repository.appending(path: "examples/server-log").path
  let lines = try Child.run(["python3", example + ".py", "--every"], input: log)
  #expect(lines.status == 0, "\(lines.errors)")
  let folder = TemporaryFolder()
  let told = try run(
    [
      "live", "--text", "--score-rules", example + ".yaml", "--wav", folder.path + "/a.wav",
    ], input: lines.out)
  #expect(told.status == 0 && told.out.contains("error"), "\(told.err)")
}

@Test(.enabled(if: Python.hasChess, "python3 has no module chess")) func `The example composes a game of chess`() throws
{
  let example = repository.appending(path: "examples")
  let lines = try Child.run(
    [Python.path, "-B", example.appending(path: "chess-score.py").path, example.path + "/chess.pgn"])
  #expect(lines.status == 0, "\(lines.errors)")
  let folder = TemporaryFolder()
  let told = try run(
    ["live", "--text", "--score-rules", example.path + "/chess.yaml", "--wav", folder.path + "/a.wav"], input: lines.out
  )
  #expect(told.status == 0, "\(told.err)")
  #expect(told.out.contains("move 7  X  mate") && told.out.components(separatedBy: "closing").count > 4)
}

@Test func `A MIDI stream has the sounding notes, releases every key, and omits cut events`() {
  func note(_ frame: Int64, _ generation: UInt32, _ pitch: Int, _ voice: ScoreEvent.Voice, for duration: Int32)
    -> ScoreEvent
  {
    ScoreEvent(
      frame: Tick(rawValue: frame), generation: generation, kind: .note, voice: voice, pitch: Pitch(pitch),
      velocity: 40,
      duration: duration)
  }
  var stream = MIDIStream()
  stream.post([
    ScoreEvent(frame: .zero, generation: 1, kind: .pedal, amount: 127), note(0, 1, 83, .m, for: 100),
    note(0, 1, 78, .t, for: 300), note(200, 1, 85, .m, for: 100),
  ])
  let pan: [UInt8] = [0xB0, 10, 64]
  #expect(
    stream.messages(before: Tick(rawValue: 100))
      == [0xB0, 64, 127, 0xB1, 64, 127, 0xB2, 64, 127] + pan + [0x90, 83, 40, 0xB1, 10, 64, 0x91, 78, 40, 0x80, 83, 64])
  stream.post([ScoreEvent(frame: Tick(rawValue: 150), generation: 2, kind: .cut), note(150, 2, 78, .t, for: 1_000)])
  // A key that is held is released before it is struck again.
  #expect(
    stream.messages(before: Tick(rawValue: 500)) == [0x81, 78, 64, 0xB1, 10, 64, 0x91, 78, 40])
  #expect(
    stream.silence() == [0x81, 78, 64] + [0xB0, 0xB1, 0xB2].flatMap { [$0, 64, 0, $0, 123, 0] as [UInt8] })
}

@Test(.long, .enabled(if: Python.hasMido, "python3 has no module mido"))
func `Event lines are played on the sound device as they arrive, and become a MIDI file`() throws {
  let folder = TemporaryFolder()
  let path = folder.path + "/midi"
  #expect(FileManager.default.createFile(atPath: path, contents: nil))
  let told = try Child.run(
    [try #require(command), "live", "--midi", path], input: #"{"voice": "first", "degree": 4}"# + "\n",
    environment: ["SDL_AUDIODRIVER": "dummy"])
  #expect(told.status == 0, "\(told.errors)")
  let read = try Python.run(
    """
    import mido, sys
    on = 0
    for message in mido.MidiFile(sys.argv[1]):
        on += (message.type == "note_on") - (message.type == "note_off")
        if message.type == "note_on" and message.channel == 0: print(message.note)
    print("held", on)
    """, path)
  // The pitch 78, F♯5, is degree 4 above B4.
  #expect(read.output.contains("78\n") && read.output.hasSuffix("held 0\n"), "\(read.output)")
}

@Test func `A long file of event lines plays on the device without losing bars`() throws {
  let folder = TemporaryFolder()
  let (raw, wav, lines) = (folder.path + "/raw", folder.path + "/a.wav", folder.path + "/lines")
  // The bars of 600 lines have more events than the synthesizer's queue holds.
  let text = (0..<600).map { number in
    #"{"at": \#(1 + 0.15 * Double(number)), "voice": "\#(number % 2 == 0 ? "first" : "second")", "degree": \#(number * 5 % 11)}"#
  }
  try text.joined(separator: "\n").write(toFile: lines, atomically: true, encoding: .utf8)
  // SDL's disk driver takes blocks as fast as they come.
  let played = try Child.run(
    [try #require(command), "live", lines],
    environment: ["SDL_AUDIODRIVER": "disk", "SDL_DISKAUDIOFILE": raw, "SDL_DISKAUDIODELAY": "0"])
  #expect(played.status == 0 && played.errors.isEmpty, "\(played)")
  #expect(try run(["live", lines, "--wav", wav]).status == 0)
  // The device writes zeros while it waits for the next block. The music itself has none after its start.
  let live = try Data(contentsOf: URL(filePath: raw)).withUnsafeBytes { bytes in
    bytes.bindMemory(to: Stereo.self).filter { $0 != .zero }
  }
  let file = try Sound(path: wav).frames
  func alike(_ frame: Int, _ begin: Int) -> Bool { abs(live[frame].x - file[begin + frame].x) < 1e-6 }
  let (second, end) = (48_000, 88 * 48_000)
  try #require(live.count > end && file.count > end + second)
  let begin = try #require((0..<second).first { begin in (second..<second + 100).allSatisfy { alike($0, begin) } })
  let apart = (second..<end).first { !alike($0, begin) }
  #expect(apart == nil, "apart at \(Double(apart ?? 0) / 48_000) s")
}

private func held(_ bytes: [UInt8]) -> HeldKeys {
  var held = HeldKeys()
  for at in stride(from: 0, to: bytes.count - 2, by: 3) {
    let (channel, one, two) = (Int(bytes[at] & 0x0F), Int(bytes[at + 1]), Int(bytes[at + 2]))
    switch bytes[at] & 0xF0 {
    case 0x90: held.note(one, velocity: two, channel: channel)
    case 0x80: held.note(one, velocity: 0, channel: channel)
    case 0xB0: held.control(one, two, channel: channel)
    default: break
    }
  }
  return held
}

@Test(arguments: [SIGINT, SIGTERM, SIGHUP, 0])
func `No key or pedal stays down after a signal or the end of the input`(_ number: Int32) throws {
  let folder = TemporaryFolder()
  let pipe = folder.path + "/midi"
  #expect(mkfifo(pipe, 0o600) == 0)
  let live = try Child(
    [try #require(command), "live", "--midi", pipe], environment: ["SDL_AUDIODRIVER": "dummy"], input: .pipe,
    errors: .pipe)
  let midi = try #require(FileHandle(forReadingAtPath: pipe))
  try live.input.write(contentsOf: Data(#"{"voice": "first", "degree": 4}"#.utf8 + [10]))
  var bytes: [UInt8] = []
  while bytes.count % 3 != 0 || !held(bytes).isSounding {
    bytes += try #require(try midi.read(upToCount: 1))
  }
  if number == 0 { try live.input.close() } else { live.signal(number) }
  bytes += midi.readDataToEndOfFile()
  #expect(try live.wait(seconds: 120) == -number)
  #expect(held(bytes).isSilentAfterNotes, "\(held(bytes))")
}

@Test func `A closed MIDI pipe ends the program with one line`() throws {
  let folder = TemporaryFolder()
  let pipe = folder.path + "/midi"
  #expect(mkfifo(pipe, 0o600) == 0)
  let live = try Child(
    [try #require(command), "live", "--midi", pipe], environment: ["SDL_AUDIODRIVER": "dummy"], input: .pipe,
    errors: .pipe)
  let midi = try #require(FileHandle(forReadingAtPath: pipe))
  _ = try midi.read(upToCount: 3)
  try midi.close()
  #expect(try live.wait(seconds: 120) == 2)
  #expect(
    String(decoding: live.errors.readDataToEndOfFile(), as: UTF8.self)
      == "alina-score: --midi \(pipe): cannot be written\n")
}

@Test func `Clients of the sequencer have distinct names, the first one without a number`() {
  #expect(MIDIPort.unused("Alina", besides: ["System", "Alina live"]) == "Alina")
  #expect(MIDIPort.unused("Alina", besides: ["Alina", "Alina 2"]) == "Alina 3")
}

@Test(.long) func `Another package builds against the libraries and composes with them`() throws {
  let folder = TemporaryFolder()
  let package = repository.appending(path: "examples/swift").path
  let environment = ["ONLY": "Tintinnabuli Synth"]
  let built = try Child.run(
    ["swift", "build", "--package-path", package, "--scratch-path", folder.path], environment: environment)
  #expect(built.status == 0, "\(built.out)\(built.errors)")
  for number in 1...2 {
    let raw = try Child(
      [folder.path + "/debug/bells"], output: .file(folder.path + "/\(number).raw"), errors: .ours)
    #expect(try raw.wait() == 0)
  }
  let sounds = try (1...2).map { try Data(contentsOf: URL(filePath: folder.path + "/\($0).raw")) }
  let samples = sounds[0].withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
  // The example's three events, six seconds apart, and its arch last more than 25 s.
  let peak = samples.map { abs($0) }.max() ?? 0
  #expect(samples.count > 2 * 48_000 * 25 && (0.05...0.9).contains(peak), "\(samples.count) samples, peak \(peak)")
  #expect(sounds[0] == sounds[1])
}

@Test(.needs("aseqdump")) func `The notes of a live score appear on a port of the ALSA sequencer as they sound`() throws
{
  let file = TemporaryFolder()
  let script = """
    soon() { for _ in $(seq 100); do eval "$1" && return; kill -0 $score || return; sleep 0.1; done; } 2>/dev/null
    exec 3<>"$1/fifo"
    "$2" live --midi-port <"$1/fifo" 3>&- & score=$!
    soon "aconnect -l | grep -q \"'Alina'\""
    kill -0 $score 2>/dev/null || exit 1
    aseqdump -p Alina >"$1/seen" 3>&- & seen=$!
    soon "aconnect -l | grep -q 'Connecting To'"
    echo '{"voice": "first", "degree": 4}' >&3
    soon "grep -q 'Note off' '$1/seen'"
    kill $score $seen
    cat "$1/seen"
    """
  #expect(mkfifo(file.path + "/fifo", 0o600) == 0)
  let told = try Child.run(["bash", "-c", script, "sh", file.path, try #require(command, "alina-score is not built")])
  guard access("/dev/snd/seq", R_OK | W_OK) == 0 else {
    // Without the kernel module of the ALSA sequencer there is one line of output and no sound.
    #expect(told.errors.contains("--midi-port: no ALSA sequencer here ("), "\(told.errors)")
    return
  }
  // F♯5 (78) is degree 4 of the first voice; M's channel is 0.
  #expect(told.out.contains("Note on                 0, note 78"), "\(told.out)\(told.errors)")
  #expect(told.out.contains("Note off                0, note 78"), "\(told.out)")
}
