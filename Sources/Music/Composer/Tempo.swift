import Records
import ScoreModel
import TicTacToe

/// How long people think in the running game: what the length of bars is measured by.
package struct Tempo: Sendable {
  /// Times are counted in whole slots of a quarter second, so that the way of a line over the network says nothing.
  static let slot: Int64 = 12_000
  private var slots: [Int64] = []

  /// A span in whole slots.
  static func whole(_ span: Tick) -> Tick { Tick(rawValue: (span.rawValue + slot / 2) / slot * slot) }

  /// The times of a log, in milliseconds, as whole slots from the first.
  package static func slots(_ times: [Int64]) -> [Int] {
    var slots: [Int] = []
    for (index, time) in times.enumerated() {
      let gap = index == 0 ? 0 : min(max(time - times[index - 1], 0), 86_400_000)
      slots.append((slots.last ?? 0) + Int((gap + 125) / 250))
    }
    return slots
  }

  /// The moment of a slot.
  package static func moment(_ slot: Int) -> Tick { Tick(rawValue: Int64(slot) * Self.slot) }

  mutating func hear(_ gap: Tick) { slots.append(Self.whole(gap).rawValue) }

  /// The lower median of the game's thinking times in seconds, a guess among them.
  func median(guess: Double) -> Double {
    let all = (slots + [Tick.seconds(guess).rawValue]).sorted()
    return Tick(rawValue: all[(all.count - 1) / 2]).seconds
  }
}

extension Conductor {
  /// How many pairs the bar of a move has, and how long its short notes are.
  ///
  /// Where nobody is waited for (two opponents, a score without times, an end) bars grow by the law. An opponent in
  /// musical time answers on the long note, so that a person's bar has what it needs. A person's answer is expected
  /// after the median of the game so far: the long note begins when `reach` per cent of that are over, by quicker
  /// short notes first, then by fewer. None begins later than `apart` seconds after the last one, which was heard `since`.
  func length(of move: MoveFacts, since: Tick) -> (count: Int, short: Double) {
    let law = rules.bars
    let full = law.pairs(ply: move.ply) - 1
    let isAnswered = inTime.contains(move.mover.opponent)
    if isAnswered && inTime.contains(move.mover) { return (full + 1, short) }
    let left = law.apart - (since.seconds < law.apart ? since.seconds : 0)
    if move.outcome != nil { return (full + 1, min(short, max(left / Double(full), law.quickest))) }
    let time = min(game.tempo.median(guess: law.expected) * Double(law.reach) / 100, left)
    let fitting = max(Int(time / law.quickest), 1)
    let shorts =
      isAnswered ? min(max(full, law.answered.lowerBound), law.answered.upperBound) : max(min(full, fitting), 1)
    let least = isAnswered || shorts > 1 ? law.quickest : law.quickest / 2
    return (shorts + 1, min(short, max(time / Double(shorts), least)))
  }
}

extension Record {
  /// The sides that answered in musical time (`InTime "xo"`), for the length of bars; `nil` where it was not kept.
  package var inTime: Set<Player>? {
    get {
      self[tag: "InTime"].map { text in Set([Player.x, .o].filter { text.contains($0 == .x ? "x" : "o") }) }
    }
    set { self[tag: "InTime"] = newValue.map { $0.isEmpty ? "-" : $0.count > 1 ? "xo" : $0 == [.x] ? "x" : "o" } }
  }
}
