import Foundation
import TestSupport
import TicTacToe

/// Reference data, computed by independent programs.
enum Facts {
  static let folder = repository.appending(path: "Tests/Data")

  nonisolated(unsafe) static let standard: [String: Any] = {
    guard let data = try? Data(contentsOf: folder.appending(path: "facts-3x3.json")),
      let root = try? JSONSerialization.jsonObject(with: data) as? [String: Any],
      let standard = root["standard"] as? [String: Any]
    else { fatalError("Tests/Data/facts-3x3.json cannot be read") }
    return standard
  }()

  static func ints(_ path: String...) -> [Int] { at(path) as! [Int] }
  static func int(_ path: String...) -> Int { at(path) as! Int }
  static func table(_ path: String...) -> [String: Int] { at(path) as! [String: Int] }

  private static func at(_ path: [String]) -> Any {
    path.reduce(standard as Any) { ($0 as! [String: Any])[$1]! }
  }

  struct Row {
    let board: String
    let position: Position
    let side: String
    let value: Int
    let distance: Int
    let preserving: SquareSet?
    let optimal: SquareSet?
    let sequences: Int
  }

  static let rows: [Row] = {
    guard let text = try? String(contentsOf: folder.appending(path: "positions-3x3.tsv"), encoding: .utf8) else {
      fatalError("Tests/Data/positions-3x3.tsv cannot be read")
    }
    return text.split(separator: "\n").map { line in
      let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
      func squares(_ field: String) -> SquareSet? {
        field == "-" || field.isEmpty
          ? nil : field.reduce(into: SquareSet()) { $0.insert(Square(Int(String($1))!)) }
      }
      return Row(
        board: fields[0], position: position(fields[0]), side: fields[1], value: Int(fields[2])!,
        distance: Int(fields[3])!, preserving: squares(fields[4]), optimal: squares(fields[5]),
        sequences: Int(fields[6])!)
    }
  }()

  /// Nine characters (`.`, `X` or `O`) in reading order. Shares no code with the reader of our notation.
  static func position(_ board: String) -> Position {
    var position = Position(x: [], o: [])
    for (index, character) in board.enumerated() {
      if character == "X" { position.x.insert(Square(index)) }
      if character == "O" { position.o.insert(Square(index)) }
    }
    return position
  }
}
