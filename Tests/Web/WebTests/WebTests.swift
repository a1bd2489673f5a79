import Base
import Foundation
import MatchProtocol
import Probe
import Records
import ScoreIO
import ScoreFormats
import TestSupport
import Testing
import TicTacToe

/// Compares the page's WebAssembly modules with this system's build of the same functions.
@Suite(.needs("node"), .enabled(if: Modules.areThere, "the page is not built: scripts/web --modules"))
struct WebTests {
  let pack: [UInt8]
  let native: Probe

  init() throws {
    pack = try Array(Data(contentsOf: URL(fileURLWithPath: Modules.folder + "/rules.json")))
    native = try Probe(rules: pack)
  }

  private func expectSame(_ questions: [String]) throws {
    let answers = try Modules.ask(questions)
    #expect(answers.count == questions.count)
    for (question, answer) in zip(questions, answers) {
      let wanted = native.answer(question)
      #expect(answer == wanted, "\(question.prefix(200))")
      #expect(!wanted.isEmpty && wanted != "no such question")
    }
  }

  @Test func `The score rules that are packed for the page equal the YAML files`() throws {
    let entries = try RulePack(pack).entries
    #expect(entries.map(\.reference.name) == RuleLibrary.names)
    for entry in entries {
      let file = try RuleLibrary.load(entry.reference.name)
      #expect(entry.rules == file.rules && entry.reference.hash == file.hash)
    }
    try expectSame(["rules"])
  }

