import Base
import Foundation
import GameScore
import Records
import ScoreIO
import ScoreMeasures
import ScoreModel
import Testing
import TicTacToe
import Tintinnabuli

private func log(_ rendition: Rendition) -> String {
  rendition.events.map {
    "\($0.frame) \($0.kind) \($0.voice) \($0.pitch.midi) \($0.velocity) \($0.pan) \($0.amount) \($0.chain) \($0.duration)\n"
  }.joined()
}

private func hashes(_ games: [Record], by name: String) throws -> String {
  let rules = try RuleLibrary.load("\(assets)/\(name).yaml").rules
  return games.enumerated().map { number, record in
    let hash = fnv1a(log(Rendition(of: record, rules: rules)).utf8)
    return "\(number) \(String(hash, radix: 16))\n"
  }.joined()
}

/// After a deliberate change of the music: `UPDATE_GOLDENS=1 ./test GoldenTests`, then read the diff.
@Test func `The note log of twenty games is the same on every machine`() throws {
  let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Goldens/score.txt")
    .path
  let games = ReferenceGames.games(20, seed: 2_026)
  var golden = TextScore.text(Rendition(of: games[0], rules: rules).bars, scale: rules.scale)
  for name in ["score", "morning", "night"] { golden += "\n\(name)\n" + (try hashes(games, by: name)) }
  try compare(golden, with: path)
}

@Test func `The note log of five games of Infinite and five of Ultimate is the same on every machine`() throws {
  let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Goldens/longer.txt")
    .path
  var golden = ""
  for variant in Variant.allCases.filter(\.isLong) {
    let games = ReferenceGames.games(5, of: variant, seed: 2_026)
    for name in ["score", "morning", "night"] {
      golden += "\(variant.rawValue) \(name)\n" + (try hashes(games, by: name))
    }
  }
  try compare(golden, with: path)
}

private func compare(_ golden: String, with path: String) throws {
  if ProcessInfo.processInfo.environment["UPDATE_GOLDENS"] == "1" {
    try golden.write(toFile: path, atomically: true, encoding: .utf8)
    return
  }
  let kept = try String(contentsOfFile: path, encoding: .utf8)
  let different = zip(golden.components(separatedBy: "\n"), kept.components(separatedBy: "\n")).first { $0 != $1 }
  #expect(different == nil && golden == kept)
}
