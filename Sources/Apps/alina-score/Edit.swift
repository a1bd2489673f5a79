import ArgumentParser
import Base
import Foundation
import GameScore
import Oracle
import Records
import ScoreIO
import ScoreMeasures
import ScoreModel
import Synth
import TicTacToe
import Tintinnabuli

struct Edit: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Play the signs of a rule file each time it is saved, with the score and the reason for each note.",
    discussion: """
      Ten numbers of the file are dials: the keys up and down (or k and j) choose one, left and right (h and l) turn it and \
      save the file, the space bar plays again, q ends. A file that is wrong is told with line, key and what is allowed; then \
      the last good rules are played again.
      """)

  @Argument(help: "The rule file, by path.") var file: String
  @Option(help: ArgumentHelp("The sign to play; all if none is named.", valueName: "name")) var sign: String?
  @OptionGroup var sounding: SoundOptions

  func run() throws {
    guard let device = SoundDevices.Output() else { throw ScoreFileError("no sound device") }
    var good = try RuleLibrary.load(file).rules
    if let sign { try SignExample.check(sign, good) }
    var dials = RuleDials(try text())
    print(dials.lines.joined(separator: "\n") + "\n")
    let keys = Keyboard()
    var saved: Date?
    while true {
      if stamp != saved {
        saved = stamp
        do { good = try RuleLibrary.load(file).rules } catch { print("\(error)\nthe last good rules:") }
        try play(good, on: device) { keys.isPressed || stamp != saved }
      }
      switch keys.next(milliseconds: 200) {
      case .quit: return
      case .again: saved = nil
      case .choose(let places):
        dials.choose(places)
        print(dials.line(dials.chosen))
      case .turn(let steps):
        do {
          let chosen = dials.chosen
          dials = RuleDials(try text())
          dials.choose(chosen)
          try dials.turn(steps)
          try OutputFile.write(Array(dials.text.utf8), to: file)
          print(dials.line(chosen))
        } catch {
          print(error)
        }
      case nil: break
      }
    }
  }

  private func text() throws -> String {
    guard let text = try? String(contentsOfFile: file, encoding: .utf8) else {
      throw ScoreFileError("\(file): cannot be read")
    }
    return text
  }

  private var stamp: Date? {
    try? FileManager.default.attributesOfItem(atPath: file)[.modificationDate] as? Date
  }

  private func play(_ rules: ScoreRules, on device: SoundDevices.Output, interrupts: () -> Bool) throws {
    try sounding.playing(rules) { engine in
      for name in rules.signs.map(\.name) where sign ?? name == name {
        if interrupts() { return }
        guard let example = try SignExample(of: name, rules) else {
          print("\(name): heard neither in the file's example nor in the reference games\n")
          continue
        }
        print(example.text)
        example.play(on: engine, device, interrupts: interrupts)
      }
    }
  }

  /// Reads each key at once, without waiting for Enter. If standard input is not a terminal, each byte is a key.
  private final class Keyboard {
    enum Key {
      case quit, again
      case choose(Int)
      case turn(Int)
    }

    /// The terminal's modes to restore. Static, because a signal handler calls `tcsetattr` (POSIX.1-2017, 2.4.3, allows this) and cannot
    /// capture `self`.
    private nonisolated(unsafe) static var before = termios()
    private let isTerminal: Bool
    private var isOver = false

    init() {
      isTerminal = tcgetattr(STDIN_FILENO, &Self.before) == 0
      guard isTerminal else { return }
      for number in [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV] {
        signal(number) { number in
          tcsetattr(STDIN_FILENO, TCSANOW, &Keyboard.before)
          signal(number, SIG_DFL)
          raise(number)
        }
      }
      var raw = Self.before
      raw.c_lflag &= ~tcflag_t(ICANON | ECHO | ISIG)
      tcsetattr(STDIN_FILENO, TCSANOW, &raw)
    }

    deinit { if isTerminal { tcsetattr(STDIN_FILENO, TCSANOW, &Self.before) } }

    var isPressed: Bool { wait(milliseconds: 0) }

    private func wait(milliseconds: Int32) -> Bool {
      fflush(nil)
      if isOver {
        usleep(UInt32(milliseconds) * 1_000)
        return false
      }
      var input = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
      return poll(&input, 1, milliseconds) > 0
    }

    private func character() -> Character? {
      var byte: UInt8 = 0
      if read(STDIN_FILENO, &byte, 1) == 1 { return Character(UnicodeScalar(byte)) }
      isOver = true
      return nil
    }

    /// At the end of the input returns `again` once, then `nil`.
    func next(milliseconds: Int32) -> Key? {
      guard wait(milliseconds: milliseconds) else { return nil }
      guard var key = character() else { return .again }
      // An arrow key sends an escape, a bracket and a letter.
      if key == "\u{1B}", isPressed, character() == "[", let letter = character() {
        key = ["A": "k", "B": "j", "C": "l", "D": "h"][letter] ?? key
      }
      switch key {
      case "q", "\u{3}": return .quit
      case " ": return .again
      case "k": return .choose(-1)
      case "j": return .choose(1)
      case "h": return .turn(-1)
      case "l": return .turn(1)
      default: return nil
      }
    }
  }
}
