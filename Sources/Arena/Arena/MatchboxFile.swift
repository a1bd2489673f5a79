import Base
import Foundation
import Opponents
import Oracle
import TicTacToe

/// The matchboxes of `menace` on disk: JSON, one box a line, with its label as a position.
package enum MatchboxFile {
  /// The most bytes read: ten times a full set of boxes.
  package static let limit = 1 << 20

  /// The boxes as text.
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

  /// Reads all boxes.
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
    else { throw ArenaError("\(path) is no set of matchboxes (version 1)") }
    var contents: [String: JSON] = [:]
    for box in boxes.fields { contents[box.name] = box.value }
    let labels = MenaceBoxes.shared.boxes
    var beads: [[UInt32]] = []
    for label in labels {
      guard let content = contents[label.notation] else {
        throw ArenaError("\(path): the box '\(label.notation)' is missing; there are \(labels.count)")
      }
      beads.append(
        Square.all.map { content[$0.name]?.int.flatMap { UInt32(exactly: $0) } ?? 0 })
    }
    guard contents.count == labels.count, let menace = Menace(beads: beads, gamesLearned: gamesLearned) else {
      throw ArenaError(
        "\(path): each of the \(labels.count) boxes holds 0–\(Menace.beadLimit) beads for its moves, not all 0")
    }
    return menace
  }
}
