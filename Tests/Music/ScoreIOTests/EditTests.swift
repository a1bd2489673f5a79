import Foundation
import TestSupport
import Testing

@testable import ScoreIO

private let score = URL(filePath: "\(assets)/score.yaml")

@Test(arguments: ["score", "night", "morning"])
func `Every dial changes only its number in a shipped rule file, up to both ends`(_ name: String) throws {
  let text = try String(contentsOfFile: "\(assets)/\(name).yaml", encoding: .utf8)
  var dials = RuleDials(text)
  let before = text.split(separator: "\n", omittingEmptySubsequences: false)
  for (index, dial) in RuleDial.all.enumerated() {
    #expect(dials.chosen == index && dials.line(index).contains(dial.key) && dials.line(index).contains("●"))
    try dials.turn(-1_000)
    #expect(dials.line(index).contains(" ●"), "\(dials.line(index))")
    try dials.turn(1_000)
    #expect(dials.line(index).contains("● "), "\(dials.line(index))")
    let after = dials.text.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(after.count == before.count && zip(after, before).count { $0 != $1 } <= index + 1)
    dials.choose(1)
  }
  #expect(dials.chosen == 0)
  let turned = try RuleReader.rules(dials.text)
  #expect(turned.bars.short == 2 && turned.melody[.leap] == 80 && turned.mix.levels.reverbSend == 0)
}

@Test func `Every dial works in a file with CRLF line ends, which are kept`() throws {
  let text = try String(contentsOf: score, encoding: .utf8).replacing("\n", with: "\r\n")
  var dials = RuleDials(text)
  for index in RuleDial.all.indices {
    try dials.turn(1)
    #expect(!dials.line(index).contains("not in the file"))
    dials.choose(1)
  }
  let ends = dials.text.unicodeScalars.count { $0 == "\r" }
  #expect(ends == text.unicodeScalars.count { $0 == "\r" } && dials.text != text)
}

@Test func `In an invalid file no dial works, and the error gives line and allowed values`() throws {
  let text = try String(contentsOf: score, encoding: .utf8).replacing("  longest: 8", with: "  longest: 99")
  var dials = RuleDials(text)
  let error = #expect(throws: ScoreFileError.self) { try dials.turn(1) }
  #expect(error?.description.contains("bars.longest: must be a whole number 3–16, is \"99\"") == true)
  #expect(dials.text == text)
}

@Test func `Keys turn the dials of a file and save it, and an invalid save leaves the last valid rules playing`() throws
{
  let folder = TemporaryFolder()
  let file = folder.path + "/mine.yaml"
  let text = try String(contentsOf: score, encoding: .utf8)
  try text.write(toFile: file, atomically: true, encoding: .utf8)
  let edit = try Child(
    [try #require(command), "edit", file, "--sign", "calm"], environment: ["SDL_AUDIODRIVER": "dummy"], input: .pipe,
    output: .pipe, errors: .ours)
  let limit = DispatchWorkItem { edit.kill() }
  DispatchQueue.global().asyncAfter(deadline: .now() + 120, execute: limit)
  defer { limit.cancel() }
  func read(to end: String) -> [String] {
    var lines: [String] = []
    while let line = edit.line() {
      lines.append(line)
      if line.contains(end) { break }
    }
    return lines
  }
  #expect(read(to: "calm").contains { $0.contains("> bars.short") })
  // `j` goes down to the dial of the long note, and `l` with an arrow key turns it up.
  try edit.input.write(contentsOf: Data("jl\u{1B}[C".utf8))
  #expect(read(to: "bars.long               6").last?.contains("●") == true)
  #expect(try RuleLibrary.load(file).rules.bars.long == 6)
  try text.replacing("  long: 4 ", with: "  long: 400 ").write(toFile: file, atomically: true, encoding: .utf8)
  let told = read(to: "the last good rules:")
  #expect(told.contains { $0.contains("bars.long: must be a whole number 1–16, is \"400\"") }, "\(told)")
  #expect(read(to: "calm").last?.contains("calm") == true)
  try edit.input.write(contentsOf: Data("q".utf8))
  #expect(try edit.wait(seconds: 60) == 0)
}

@Test(.needs("prlimit")) func `A dial that cannot be saved is reported, and the file keeps its text`() throws {
  let folder = TemporaryFolder()
  let file = folder.path + "/mine.yaml"
  let text = try String(contentsOf: score, encoding: .utf8)
  try text.write(toFile: file, atomically: true, encoding: .utf8)
  // With the signal for oversized files ignored, `write` fails as on a full disk.
  let limited = ["sh", "-c", "trap '' XFSZ; exec prlimit --fsize=1000 \"$@\"", "sh"]
  let edit = try Child(
    limited + [try #require(command), "edit", file, "--sign", "calm"], environment: ["SDL_AUDIODRIVER": "dummy"],
    input: .pipe, output: .pipe, errors: .ours)
  let limit = DispatchWorkItem { edit.kill() }
  DispatchQueue.global().asyncAfter(deadline: .now() + 120, execute: limit)
  defer { limit.cancel() }
  try edit.input.write(contentsOf: Data("lq".utf8))
  var lines: [String] = []
  while let line = edit.line() { lines.append(line) }
  #expect(lines.contains { $0.hasPrefix("\(file): cannot be written") }, "\(lines)")
  #expect(try edit.wait(seconds: 60) == 0)
  #expect(try String(contentsOfFile: file, encoding: .utf8) == text)
  #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["mine.yaml"])
}

@Test(.needs("python3"), arguments: [SIGTERM, SIGHUP, SIGINT, SIGABRT])
func `A signal that ends the command edit restores the terminal's modes`(_ number: Int32) throws {
  let program = """
    import os, pty, signal, subprocess, sys, termios
    master, slave = pty.openpty()
    before = termios.tcgetattr(slave)
    edit = subprocess.Popen(sys.argv[2:], stdin=slave, stdout=subprocess.PIPE, text=True)
    for line in edit.stdout:
        if line.startswith("bar "): break
    assert termios.tcgetattr(slave) != before, "the keys are not read one by one"
    edit.send_signal(int(sys.argv[1]))
    edit.stdout.read()
    print(edit.wait(), termios.tcgetattr(slave) == before)
    """
  let told = try Child.run(
    ["python3", "-c", program, "\(number)", try #require(command), "edit", score.path, "--sign", "calm"],
    environment: ["SDL_AUDIODRIVER": "dummy"])
  #expect(told.out == "-\(number) True\n", "\(told)")
}
