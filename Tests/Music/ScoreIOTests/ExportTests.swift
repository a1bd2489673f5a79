import Foundation
import GameScore
import Oracle
import Records
import ScoreMeasures
import ScoreModel
import Synth
import TestSupport
import Testing
import TicTacToe
import Tintinnabuli

@testable import ScoreIO

/// `PYTHON` names an interpreter that has the modules which read our exports.
enum Python {
  static let path = ProcessInfo.processInfo.environment["PYTHON"] ?? "/usr/bin/python3"
  static let hasMido = (try? run("import mido"))?.status == 0
  static let hasPrettyMIDI = (try? run("import pretty_midi"))?.status == 0
  static let hasMusic21 = (try? run("import music21"))?.status == 0
  static let hasChess = (try? run("import chess"))?.status == 0

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

@Test(arguments: [44_100, 48_000, 96_000])
func `The comb filter delays a sound file by the same time at every sample rate`(rate: Int) throws {
  var frames = [Stereo](repeating: .zero, count: rate)
  frames[0] = Stereo(repeating: 1)
  var sound = Sound(frames, sampleRate: rate)
  sound.pass(through: try RuleReader.chain("comb:custom delay=4800 feedback=0 dry=0 wet=1"), ringing: 0)
  let loudest = try #require(sound.frames.indices.max { abs(sound.frames[$0].x) < abs(sound.frames[$1].x) })
  #expect(abs(Double(loudest) / Double(rate) - 0.1) < 0.001)
}

/// Written from the specification of Standard MIDI Files.
private struct ReadMIDI {
  /// `seconds` follows from the tempos of the first track.
  struct Message {
    let tick: Int
    let seconds: Double
    let bytes: [UInt8]
  }

  var tracks: [[Message]] = []
  /// The greatest number of ticks between two messages, and in `widest` the greatest number of bytes that encode such a distance.
  var longest = 0
  var widest = 0

