import Records
import ScoreModel
import TicTacToe
import Tintinnabuli

extension Record {
  /// The voices of computers that moved in time with the music (tag `InTime`, such as `xo`), on which the lengths of bars depend.
  package var inTime: Set<Voice>? {
    get {
      self[tag: "InTime"].map { text in Set(Voice.allCases.filter { text.contains($0 == .first ? "x" : "o") }) }
    }
    set { self[tag: "InTime"] = newValue.map { $0.isEmpty ? "-" : $0.count > 1 ? "xo" : $0 == [.first] ? "x" : "o" } }
  }

  /// The session's position in the cycle of tonics (tag `Station`), which selects the game's tonic; `nil` for the first position.
  package var station: Station? {
    get {
      let numbers = (self[tag: "Station"] ?? "").split(separator: " ").compactMap { Int($0) }
      guard (2...3).contains(numbers.count), numbers.allSatisfy({ (0..<24).contains($0) }) else { return nil }
      return Station(game: numbers[0], place: numbers[1], draw: numbers.count > 2 ? numbers[2] : 0)
    }
    set {
      self[tag: "Station"] = newValue.flatMap {
        $0 == Station() ? nil : "\($0.game) \($0.place)" + ($0.draw > 0 ? " \($0.draw)" : "")
      }
    }
  }

  /// The times of a match's moves in its log, in slots of 0.25 s from the first move (tag `LogSlots`); `nil` for other games.
  package var logSlots: [Int]? {
    get {
      guard let text = self[tag: "LogSlots"] else { return nil }
      let slots = text.split(separator: " ").compactMap { Int($0) }
      let isLog = slots.count == game.cells.count && slots == slots.sorted()
      return isLog && (slots.first ?? 0) >= 0 && (slots.last ?? 0) <= 100_000_000 ? slots : nil
    }
    set { self[tag: "LogSlots"] = newValue.map { $0.map { "\($0)" }.joined(separator: " ") } }
  }
}
