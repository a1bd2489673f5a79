import ScoreModel

/// The thinking times of the running piece, which determine the lengths of bars, and the time of its last event.
public struct Tempo: Sendable {
  /// The frames in a slot of 0.25 s. All times are rounded to whole slots, so that differences of network delay have no effect.
  static let slot: Int64 = 12_000
  private var slots: [Int64] = []
  /// The last event's time, and its time in the match's log.
  var last: (moment: Tick, logged: Tick)?
  /// The number of hurried events (thinking times below `gestures.hurry`) in a row, up to the last event.
  var hurried = 0

  static func whole(_ span: Tick) -> Tick { Tick(rawValue: (span.rawValue + slot / 2) / slot * slot) }

  /// The times of a log, given in milliseconds, as whole slots from the first time.
  public static func slots(_ times: [Int64]) -> [Int] {
    var slots: [Int] = []
    for (index, time) in times.enumerated() {
      let gap = index == 0 ? 0 : min(max(time - times[index - 1], 0), 86_400_000)
      slots.append((slots.last ?? 0) + Int((gap + 125) / 250))
    }
    return slots
  }

  /// The time from slot 0 to a later slot; a slot lasts 0.25 s.
  public static func moment(_ slot: Int) -> Tick { Tick(rawValue: Int64(slot) * Self.slot) }

  mutating func add(_ gap: Tick) { slots.append(Self.whole(gap).rawValue) }

  /// The lower median, in seconds, of the piece's thinking times and of `guess`, which counts as one more time.
  func median(guess: Double) -> Double {
    let all = (slots + [Tick.seconds(guess).rawValue]).sorted()
    return Tick(rawValue: all[(all.count - 1) / 2]).seconds
  }
}