  @Test func `A damaged pack of score rules is refused with the reason`() {
    for (text, wanted) in [
      ("{", "ends too early"),
      (#"{"a":{}}"#, "a lacks its hash"), (#"{"a":{"hash":"1","rules":{}}}"#, "\"name\" is missing"),
    ] {
      #expect { try RulePack(Array(text.utf8)) } throws: { "\($0)".contains(wanted) }
    }
  }

  @Test func `WebAssembly computes the same values, best moves and facts of every position`() throws {
    try expectSame(["positions"])
  }

  @Test func `WebAssembly opponents make the same moves with the same seeds`() throws {
    try expectSame((0..<20).map { "opponents \($0)" })
  }

  @Test func `WebAssembly reads and writes records like the native build, with the same errors`() throws {
    var questions: [String] = []
    for seed in 0..<UInt64(100) {
      let record = Probe.game(seed: seed)
      questions += ["record\n\(record.text)", "line\n\(record.jsonLine)"]
      // A record with a changed byte must give the same record or the same error.
      var generator = SplitMix64(seed: seed)
      var bytes = Array(record.text.utf8)
      bytes[generator.below(bytes.count)] = UInt8(0x20 + generator.below(0x5F))
      questions.append("record\n" + String(decoding: bytes, as: UTF8.self))
      var line = Array(record.jsonLine.utf8)
      line[generator.below(line.count)] = UInt8(0x20 + generator.below(0x5F))
      questions.append("line\n" + String(decoding: line, as: UTF8.self))
    }
    try expectSame(questions)
  }

  @Test func `WebAssembly reads, or refuses, whole, cut and changed links like the native build`() throws {
    var questions: [String] = []
    for seed in 0..<UInt64(amount("WEB_LINKS", quick: 20, all: 200)) {
      var generator = SplitMix64(seed: seed)
      var record = Probe.game(seed: seed)
      record.startFrame = Int64(generator.below(1 << 20))
      for ply in record.times.indices {
        record.times[ply].frame = Int64(ply + 1) * 200_000 + Int64(generator.below(1 << 16))
        record.addBar(generator.below(12), ply: ply)
      }
      let link = try #require(record.link)
      questions.append("link\n" + link)
      // The end of a link encodes numbers of up to 63 bits, so each of the last characters is cut off and changed.
      for count in 1..<min(24, link.utf8.count) { questions.append("link\n" + link.dropLast(count)) }
      for place in link.indices.suffix(24) {
        for letter in ["A", "z", "_"] where letter != String(link[place]) {
          questions.append("link\n" + link.replacingCharacters(in: place...place, with: letter))
        }
      }
    }
    try expectSame(questions)
  }

  @Test func `WebAssembly reads and composes the largest numbers of a record like the native build`() throws {
    let year = "8760:00:00", frame = "1513728000000"
    var moves = ""
    for (ply, cell) in ["b2", "a1", "c1", "a3", "a2", "c2", "b1", "b3", "c3"].enumerated() {
      moves += "{[%emt \(year)] [%clk \(year)] [%frame \(frame)] [%bar 1000000]} "
      moves += ply % 2 == 0 ? "\(ply / 2 + 1). \(cell) " : "\(cell) "
    }
    for limit in ["2147483647", "2147483648", "9223372036854775807", "9223372036854775808"] {
      for tag in ["TimeControl", "Seed", "Station", "LogSlots", "Date", "Round"] {
        let record = "[\(tag) \"\(limit)\"]\n\n\(moves)1/2-1/2\n"
        try expectSame(["record\n\(record)", "piece\n\(record)"])
      }
    }
  }

  @Test func `WebAssembly composes a record and exports MIDI, MusicXML and SVG like the native build`() throws {
    try expectSame((0..<amount("WEB_SCORES", quick: 12, all: 200)).map { "music \($0) \($0 % 3)" })
  }

  @Test func `WebAssembly reads a player's own music like the native build, and writes the same rule file`() throws {
    try expectSame(
      [
        "score-----------", "night-32-6-9-35-30-40-30-28-39-80", "morning-0-0-0-0-0-0-0-0-0-0", "score-30-9---------",
        "x",
      ]
      .map { "own\n" + $0 })
  }

  @Test func `WebAssembly renders the same samples of a record as the native build`() throws {
    let seconds = amount("WEB_SECONDS", quick: 2, all: 4)
    try expectSame(
      (0..<amount("WEB_SOUNDS", quick: 4, all: 200)).map { "sound \($0) \($0 % 3) \(seconds * 48_000)" })
  }

  @Test func `A WebAssembly client folds a session's lines to the same matches and sends the same lines`() throws {
    let id = try #require(MatchID(rawValue: "m1"))
    var state = MatchState(id: id)
    let people = Sides(
      x: PlayerInfo(name: "p", rating: 1500, guest: true), o: PlayerInfo(name: "Ann", rating: 1612, guest: false))
    var at: Int64 = 1_764_000_000_000
    func add(_ kind: MatchEvent.Kind, _ side: Player? = nil) throws -> String {
      at += 1500
      let body = MatchEvent(at: at, side: side, kind).body
      try state.append(body: body)
      return String(
        decoding: ServerMessage.event(id, seq: state.seq, hash: state.hash.digest.hex, body: body).bytes(),
        as: UTF8.self)
    }
    var lines: [String] = []
    let welcome = ServerMessage.Welcome(
      session: "s", resume: "r", you: people.x, deviation: 350, token: nil, rate: [10, 20], matches: [id], now: at)
    lines.append(String(decoding: ServerMessage.welcome(welcome).bytes(re: "1"), as: UTF8.self))
    lines.append(try add(.start(people, MatchTerms(), confirm: false, previous: nil, keys: [])))
    lines.append(String(decoding: ServerMessage.state(state, left: 60_000, you: .x).bytes(), as: UTF8.self))
    lines.append("> b2")
    for (ply, name) in ["b2", "a1", "c3"].enumerated() {
      let cell = try #require(CellName(text: name))
      lines.append(try add(.move(ply: ply, cell: cell, spent: 900), ply % 2 == 0 ? .x : .o))
    }
    lines.append(String(decoding: ServerMessage.gone(id, .o, claimIn: 30_000).bytes(), as: UTF8.self))
    lines += [#"{"t":"event"}"#, "{", #"{"t":"bye","code":"bye","msg":"","retry_ms":3000000000}"#]
    lines = lines.map { $0.trimmingCharacters(in: .newlines) }
    var questions = ["client\n" + lines.joined(separator: "\n")]
    // Extreme values replace each number of the lines, one at a time.
    for (index, line) in lines.enumerated() {
      for place in line.ranges(of: /-?[0-9]+/) {
        for number in ["-9223372036854775808", "-2147483648", "-1", "2147483647", "9223372036854775807"] {
          var changed = lines
          changed[index].replaceSubrange(place, with: number)
          questions.append("client\n" + changed.joined(separator: "\n"))
        }
      }
    }
    try expectSame(questions)
  }
}

enum Modules {
  static let folder =
    ProcessInfo.processInfo.environment["ALINA_WEB"]
    ?? repository.appending(path: ".build-web/modules").path
  static var areThere: Bool { FileManager.default.fileExists(atPath: folder + "/probe.wasm") }

  static func ask(_ questions: [String]) throws -> [String] {
    let output = try run([], input: String(decoding: JSONEncoder().encode(questions), as: UTF8.self))
    return try JSONDecoder().decode([String].self, from: Data(output.utf8))
  }

  static func run(_ arguments: [String], input: String) throws -> String {
    let script = URL(fileURLWithPath: #filePath).appendingPathComponent("../probe.mjs").standardized.path
    let result = try Child.run(["node", script, folder] + arguments, input: input)
    #expect(result.status == 0, "\(result.errors)")
    return result.out.trimmingCharacters(in: .whitespacesAndNewlines)
  }
}
