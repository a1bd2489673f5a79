import Base
import Foundation
import Records
import ScoreMeasures
import TestSupport
import Testing

@testable import ScoreIO

/// The built alina-score beside the test bundle; `nil` if there is none.
let command: String? = {
  let bundle = CommandLine.arguments.first { $0.contains(".xctest") } ?? ""
  var folder = URL(fileURLWithPath: bundle)
  while folder.path.contains(".xctest") { folder.deleteLastPathComponent() }
  let path = folder.appendingPathComponent("alina-score").path
  return FileManager.default.isExecutableFile(atPath: path) ? path : nil
}()

func run(_ arguments: [String], input: String = "") throws -> (status: Int32, out: String, err: String) {
  let result = try Child.run([try #require(command, "alina-score is not built")] + arguments, input: input)
  return (result.status, result.out, result.errors)
}

private let record = "[Seed \"7\"]\n\n1. b2 a3 2. c3 a1 3. a2 c2 4. c1 *\n"

@Test func `The command renders a game from standard input, the same each time for the same seed`() throws {
  let first = try run(["render", "-", "--text"], input: record)
  #expect(first.status == 0 && first.err.isEmpty && first.out.contains("move 7  X"))
  #expect(try run(["render", "-", "--text"], input: record).out == first.out)
  #expect(try run(["render", "-", "--text", "--seed", "8"], input: record).out != first.out)
  #expect(try run(["render", "-", "--text", "--score-rules", "night"], input: record).out != first.out)
  let explained = try run(["explain", "-"], input: record)
  #expect(explained.status == 0 && explained.out.contains("dearer by"))
}

@Test func `Help and version go to standard output with status 0`() throws {
  for arguments in [["--help"], ["--version"], ["render", "--help"], ["fx", "--help"]] {
    let told = try run(arguments)
    #expect(told.status == 0 && !told.out.isEmpty && told.err.isEmpty)
  }
}

@Test(arguments: [
  ["--help"], ["check-rules", "night"], ["explain", "-"], ["render", "-", "--text"], ["measure", "--count", "1"],
])
func `A result that cannot be written to standard output is an error`(arguments: [String]) throws {
  let binary = try #require(command, "alina-score is not built")
  let told = try Child.run(["/bin/sh", "-c", "exec \"$0\" \"$@\" >/dev/full", binary] + arguments, input: record)
  #expect(told.status == 2, "\(told)")
  #expect(told.errors == "alina-score: the standard output cannot be written: No space left on device\n")
}

@Test(.needs("ffmpeg", "ffprobe"))
func `A film has the requested size, sound, and the length of the trimmed piece`() throws {
  let out = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).mp4").path
  defer { try? FileManager.default.removeItem(atPath: out) }
  let slow = "[Seed \"7\"]\n\n1. b2 {[%emt 0:00:02]} a1 {[%emt 0:04:00]} c1 {[%emt 0:00:03]} a3 *\n"
  let made = try run(["film", "-", "--out", out, "--size", "320x480"], input: slow)
  #expect(made.status == 0 && made.err == "", "\(made.err)")
  let entries = "stream=codec_name,width,height:format=duration"
  let told = try Child.run(["ffprobe", "-v", "error", "-show_entries", entries, "-of", "default=nw=1:nk=1", out]).out
  let lines = told.split(separator: "\n").map { String($0) }
  #expect(lines.dropLast() == ["h264", "320", "480", "aac"], "\(told)")
  #expect((15...70).contains(Double(lines.last ?? "") ?? 0), "\(told)")
}

@Test(arguments: [
  ["film", "-", "--out", "/tmp/x.wav", "--size", "321x480"], ["film", "-", "--out", "/nowhere/x.mp4"],
  ["render", "/nowhere.pgn", "--text"], ["render", "-"], ["render", "-", "--text", "--piano", "harp"],
  ["render", "-", "--wav", "/nowhere/a.wav"], ["render", "-", "--midi", "/nowhere/a.mid"],
  ["render", "-", "--text", "--score-rules", "noon"], ["render", "-", "--text", "--game", "2"],
  ["render", "-", "--wav", "/tmp/x.wav", "--from", "-1"], ["frobnicate"],
  ["render", "-", "--musicxml", "/tmp/x.wav", "--from", "99999"], ["render", "-", "--text", "--from", "99999"],
  ["render", "-", "--text", "--times", "never"], ["measure", "/nowhere"],
  ["check-rules", "/nowhere.yaml"], ["fx", "/nowhere.wav", "--chain", "comb:honey", "/tmp/x.wav"],
  ["fx", "/nowhere.wav", "--chain", "comb:wax-comb", "/tmp/x.wav"], ["tone", "H9", "/tmp/x.wav"],
  ["tone", "A4", "--a4", "100", "/tmp/x.wav"], ["envelope", "match", "--match", "101", "a", "b", "c.wav"],
  ["boards"], ["boards", "--side", "8"], ["boards", "--rules", "chess"],
])
func `Invalid input gives one line on standard error and status 2, and writes no file`(_ arguments: [String]) throws {
  let told = try run(arguments, input: record)
  #expect(told.status == 2 && told.out.isEmpty)
  #expect(told.err.hasPrefix("alina-score: ") && told.err.filter { $0 == "\n" }.count == 1, "\(told.err)")
  #expect(try FileManager.default.contentsOfDirectory(atPath: "/tmp").allSatisfy { !$0.hasPrefix("x.wav") })
}

@Test(arguments: [
  (#"[Variant "Ultimate"] 1. e5 e6 *"#, "O e6"),
  (#"{"rules":"infinite","moves":"a1b1","result":"*"}"#, "O b1"),
  (
    #"{"alina":"arena","rules":"infinite"}"# + "\n" + #"{"game":0,"x":0,"o":1,"moves":"a1b1a2b2a3","result":"1-0"}"#,
    "wins with a3 a2 a1"
  ),
])
func `Games of all three variants are explained, rendered and measured`(record: String, says: String) throws {
  let told = try run(["explain", "-"], input: record)
  #expect(told.status == 0 && told.out.contains(says), "\(told)")
  for words in [["render", "-", "--text"], ["measure", "-"]] {
    let told = try run(words, input: record)
    #expect(told.status == 0 && !told.out.isEmpty && told.err.isEmpty, "\(words): \(told)")
  }
}

@Test(arguments: [
  (#"[Variant "Ultimate"] 1. e5 a1 *"#, "standard input:line 1, column 28: 'a1' is not on"),
  (#"[Variant "Chess"] *"#, "line 1, column 11: the game 'Chess' is unknown; allowed: classic, infinite"),
])
func `An unreadable game is reported in one line`(record: String, says: String) throws {
  for words in [["explain", "-"], ["render", "-", "--text"], ["measure", "-"]] {
    let told = try run(words, input: record)
    #expect(told.status == 2 && told.out.isEmpty && told.err.contains(says), "\(words): \(told)")
    #expect(told.err.filter { $0 == "\n" }.count == 1)
  }
}

@Test func `Broken records are refused with line and column`() throws {
  let told = try run(["render", "-", "--text"], input: "[Seed \"7\"]\n\n1. b2 b2 *\n")
  #expect(told.status == 2 && told.err.contains("standard input:") && told.err.contains("3"))
}

@Test func `All errors of an invalid rule file are reported; a valid one is named with its hash`() throws {
  let path = FileManager.default.temporaryDirectory.appendingPathComponent("alina-bad-\(getpid()).yaml").path
  defer { unlink(path) }
  let bad = standardText.replacingOccurrences(of: "longest: 8", with: "longest: long").replacingOccurrences(
    of: "m: 46", with: "m: loud")
  try bad.write(toFile: path, atomically: true, encoding: .utf8)
  let told = try run(["check-rules", path])
  #expect(told.status == 2 && told.err.filter { $0 == "\n" }.count == 2)
  #expect(told.err.contains("bars.longest") && told.err.contains("performance.m"))
  let good = try run(["check-rules", "\(assets)/score.yaml"])
  #expect(good.status == 0 && good.out.contains("name alina"))
}

@Test func `Measure reads a directory and many games, as a table and as JSON`() throws {
  let folder = FileManager.default.temporaryDirectory.appendingPathComponent("alina-games-\(getpid())").path
  try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(atPath: folder) }
  let games = ReferenceGames.games(4)
  try games[0].text.write(toFile: folder + "/one.pgn", atomically: true, encoding: .utf8)
  try (games[1].text + "\n" + games[2].text).write(toFile: folder + "/two.pgn", atomically: true, encoding: .utf8)
  try (games[3].jsonLine + "\n").write(toFile: folder + "/three.jsonl", atomically: true, encoding: .utf8)
  // A file that is not a game is skipped with a message.
  try "Games of the club.\n".write(toFile: folder + "/README.txt", atomically: true, encoding: .utf8)
  try #"{"moves": 3}"#.write(toFile: folder + "/package.json", atomically: true, encoding: .utf8)
  let measured = try run(["measure", folder])
  #expect(measured.out.hasPrefix("4 games") && measured.status == 0)
  #expect(measured.err.split(separator: "\n").allSatisfy { $0.hasPrefix("alina-score: left out: \(folder)/") })
  #expect(measured.err.contains("README.txt") && measured.err.contains("package.json"), "\(measured.err)")
  let json = try run(["measure", folder, "--json"]).out
  let object = try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any]
  #expect(object?["games"] as? Int == 4)
}

@Test func `A directory with a file name that is not UTF-8 is refused, and no other file is read for it`() throws {
  let folder = NSTemporaryDirectory() + "names-\(UUID().uuidString)"
  try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(atPath: folder) }
  // The first name is not UTF-8. Foundation returns U+FFFD in place of the bad byte, which makes it look like the second name.
  for name in [[0x67, 0xFF], Array("g\u{FFFD}".utf8)] as [[UInt8]] {
    let path = Array(folder.utf8) + [0x2F] + name + Array(".pgn".utf8)
    let file = try #require(fopen((path + [0]).map { CChar(bitPattern: $0) }, "w"))
    fputs("1. b2 *\n", file)
    fclose(file)
  }
  let told = try run(["measure", folder])
  #expect(told.status == 2 && told.err.contains("is not UTF-8; rename the file"), "\(told)")
}

@Test func `An output that is not a regular file is refused, not replaced`() throws {
  let pipe = NSTemporaryDirectory() + "pipe-\(UUID().uuidString)"
  mkfifo(pipe, 0o600)
  defer { unlink(pipe) }
  #expect(throws: ScoreFileError.self) { try OutputFile.write([1], to: pipe) }
  var status = stat()
  #expect(stat(pipe, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO)
}

@Test func `A file that is replaced keeps its mode, and a link to it stays a link`() throws {
  let folder = TemporaryFolder()
  let (file, link) = (folder.path + "/rules.yaml", folder.path + "/link.yaml")
  try OutputFile.write([1], to: file)
  chmod(file, 0o640)
  #expect(symlink("rules.yaml", link) == 0)
  try OutputFile.write([2, 3], to: link)
  var status = stat()
  #expect(lstat(link, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK)
  #expect(lstat(file, &status) == 0 && status.st_mode == S_IFREG | 0o640 && status.st_size == 2)
  #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 2)
}
