import Base
import Foundation
import Opponents
import Oracle
import TicTacToe

/// JSON with one box per line: a position, and the number of beads of each move.
package enum MatchboxFile {
  /// In bytes: ten times the size of a full set of matchboxes.
  package static let limit = 1 << 20
  /// The largest number of learnt games that a file may state. It is far above what a run can play, so it only refuses damaged files.
  private static let gameLimit = 1_000_000_000_000

  package static func text(of menace: Menace) -> String {
    var text = "{\"alina\":\"menace\",\"version\":1,\"games\":\(menace.gamesLearned),\"boxes\":{\n"
    let lines = zip(MenaceBoxes.shared.boxes, menace.beads).map { label, beads in
      let parts = Square.all.filter { label.distinctMoves.contains($0) }
        .map { "\"\($0.name)\":\(beads[$0.index])" }
      return "\"\(label.notation)\":{\(parts.joined(separator: ","))}"
    }
    text += lines.joined(separator: ",\n") + "\n}}\n"
    return text
  }

  package static func load(_ path: String) throws(ArenaError) -> Menace {
    let bytes = try readFile(path, limit: limit)
    let json: JSON
    do {
      json = try JSON(bytes: bytes)
    } catch {
      throw ArenaError("\(path): \(error)")
    }
    guard json["alina"]?.string == "menace", json["version"]?.int == 1, let boxes = json["boxes"]?.object,
      let gamesLearned = json["games"]?.int
    else { throw ArenaError("\(path) is not a set of matchboxes (version 1)") }
    guard (0...gameLimit).contains(gamesLearned) else {
      throw ArenaError("\(path): 'games' is \(gamesLearned), allowed are 0–\(gameLimit)")
    }
    var contents: [String: JSON] = [:]
    for box in boxes.fields { contents[box.name] = box.value }
    let labels = MenaceBoxes.shared.boxes
    var beads: [[UInt32]] = []
    for label in labels {
      guard let content = contents[label.notation] else {
        throw ArenaError("\(path): the box '\(label.notation)' is missing; there are \(labels.count)")
      }
      var counts = [UInt32](repeating: 0, count: 9)
      for bead in content.object?.fields ?? [] {
        guard let square = Square(name: bead.name), label.distinctMoves.contains(square),
          let count = bead.value.int.flatMap({ UInt32(exactly: $0) }), count <= Menace.beadLimit
        else {
          throw ArenaError(
            "\(path), box '\(label.notation)': \(bead.name) has \(bead.value.text.prefix(40)) beads; a box has "
              + "0–\(Menace.beadLimit) of each of its moves")
        }
        counts[square.index] = count
      }
      guard counts.contains(where: { $0 > 0 }) else {
        throw ArenaError("\(path), box '\(label.notation)': there is no bead")
      }
      beads.append(counts)
    }
    guard contents.count == labels.count, let menace = Menace(beads: beads, gamesLearned: gamesLearned) else {
      throw ArenaError("\(path): there are \(contents.count) boxes, and a set has \(labels.count)")
    }
    return menace
  }
}
