import ArgumentParser
import Base
import Foundation
import ScoreIO
import ScoreModel
import Synchronization
import Synth
import Tintinnabuli

struct Live: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Compose music from lines of JSON as they arrive, for events of any kind: docs/tintinnabuli.md.",
    discussion: """
      Without --wav the score plays on the sound device in real time. With --wav it is written when the lines end; lines that \
      all have a time ("at") are not waited for. Other files, too, are written when the lines end.
      """)

  @Argument(help: "The lines; - reads standard input.") var events = "-"
  @Option(help: ArgumentHelp("A rule file by name or path.", valueName: "rules")) var scoreRules: String?
  @Option(help: ArgumentHelp("The music's seed.", valueName: "n")) var seed: UInt64 = 1
  @OptionGroup var sounding: SoundOptions
  @Option(help: ArgumentHelp("The sound to write.", valueName: "file")) var wav: String?
  @Option(
    help: ArgumentHelp(
      "A device or pipe takes MIDI messages as they sound; any other file becomes a Standard MIDI File.",
      valueName: "file"))
  var midi: String?
  @Option(name: .customLong("musicxml"), help: ArgumentHelp("For notation programs.", valueName: "file"))
  var musicXML: String?
  @Option(
    help: ArgumentHelp("A picture of the score; a long one continues in NAME-2.png and so on.", valueName: "file"))
  var png: String?
  @Flag(help: "Make a port of the ALSA sequencer on which the notes appear as they sound.") var midiPort = false
  @Flag(help: "Print the score.") var text = false
  @Flag(help: "Print, bar by bar, the facts, the applied rules, and the reason for each note.") var explain = false

  private var isMIDIStream: Bool {
    var status = stat()
    guard let midi, stat(midi, &status) == 0 else { return false }
    return [S_IFCHR, S_IFIFO, S_IFSOCK].contains(status.st_mode & S_IFMT)
  }

  func validate() throws {
    if wav != nil, let other = isMIDIStream ? "--midi \(midi ?? "")" : midiPort ? "--midi-port" : nil {
      throw ValidationError("\(other) goes with the sound device, not with --wav")
    }
  }

  func run() throws {
    let rules = try RuleLibrary.load(scoreRules).rules
    if let wav { return try write(to: wav, rules) }
    try play(rules)
    EndSignal.obey()
  }

  private func write(to path: String, _ rules: ScoreRules) throws {
    var score = LiveScore(seed: seed, rules: rules)
    score.conductor.explains = explain
    var all = score.conductor.open(at: .zero)
    let begun = ContinuousClock.now
    try lines(rules) { line in
      let elapsed = line.at == nil ? (ContinuousClock.now - begun) / .seconds(1) : 0
      all += score.compose(line, now: .seconds(elapsed))
    }
    let (rest, end) = score.finish()
    try write(score, all + rest, end: end)
    let sound = OfflineSound(all + rest, end: end)
    try OutputFile.write(path) { try sound.write(to: $0, format: .wav, rules: rules, sounding) }
  }

  private func play(_ rules: ScoreRules) throws {
    guard let device = SoundDevices.Output() else { throw ScoreFileError("no sound device; --wav FILE writes a file") }
    try sounding.playing(rules) { engine in try play(rules, engine, device) }
  }

  private func play(_ rules: ScoreRules, _ engine: Engine, _ device: SoundDevices.Output) throws {
    var stream = MIDIStream()
    let file = try midiFile()
    let port = midiPort ? try MIDIPort(name: "Alina live") : nil
    func send(_ messages: [UInt8]) throws {
      port?.send(messages)
      do { try file?.write(contentsOf: messages) } catch {
        throw ScoreFileError("--midi \(midi ?? ""): cannot be written")
      }
    }
    // Ignore SIGPIPE: a write to a closed pipe then fails with an error, and `defer` below still silences the MIDI port.
    signal(SIGPIPE, SIG_IGN)
    EndSignal.watch()
    defer { try? send(stream.silence()) }
    let inbox = readInBackground(rules)
    var score = LiveScore(seed: seed, rules: rules)
    score.conductor.explains = explain
    let keepsEvents = midi != nil && !isMIDIStream
    var all: [ScoreEvent] = []
    func post(_ events: [ScoreEvent]) {
      if keepsEvents { all += events }
      // Rendering a block makes room in the synthesizer's full queue.
      while !engine.post(events) { device.play(engine) }
      stream.post(events)
    }
    post(score.conductor.open(at: .zero))
    var waiting: [EventLine] = []
    var end: Tick?
    while !EndSignal.hasCome, end.map({ engine.framesBegun < $0 + OfflineRenderer.tail }) ?? true {
      let isOver = inbox.state.withLock { state in
        waiting += state.lines
        state.lines = []
        return state.isOver
      }
      // Compose the music of an input line only shortly before its time: the synthesizer's queue has room for the notes of some minutes,
      // not of a whole file.
      var heard = 0
      while heard < waiting.count,
        score.moment(of: waiting[heard], now: engine.framesBegun) <= engine.framesBegun + Conductor.lookahead
      {
        post(score.compose(waiting[heard], now: engine.framesBegun))
        heard += 1
      }
      waiting.removeFirst(heard)
      if isOver, waiting.isEmpty, end == nil {
        let (rest, last) = score.finish()
        post(rest)
        end = last
      }
      if end == nil { post(score.conductor.advance(to: engine.framesBegun)) }
      device.play(engine)
      try send(stream.messages(before: engine.framesBegun - Tick(rawValue: device.waiting)))
    }
    try write(score, all, end: end ?? engine.framesBegun)
    if let failure = inbox.state.withLock({ $0.failure }) { throw ScoreFileError(failure) }
  }

  /// The device or pipe for MIDI messages; `nil` if `--midi` names none.
  private func midiFile() throws -> FileHandle? {
    guard isMIDIStream, let midi else { return nil }
    guard let file = FileHandle(forWritingAtPath: midi) else { throw ScoreFileError("\(midi): cannot be written") }
    return file
  }

  private func readInBackground(_ rules: ScoreRules) -> Inbox {
    let inbox = Inbox()
    let reader = self
    Thread.detachNewThread {
      do {
        try reader.lines(rules) { line in inbox.state.withLock { $0.lines.append(line) } }
        inbox.state.withLock { $0.isOver = true }
      } catch {
        inbox.state.withLock { ($0.isOver, $0.failure) = (true, "\(error)") }
      }
    }
    return inbox
  }

  private func write(_ score: LiveScore, _ events: [ScoreEvent], end: Tick) throws {
    let (bars, rules) = (score.conductor.bars, score.conductor.rules)
    if text { try writeOut(TextScore.text(bars, scale: rules.scale)) }
    if explain { try writeOut(Explanation.text(score)) }
    let title = rules.name
    if let midi, !isMIDIStream {
      let heard = ScoreEvent.heard(events).inOrder
      try OutputFile.write(MIDIFile.bytes(heard, bars, end: end, rules: rules, title: title), to: midi)
    }
    if let musicXML {
      try OutputFile.write(Array(MusicXML.text(bars, rules: rules, title: title).utf8), to: musicXML)
    }
    if let png { try ScorePage(bars, rules: rules, title: title, subtitle: "").writePNG(to: png) }
  }

  private func lines(_ rules: ScoreRules, _ body: (EventLine) -> Void) throws {
    try EventSource(path: events).forEachLine(rules, body)
  }

  /// Shared by the thread that reads the lines and the thread that plays their music.
  private final class Inbox: Sendable {
    struct State {
      var lines: [EventLine] = []
      var isOver = false
      var failure: String?
    }
    let state = Mutex(State())
  }
}

struct EventSource {
  let path: String

  func forEachLine(_ rules: ScoreRules, _ visit: (EventLine) throws -> Void) throws {
    if path != "-" {
      let file = open(path, O_RDONLY)
      guard file >= 0 else { throw ScoreFileError("\(path): cannot be read") }
      dup2(file, STDIN_FILENO)
      close(file)
    }
    var (number, events) = (0, EventNumbers())
    while let text = readLine() {
      number += 1
      if text.allSatisfy({ $0 == " " }) { continue }
      do {
        let line = try EventLine(text, rules: rules)
        try events.take(line)
        try visit(line)
      } catch {
        throw ScoreFileError("\(path == "-" ? "standard input" : path): line \(number): \(error)")
      }
    }
  }
}
