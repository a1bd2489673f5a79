import Base
import TicTacToe

/// The rules by which a referee ends a game early, or changes the result of a drawn game of Ultimate.
package struct Adjudication: Sendable, Hashable {
  /// `score` is in hundredths of a pawn. For a draw, each side's last `moves` evaluations must be within ±`score`; for a resignation, the
  /// mover's own last `moves` evaluations must be −`score` or less.
  package struct Rule: Sendable, Hashable {
    package var moves: Int
    package var score: Int

    package init(_ text: String, option: String) throws(ArenaError) {
      var values: [String: Int] = [:]
      for field in text.split(separator: ",") {
        let parts = field.split(separator: "=", maxSplits: 1).map(String.init)
        guard parts.count == 2, ["moves", "score"].contains(parts[0]), let value = Int(parts[1]), value >= 0,
          value <= 100_000
        else { throw ArenaError("\(option) '\(field)': moves=NUMBER,score=HUNDREDTHS is needed") }
        values[parts[0]] = value
      }
      guard let moves = values["moves"], let score = values["score"], (1...1000).contains(moves) else {
        throw ArenaError("\(option) '\(text)': moves=1–1000,score=0–100000 is needed")
      }
      (self.moves, self.score) = (moves, score)
    }

    var text: String { "moves=\(moves),score=\(score)" }
  }

  /// The result of a game of Ultimate that ends without a line of three won boards.
  package enum Ending: String, Sendable, CaseIterable {
    /// A draw, whichever side has more won boards: the rule in Alina, and the default.
    case rules
    /// The side with more won boards wins, as on CodinGame.
    case boards

    package init(option text: String) throws(ArenaError) {
      guard let ending = Ending(rawValue: text) else {
        throw ArenaError("--ending '\(text)': \(Ending.allCases.map(\.rawValue).joined(separator: ", "))")
      }
      self = ending
    }
  }

  package var ending = Ending.rules
  /// The number of plies after which a game is drawn; 0 for no limit.
  package var maxPlies = 0
  package var draw: Rule?
  package var resign: Rule?

  package init() {}

  var isActive: Bool { maxPlies > 0 || draw != nil || resign != nil }

  func add(to members: inout JSONObject) {
    members.add("ending", ending == .rules ? nil : .string(ending.rawValue))
    members.add("maxPlies", maxPlies == 0 ? nil : .int(maxPlies))
    members.add("draw", draw.map { .string($0.text) })
    members.add("resign", resign.map { .string($0.text) })
  }

  init(header: JSON) throws(ArenaError) {
    if let text = header["ending"] { ending = try Ending(option: text.string ?? "") }
    if let plies = header["maxPlies"] {
      guard let number = plies.int, (1...1000).contains(number) else {
        throw ArenaError("the header's 'maxPlies' is missing or wrong")
      }
      maxPlies = number
    }
    if let text = header["draw"] { draw = try Rule(text.string ?? "", option: "the header's draw") }
    if let text = header["resign"] { resign = try Rule(text.string ?? "", option: "the header's resign") }
  }
}

struct Referee {
  struct Verdict {
    var outcome: Outcome
    var reason: String
  }

  private let rules: Adjudication
  /// The number of consecutive moves, of both sides, that fit the rule for draws.
  private var level = 0
  /// For each side, the number of its consecutive moves that fit the rule for resignation.
  private var lost: [Player: Int] = [:]

  init(_ rules: Adjudication) { self.rules = rules }

  /// The verdict that replaces the draw of a game of Ultimate; `nil` if the draw stands. `boards` has the numbers of boards won.
  func verdict(onDraw boards: (x: Int, o: Int)) -> Verdict? {
    guard rules.ending == .boards, boards.x != boards.o else { return nil }
    let winner: Player = boards.x > boards.o ? .x : .o
    return Verdict(outcome: .win(winner), reason: "X has \(boards.x) boards, O \(boards.o)")
  }

  /// A move without an evaluation fits neither `draw` nor `resign`.
  mutating func verdict(after report: MoveReport?, by mover: Player, plies: Int) -> Verdict? {
    let score = report?.score
    if let draw = rules.draw {
      level = score.map { abs($0) <= draw.score } == true ? level + 1 : 0
      if level >= 2 * draw.moves {
        return Verdict(outcome: .draw, reason: "both sides within \(draw.score) for \(draw.moves) moves")
      }
    }
    if let resign = rules.resign {
      lost[mover] = score.map { $0 <= -resign.score } == true ? lost[mover, default: 0] + 1 : 0
      if lost[mover, default: 0] >= resign.moves {
        return Verdict(
          outcome: .win(mover.opponent), reason: "\(mover.letter) at -\(resign.score) for \(resign.moves) moves")
      }
    }
    if rules.maxPlies > 0, plies >= rules.maxPlies {
      return Verdict(outcome: .draw, reason: "\(rules.maxPlies) plies")
    }
    return nil
  }
}
