import Foundation
import GameScore
import Oracle
import Records
import ScoreModel
import Synth
import TestSupport
import Testing
import TicTacToe
import Tintinnabuli

@testable import ScoreIO

/// Independent readers of what we write: `PYTHON` names an interpreter with the modules.
enum Python {
  static let path = ProcessInfo.processInfo.environment["PYTHON"] ?? "/usr/bin/python3"
  static let hasMido = (try? run("import mido"))?.status == 0
  static let hasMusic21 = (try? run("import music21"))?.status == 0
  static let hasChess = (try? run("import chess"))?.status == 0

  /// Runs a program on a file.
  static func run(_ program: String, _ path: String = "") throws -> (status: Int32, output: String) {
    let result = try Child.run([Self.path, "-c", program, path])
    return (result.status, result.out)
  }
}

private func temporary(_ name: String) -> String {
  FileManager.default.temporaryDirectory.appendingPathComponent(
    "alina-\(ProcessInfo.processInfo.processIdentifier)-\(name)"
  )
  .path
}

private func renditions() -> [Rendition] { ReferenceGames.games(6, seed: 3).map { Rendition(of: $0, rules: rules) } }

@Test(arguments: [44_100, 48_000, 96_000]) func `A comb delays a file by the same time, whatever its rate`(rate: Int)
  throws
{
  var frames = [Stereo](repeating: .zero, count: rate)
  frames[0] = Stereo(repeating: 1)
  var sound = Sound(frames, sampleRate: rate)
  sound.pass(through: try RuleReader.chain("comb:custom delay=4800 feedback=0 dry=0 wet=1"), ringing: 0)
  let loudest = try #require(sound.frames.indices.max { abs(sound.frames[$0].x) < abs(sound.frames[$1].x) })
  #expect(abs(Double(loudest) / Double(rate) - 0.1) < 0.001)
}

@Test func `Two events of a MIDI file are no further apart than a file may say, however long a pause was`() throws {
  let record = try Record(text: "1. b2 {[%emt 0:00:01.000]} a1 {[%emt 3:00:00.000]} 2. c3 {[%emt 0:00:05.000]} *")
  let bytes = MIDIFile.bytes(Rendition(of: record, rules: rules), title: "")
  var (at, longest) = (14, 0)
  while at < bytes.count {
    let end = at + 8 + bytes[at + 4..<at + 8].reduce(0) { $0 << 8 | Int($1) }
    at += 8
    var now = 0
    while at < end {
      var (delta, length) = (0, 0)
      repeat {
        delta = delta << 7 | Int(bytes[at] & 0x7F)
        length += 1
        at += 1
      } while bytes[at - 1] & 0x80 != 0
      #expect(length <= 4)
      now += delta
      at += bytes[at] == 0xFF ? 3 + Int(bytes[at + 2]) : bytes[at] & 0xF0 == 0xC0 ? 2 : 3
    }
    longest = max(longest, now)
  }
  #expect(longest > 3 * 3600 * 48_000)
}

@Test(.enabled(if: Python.hasMido, "python3 has no module mido"))
func `The MIDI file has the render's onsets to the frame, three channels, pedal and a marker at each bar`() throws {
  let path = temporary("score.mid")
  defer { unlink(path) }
  for rendition in renditions() {
    try Data(MIDIFile.bytes(rendition, title: "Test")).write(to: URL(fileURLWithPath: path))
    let program = """
      import mido, sys
      f = mido.MidiFile(sys.argv[1])
      assert f.type == 1 and len(f.tracks) == 4, (f.type, len(f.tracks))
      assert [t.name for t in f.tracks] == ['Test', 'M', 'T', 'Bass']
      for t in f.tracks:
          now, held = 0, set()
          for m in t:
              now += m.time
              s = now * 0.5 / f.ticks_per_beat
              if m.type == 'marker': print('marker', m.text, round(s * 48000))
              if m.type == 'note_on':
                  assert m.note not in held, 'struck twice'
                  held.add(m.note)
                  print('note', m.channel, m.note, m.velocity, round(s * 48000))
              if m.type == 'note_off': held.remove(m.note)
              if m.type == 'control_change' and m.control == 64: print('pedal', m.channel, m.value, round(s * 48000))
          assert not held
      """
    let (status, told) = try Python.run(program, path)
    try #require(status == 0, "mido refused the file")
    let lines = Set(told.split(separator: "\n").map(String.init))
    let notes = rendition.events.filter { $0.kind == .note }
    for note in notes {
      let channel = [ScoreEvent.Voice.m: 0, .t: 1, .bass: 2][note.voice]!
      #expect(lines.contains("note \(channel) \(note.pitch.midi) \(note.velocity) \(note.frame.rawValue)"))
    }
    #expect(
      lines.filter { $0.hasPrefix("note") }.count == Set(notes.map { "\($0.voice) \($0.pitch) \($0.frame)" }).count)
    for bar in rendition.bars {
      #expect(lines.contains("marker bar \(bar.index + 1) \(bar.kind.rawValue) \(bar.start.rawValue)"))
    }
    #expect(lines.contains { $0.hasPrefix("pedal 0 127") })
  }
}

