import Play
import ScoreModel
import Screen
import TicTacToe

/// Timed inputs for tests and demos, one per line: `TIME COMMAND …`; `#` starts a comment.
///
/// `TIME` is an audio frame (`96000`) or seconds (`2.5s`), in ascending order. Commands, with X and Y in pixels: `move X Y`, `click X Y`,
/// `touch X Y`, `scroll LINES`, `key NAME` (`ctrl+q`, `shift+tab`, `enter`, `f3`, `a`), `text WORDS`, `play CELL`, `drop PATH`,
/// `focus on|off`, `show`, `hide`, `shot PNG`, `quit`.
struct Script {
  enum Action: Hashable {
    case input([InputEvent])
    case play(cell: String)
    case shot(path: String)
    case quit
  }

  struct Fault: Error, CustomStringConvertible {
    let line: Int
    let message: String
    var description: String { "line \(line): \(message)" }
  }

  private var steps: [(frame: Int64, action: Action)] = []
  private var next = 0

  /// More lines than any test needs.
  static let largestCount = 100_000

  init(text: String) throws(Fault) {
    var number = 0
    // Split by scalars: a space and a combining mark after it are one `Character`, which would not separate words.
    for line in text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false) {
      number += 1
      let code = line.prefix { $0 != "#" }
      let words = code.split(whereSeparator: { $0 == " " || $0 == "\t" || $0 == "\r" }).map { String($0) }
      guard let time = words.first else { continue }
      guard let frame = Script.frame(time) else {
        throw Fault(line: number, message: "'\(time)' is not a time; write frames (96000) or seconds (2.5s)")
      }
      if let last = steps.last?.frame, frame < last {
        throw Fault(line: number, message: "frame \(frame) lies before the line above (\(last))")
      }
      guard steps.count < Script.largestCount else {
        throw Fault(line: number, message: "more than \(Script.largestCount) inputs")
      }
      steps.append((frame, try Script.action(Array(words.dropFirst()), line: number)))
    }
  }

  var isDone: Bool { next == steps.count }

  mutating func take(upTo now: Tick) -> [Action] {
    var due: [Action] = []
    while next < steps.count, steps[next].frame <= now.rawValue {
      due.append(steps[next].action)
      next += 1
    }
    return due
  }

  private static func frame(_ word: String) -> Int64? {
    guard word.hasSuffix("s") else { return Int64(word).flatMap { $0 >= 0 ? $0 : nil } }
    guard let seconds = Double(word.dropLast()), seconds >= 0, seconds < 86_400 else { return nil }
    return Tick.seconds(seconds).rawValue
  }

  private static func action(_ words: [String], line: Int) throws(Fault) -> Action {
    guard let command = words.first else { throw Fault(line: line, message: "a time without a command") }
    func argument(_ what: String) throws(Fault) -> String {
      guard words.count == 2 else { throw Fault(line: line, message: "'\(command)' takes \(what)") }
      return words[1]
    }
    func point() throws(Fault) -> (Double, Double) {
      guard words.count == 3, let x = Double(words[1]), let y = Double(words[2]) else {
        throw Fault(line: line, message: "'\(command)' takes two numbers, X and Y in pixels")
      }
      return (x, y)
    }
    switch command {
    case "move":
      let (x, y) = try point()
      return .input([.pointerMoved(x: x, y: y)])
    case "click", "touch":
      let (x, y) = try point()
      let isTouch = command == "touch"
      let press: [InputEvent] = [
        .pointerDown(x: x, y: y, isTouch: isTouch), .pointerUp(x: x, y: y, isTouch: isTouch),
      ]
      return .input(isTouch ? press + [.pointerLeft] : [.pointerMoved(x: x, y: y)] + press)
    case "scroll":
      guard let lines = Double(try argument("a number of lines")) else {
        throw Fault(line: line, message: "'\(words[1])' is not a number of lines")
      }
      return .input([.scrolled(lines: lines)])
    case "key":
      return .input([try key(argument("a key"), line: line)])
    case "text":
      return .input([.text(words.dropFirst().joined(separator: " "))])
    case "play":
      let name = try argument("a cell, \(Variant.cellRanges)")
      guard Variant.allCases.contains(where: { $0.cell(named: name) != nil }) else {
        throw Fault(line: line, message: "'\(name)' is not a cell; allowed: \(Variant.cellRanges), a1 bottom left")
      }
      return .play(cell: name)
    case "drop": return .input([.dropped(path: try argument("a path"))])
    case "focus": return .input([.focus(try argument("on or off") == "on")])
    case "show": return .input([.visible(true)])
    case "hide": return .input([.visible(false)])
    case "shot": return .shot(path: try argument("a path"))
    case "quit": return .quit
    default:
      throw Fault(
        line: line,
        message: "unknown command '\(command)'; allowed are move click touch scroll key text play drop focus show "
          + "hide shot quit")
    }
  }

  private static func key(_ word: String, line: Int) throws(Fault) -> InputEvent {
    var parts = word.lowercased().split(separator: "+", omittingEmptySubsequences: false).map(String.init)
    if word.hasSuffix("+") { parts = parts.dropLast(2) + ["+"] }
    let name = parts.removeLast()
    var modifiers: KeyModifiers = []
    for part in parts {
      switch part {
      case "ctrl": modifiers.insert(.control)
      case "shift": modifiers.insert(.shift)
      case "alt": modifiers.insert(.alt)
      default: throw Fault(line: line, message: "'\(part)' is not a modifier; allowed are ctrl shift alt")
      }
    }
    if let key = Key(name: name) { return .key(key, modifiers, isRepeat: false) }
    throw Fault(line: line, message: "'\(name)' is not a key; write a letter, f1–f12 or \(Key.named.keys.sorted())")
  }
}