  init(_ bytes: [UInt8]) {
    let division = Double(Int(bytes[12]) << 8 | Int(bytes[13]))
    var tempos: [(tick: Int, seconds: Double, tempo: Double)] = [(0, 0, 500_000)]
    func seconds(_ tick: Int) -> Double {
      guard let last = tempos.last(where: { $0.tick <= tick }) else { return 0 }
      return last.seconds + Double(tick - last.tick) / division * last.tempo / 1e6
    }
    var at = 14
    while at < bytes.count {
      let end = at + 8 + bytes[at + 4..<at + 8].reduce(0) { $0 << 8 | Int($1) }
      at += 8
      var (now, track) = (0, [Message]())
      while at < end {
        var (delta, length) = (0, 0)
        repeat {
          delta = delta << 7 | Int(bytes[at] & 0x7F)
          length += 1
          at += 1
        } while bytes[at - 1] & 0x80 != 0
        now += delta
        (longest, widest) = (max(longest, delta), max(widest, length))
        let size = bytes[at] == 0xFF ? 3 + Int(bytes[at + 2]) : bytes[at] & 0xF0 == 0xC0 ? 2 : 3
        let message = Array(bytes[at..<at + size])
        track.append(Message(tick: now, seconds: seconds(now), bytes: message))
        if message.prefix(2) == [0xFF, 0x51] {
          tempos.append((now, seconds(now), Double(message[3...].reduce(0) { $0 << 8 | Int($1) })))
        }
        at += size
      }
      tracks.append(track)
    }
  }
}

@Test func `Pauses in a MIDI file are split to the largest allowed distance`() throws {
  let record = try Record(text: "1. b2 {[%emt 0:00:01.000]} a1 {[%emt 3:00:00.000]} 2. c3 {[%emt 0:00:05.000]} *")
  let rendition = Rendition(of: record, rules: rules)
  let file = ReadMIDI(MIDIFile.bytes(rendition, title: ""))
  #expect(file.widest <= 4 && file.longest > 1_000)
  let last = try #require(file.tracks[0].last { $0.bytes.starts(with: [0xFF, 0x06]) })
  #expect(abs(last.seconds - (rendition.bars.last?.start.seconds ?? 0)) < 0.001 && last.seconds > 3 * 3_600)
  #expect(last.tick < 10_000_000)
}

@Test(arguments: Variant.allCases)
func `A MIDI file has the render's onsets and bars, and ends with all keys and pedals up`(_ variant: Variant) throws {
  for record in ReferenceGames.games(2, of: variant, seed: 3) {
    let rendition = Rendition(of: record, rules: rules)
    let bytes = MIDIFile.bytes(rendition, title: "Ingrid – Zoë 🌿")
    let file = ReadMIDI(bytes)
    #expect(file.tracks[0].first?.bytes == [0xFF, 0x03, 14] + Array("Ingrid - Zo".utf8) + [0xEB, 0x20, 0x3F])
    #expect(file.tracks[0].first { $0.bytes.starts(with: [0xFF, 0x51]) }?.tick == 0)
    // Each bar has a marker and, unless it is silent, a time signature.
    let markers = file.tracks[0].filter { $0.bytes.starts(with: [0xFF, 0x06]) }
    #expect(markers.count == rendition.bars.count)
    for (marker, bar) in zip(markers, rendition.bars) { #expect(abs(marker.seconds - bar.start.seconds) < 0.000_1) }
    var bar = 0
    for message in file.tracks[0] where message.bytes.starts(with: [0xFF, 0x58]) {
      #expect(message.tick == bar, "a bar is not as long as its time signature says")
      bar = message.tick + (Int(message.bytes[3]) * 4 * 960) >> Int(message.bytes[4])
    }
    for (channel, voice) in [ScoreEvent.Voice.m, .t, .bass].enumerated() {
      var held: [UInt8: Int] = [:]
      var onsets: [(seconds: Double, pitch: Int)] = []
      for message in file.tracks[channel + 1] {
        if message.bytes[0] & 0xF0 == 0x90 {
          #expect(held.updateValue(message.tick, forKey: message.bytes[1]) == nil, "struck while it is down")
          onsets.append((message.seconds, Int(message.bytes[1])))
        }
        if message.bytes[0] & 0xF0 == 0x80 {
          #expect(held.removeValue(forKey: message.bytes[1]) ?? .max < message.tick)
        }
      }
      #expect(held.isEmpty)
      let ends = file.tracks[channel + 1].suffix(3).map(\.bytes)
      #expect(ends == [[0xB0 | UInt8(channel), 64, 0], [0xB0 | UInt8(channel), 123, 0], [0xFF, 0x2F, 0]])
      let notes = rendition.events.filter { $0.kind == .note && $0.voice == voice }
      #expect(notes.count == onsets.count)
      for pitch in Set(onsets.map(\.pitch)) {
        let ours = notes.filter { $0.pitch.midi == pitch }.map(\.frame.seconds).sorted()
        let theirs = onsets.filter { $0.pitch == pitch }.map(\.seconds).sorted()
        #expect(zip(ours, theirs).allSatisfy { abs($0 - $1) < 0.002 })
      }
    }
  }
}

@Test(.enabled(if: Python.hasMido, "python3 has no module mido"))
func `mido reads the MIDI file: three channels, every key released, a marker at each bar`() throws {
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
          held = set()
          for m in t:
              if m.type == 'note_on':
                  assert m.note not in held, 'struck twice'
                  held.add(m.note)
              if m.type == 'note_off': held.remove(m.note)
          assert not held
      now = 0
      for m in f:
          now += m.time
          if m.type == 'marker': print('marker', m.text, round(now * 1000))
          if m.type == 'note_on': print('note', m.channel, m.note, m.velocity)
          if m.type == 'control_change' and m.control == 64: print('pedal', m.channel, m.value)
      """
    let (status, told) = try Python.run(program, path)
    try #require(status == 0, "mido refused the file")
    let lines = told.split(separator: "\n").map(String.init)
    let notes = rendition.events.filter { $0.kind == .note }.map {
      "note \($0.voice.rawValue) \($0.pitch.midi) \($0.velocity)"
    }
    #expect(lines.filter { $0.hasPrefix("note") }.sorted() == notes.sorted())
    for bar in rendition.bars {
      let start = Int((bar.start.seconds * 1_000).rounded())
      #expect(
        (start - 1...start + 1).contains { lines.contains("marker bar \(bar.index + 1) \(bar.kind.rawValue) \($0)") })
    }
    #expect(lines.contains("pedal 0 127") && lines.suffix(3).allSatisfy { $0.hasPrefix("pedal") && $0.hasSuffix(" 0") })
  }
}

@Test(
  .enabled(if: Python.hasPrettyMIDI && Python.hasMusic21, "python3 lacks pretty_midi or music21"),
  arguments: Variant.allCases)
func `pretty_midi reads every note of each game's MIDI file, and music21 its pitches`(
  _ variant: Variant
) throws {
  let path = temporary("read-\(variant).mid")
  defer { unlink(path) }
  let rendition = Rendition(of: ReferenceGames.game(variant, seed: 3, index: 0), rules: rules)
  try Data(MIDIFile.bytes(rendition, title: "Test")).write(to: URL(fileURLWithPath: path))
  let program = """
    import music21, pretty_midi, sys
    read = pretty_midi.PrettyMIDI(sys.argv[1])
    print(sum(len(voice.notes) for voice in read.instruments), round(max(n.start for v in read.instruments for n in v.notes), 1))
    heard = {p.midi for n in music21.converter.parse(sys.argv[1]).recurse().notes for p in n.pitches}
    print(*sorted(heard))
    """
  let (status, told) = try Python.run(program, path)
  let notes = rendition.events.filter { $0.kind == .note }
  let last = (notes.map(\.frame.seconds).max() ?? 0) * 10
  let pitches = Set(notes.map(\.pitch.midi)).sorted().map(String.init).joined(separator: " ")
  #expect(status == 0 && told == "\(notes.count) \(last.rounded() / 10)\n\(pitches)\n", "\(told)")
}

@Test(.needs("timidity")) func `TiMidity plays the MIDI file to its end`() throws {
  let path = temporary("play.mid")
  defer { unlink(path) }
  let rendition = Rendition(of: ReferenceGames.game(seed: 3, index: 0), rules: rules)
  try Data(MIDIFile.bytes(rendition, title: "Test")).write(to: URL(fileURLWithPath: path))
  let told = try Child.run(["timidity", "-c", "/dev/null", "-Ow", "-o", "/dev/null", path])
  let length = try #require(told.out.firstMatch(of: /Playing time: ~(\d+) seconds/)?.1, "\(told)")
  #expect(told.status == 0 && abs((Double(length) ?? 0) - rendition.end.seconds) < 10)
}

@Test(.enabled(if: Python.hasMusic21, "python3 has no module music21"))
func `music21 reads the MusicXML: correct measure lengths and pitch spellings`() throws {
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
      // In even rhythm a short pair lasts 1 quarter note and a long pair 4.
      for (index, pair) in bar.sounding.enumerated() where bar.rhythm == .even {
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

@Test func `Measures hide their time signature; short notes have no stems and long ones are whole notes`() {
  let rendition = Rendition(of: ReferenceGames.game(seed: 1, index: 1), rules: rules)
  let xml = MusicXML.text(rendition.bars, rules: rules, title: "T")
  let measures = xml.components(separatedBy: "<measure ").count - 1
  #expect(measures == rendition.bars.count)
  let beats = rendition.bars.map { $0.sounding.reduce(0) { $0 + ($1.isLong ? 4 : 1) } }
  let changes = 1 + zip(beats, beats.dropFirst()).count { $0 != $1 }
  #expect(xml.components(separatedBy: "<time print-object=\"no\" symbol=\"note\">").count - 1 == changes)
  #expect(!xml.contains("<time>") && !xml.contains("<stem>up") && xml.contains("<type>whole</type>"))
}

@Test func `MusicXML writes bass notes that are far above the bass staff on the staff of voice T`() throws {
  let record = try Record(
    text: String(contentsOf: repository.appending(path: "docs/heard/misere.pgn"), encoding: .utf8),
    variants: Variant.allCases)
  let xml = MusicXML.text(Rendition(of: record, rules: rules).bars, rules: rules, title: "")
  let notes = xml.components(separatedBy: "<note").dropFirst().map { $0.components(separatedBy: "</note>")[0] }
  func isHigh(_ note: String) -> Bool { (5...9).contains { note.contains("<octave>\($0)</octave>") } }
  #expect(notes.contains { isHigh($0) && $0.contains("<voice>4</voice>") && $0.contains("<staff>2</staff>") })
  #expect(!notes.contains { isHigh($0) && $0.contains("<staff>3</staff>") })
}

@Test(arguments: Variant.allCases)
func `MusicXML has the dynamics that are played, a slur over each melody, and a pedal that begins and ends`(
  _ variant: Variant
) throws {
  let music = Rendition(of: ReferenceGames.game(variant, seed: 3, index: 2), rules: rules)
  let xml = MusicXML.text(music.bars, rules: rules, title: "T")
  func count(_ text: String) -> Int { xml.components(separatedBy: text).count - 1 }
  let melodies = music.bars.map { bar in bar.sounding.count { $0.m != nil } }
  #expect(
    count("<slur type=\"start\"") == melodies.count { $0 > 2 }
      && count("<slur type=\"stop\"") == melodies.count { $0 > 2 })
  #expect(count("<pedal type=\"start\"") == count("<pedal type=\"stop\"") && !xml.contains("type=\"change\""))
  // LilyPond requires all pedal marks in one voice, each of them before a note or rest of that voice.
  let after = xml.components(separatedBy: "<pedal ").dropFirst().compactMap { $0.firstMatch(of: /<voice>(\d)/)?.1 }
  #expect(after.count >= 2 && after.allSatisfy { $0 == "3" })
  #expect(count("<dynamics>") > 1 && xml.contains("<pp/>"))
  let softest = music.bars.flatMap(\.pairs).compactMap(\.m).map { (Int($0.velocity) * 100 + 45) / 90 }.min() ?? 0
  #expect(xml.contains("<note dynamics=\"\(softest)\">"))
}

@Test func `The picture shows every note and is the same as SVG and PNG`() throws {
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
    #expect("\(error)".contains("HEADLESS"))
    return
  }
  let bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: path)))
  // Cairo refuses sides above 32,767 pixels, so a higher page is written as several PNG files.
  let folder = TemporaryFolder()
  let long = ScorePage(
    Array(repeating: renditions()[0].bars, count: 60).flatMap { $0 }, rules: rules, title: "", subtitle: "")
  #expect(long.height > 2 * 32_767)
  try long.writePNG(to: folder.path + "/long.png", zoom: 0.5)
  let pieces = long.pieces(of: 32_768)
  let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
  #expect(
    names == ["long-2.png", "long-3.png", "long.png"].suffix(pieces.count) && pieces.count > 1, "\(names) \(pieces)")
  #expect(pieces.first?.lowerBound == 0 && pieces.last?.upperBound == long.height)
  #expect(zip(pieces, pieces.dropFirst()).allSatisfy { $0.upperBound == $1.lowerBound })
  #expect(bytes.prefix(4) == [0x89, 0x50, 0x4E, 0x47] && bytes.count > 10_000)
  #expect(throws: ScoreFileError.self) { try page.writePNG(to: "/nowhere/score.png") }
}

@Test func `The text score and the explanation list every bar with its facts, rules, costs and runners-up`() {
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

@Test func `FLAC has the same sound as WAV, and an effect chain keeps a sound's length and tail`() throws {
  let (wav, flac) = (temporary("a.wav"), temporary("a.flac"))
  defer {
    unlink(wav)
    unlink(flac)
  }
  let tone = Sound.tone(midi: 71, seconds: 0.5, .init(level: -12))
  try tone.write(to: wav)
  try tone.write(to: flac)
  let (a, b) = (try Sound(path: wav), try Sound(path: flac))
  // libsndfile scales WAV and FLAC by different factors (2²³ and 2²³ − 1), so a sample differs by at most one step of 24 bits.
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
  #expect(throws: ScoreFileError.self) { try AudioFile(path: "/nowhere/a.wav", format: .wav, frames: 1) }
}

@Test func `A WAV file beyond 4 GiB is written as RF64`() throws {
  let folder = TemporaryFolder()
  let second = [Float](repeating: 0.5, count: 2 * 48_000)
  for (frames, kind) in [(48_000, "RIFF"), (4 * 3_600 * 48_000, "RIFF"), (5 * 3_600 * 48_000, "RF64")] {
    let path = folder.path + "/\(frames).wav"
    let file = try AudioFile(path: path, format: .wav, frames: frames)
    try second.withUnsafeBufferPointer { try file.write($0) }
    try file.finish()
    #expect(try Data(contentsOf: URL(filePath: path)).prefix(4) == Data(kind.utf8))
    #expect(try Sound(path: path).frames == [Stereo](repeating: Stereo(0.5, 0.5), count: 48_000))
  }
}

@Test(.needs("prlimit"), arguments: ["wav", "flac"])
func `A sound file whose last bytes do not fit on the disk is refused and removed`(_ kind: String) throws {
  let folder = TemporaryFolder()
  let path = folder.path + "/a." + kind
  let tone = [try #require(command), "tone", "A4", path]
  #expect(try Child.run(tone).status == 0)
  let size = try Data(contentsOf: URL(filePath: path)).count
  try FileManager.default.removeItem(atPath: path)
  let limited = ["sh", "-c", "trap '' XFSZ; exec prlimit --fsize=$0 \"$@\"", "\(size - 1)"] + tone
  let told = try Child.run(limited)
  #expect(told.status == 2 && told.errors == "alina-score: \(path): cannot be written (File too large)\n", "\(told)")
  #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
}