@Test(.enabled(if: Python.hasMusic21, "python3 has no module music21"))
func `music21 reads the MusicXML: every measure of its true length, every pitch spelled as we spell it`() throws {
  let path = temporary("score.musicxml")
  defer { unlink(path) }
  for (number, rendition) in renditions().prefix(3).enumerated() {
    let xml = MusicXML.text(rendition.bars, rules: rules, title: "Test & <more>")
    try xml.write(toFile: path, atomically: true, encoding: .utf8)
    let program = """
      import music21, sys
      s = music21.converter.parse(sys.argv[1])
      assert len(s.parts) == 3
      for k, p in enumerate(s.parts):
          for m in p.getElementsByClass('Measure'):
              assert m.duration.quarterLength == m.barDuration.quarterLength, (k, m.number)
              for n in m.flatten().notes:
                  print(k, m.number, float(n.offset), '+'.join(x.nameWithOctave for x in n.pitches), float(n.quarterLength))
      """
    let (status, told) = try Python.run(program, path)
    try #require(status == 0, "music21 refused the file")
    var expected: Set<String> = []
    let lines = Set(told.split(separator: "\n").map(String.init))
    let bars = rendition.bars.filter { !$0.sounding.isEmpty }
    for (measure, bar) in bars.enumerated() {
      for (index, pair) in bar.sounding.enumerated() {
        let whole = pair.isLong ? 4.0 : 1.0
        let half = pair.answer == nil ? whole : whole / 2
        for (part, note, offset, length) in [
          (0, pair.m, 0, whole), (1, pair.t, 0, half), (1, pair.answer, half, half),
        ] {
          guard let note else { continue }
          let name = rules.scale.spelling(of: note.pitch.midi).description.replacingOccurrences(of: "♯", with: "#")
          expected.insert("\(part) \(measure + 1) \(Double(index) + offset) \(name) \(length)")
        }
      }
    }
    #expect(expected.isSubset(of: lines), "game \(number): \(expected.subtracting(lines))")
    #expect(!told.contains("##") && !told.contains("--"))
  }
}

@Test func `Flat keys are spelled flat, with the signature's own letters`() throws {
  let night = try RuleLibrary.load(assets + "/night.yaml").rules
  let rendition = Rendition(of: ReferenceGames.game(seed: 1, index: 1), rules: night)
  let xml = MusicXML.text(rendition.bars, rules: night, title: "Night")
  #expect(xml.contains("<fifths>-4</fifths>") && xml.contains("<alter>-1</alter>") && !xml.contains("<alter>1</alter>"))
  #expect(MusicXML.text(rendition.bars, rules: rules, title: "").contains("<fifths>2</fifths>"))
}

@Test func `Every measure hides its time; shorts have no stems and longs are whole notes`() {
  let rendition = Rendition(of: ReferenceGames.game(seed: 1, index: 1), rules: rules)
  let xml = MusicXML.text(rendition.bars, rules: rules, title: "T")
  let measures = xml.components(separatedBy: "<measure ").count - 1
  #expect(measures == rendition.bars.count)
  #expect(xml.components(separatedBy: "<time print-object=\"no\">").count - 1 == measures)
  #expect(!xml.contains("<time>") && !xml.contains("<stem>up") && xml.contains("<type>whole</type>"))
}

@Test func `The picture shows every note and is the same page as SVG and PNG`() throws {
  for rendition in renditions() {
    let page = ScorePage(rendition.bars, rules: rules, title: "A & B", subtitle: "1-0")
    let heads = page.shapes.count {
      if case .ellipse(_, _, let rx, _, _, _, _) = $0 { rx > 5 } else { false }
    }
    let notes = rendition.bars.flatMap(\.sounding).reduce(0) {
      $0 + [$1.m, $1.t, $1.answer].count { $0 != nil } + $1.bass.count
    }
    #expect(heads == notes)
    #expect(page.svg.hasPrefix("<svg") && page.svg.hasSuffix("</svg>\n") && page.svg.contains("A &amp; B"))
    for case .ellipse(let x, let y, _, _, _, _, _) in page.shapes {
      #expect(x > 0 && x < page.width && y > 0 && y < page.height)
    }
  }
  let path = temporary("score.png")
  defer { unlink(path) }
  let page = ScorePage(renditions()[0].bars, rules: rules, title: "Test", subtitle: "")
  do { try page.writePNG(to: path) } catch {
    #expect(error.description.contains("HEADLESS"))
    return
  }
  let bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: path)))
  #expect(bytes.prefix(4) == [0x89, 0x50, 0x4E, 0x47] && bytes.count > 10_000)
  #expect(throws: ScoreFileError.self) { try page.writePNG(to: "/nowhere/score.png") }
}

@Test func `The text score and the explanation tell every bar, its facts, rules, costs and runners-up`() {
  let record = ReferenceGames.game(seed: 2, index: 3)
  let rendition = Rendition(of: record, rules: rules, explains: true)
  let text = TextScore.text(rendition.bars, scale: rules.scale)
  #expect(text.components(separatedBy: "\nbar ").count == rendition.bars.count)
  let explained = Explanation.text(rendition, record: record)
  for (index, move) in record.game.variantMoves.enumerated() {
    #expect(explained.contains("facts: \(move.mover.letter) \(move.square.name);"), "move \(index + 1)")
  }
  #expect(explained.contains("dearer by") && explained.contains("settled") && explained.contains("candidate"))
  #expect(!explained.contains("dearer by -"))
}

@Test func `FLAC holds the same sound as WAV, and a chain changes a sound but leaves its length and tail`() throws {
  let (wav, flac) = (temporary("a.wav"), temporary("a.flac"))
  defer {
    unlink(wav)
    unlink(flac)
  }
  let tone = Sound.tone(midi: 71, seconds: 0.5, .init(level: -12))
  try tone.write(to: wav)
  try tone.write(to: flac)
  let (a, b) = (try Sound(path: wav), try Sound(path: flac))
  // libsndfile scales to 24 bits by 2²³ for one and 2²³ − 1 for the other: one step apart at most.
  #expect(a.frames.count == b.frames.count && a.frames.count == tone.frames.count)
  #expect(zip(a.frames, b.frames).allSatisfy { abs($0.x - $1.x) < 2.5e-7 })
  #expect(zip(a.frames, tone.frames).allSatisfy { abs($0.x - $1.x) < 1e-6 })
  var wet = tone
  wet.pass(through: try RuleReader.chain("comb:wax-comb, ringmod:bell, gain:-3"), ringing: 1)
  #expect(wet.frames.count == tone.frames.count + 48_000 && wet.frames != tone.frames)
  #expect(wet.frames.dropFirst(tone.frames.count).contains { abs($0.x) > 1e-4 })
  #expect(throws: ScoreFileError.self) { try RuleReader.chain("comb:honey") }
  #expect(throws: ScoreFileError.self) { try RuleReader.chain("vocoder") }
  #expect(throws: ScoreFileError.self) { try Sound(path: "/nowhere.wav") }
  #expect(throws: ScoreFileError.self) { try AudioFile(path: "/nowhere/a.wav", format: .wav) }
}
