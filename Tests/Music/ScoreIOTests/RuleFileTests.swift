import Base
import Foundation
import GameScore
import ScoreMeasures
import ScoreModel
import Synth
import TestSupport
import Testing
import TicTacToe
import Tintinnabuli

@testable import ScoreIO

let assets = repository.appending(path: "Assets").path
let rules = (try? RuleLibrary.load(assets + "/score.yaml"))!.rules
let standardText = (try? String(contentsOfFile: assets + "/score.yaml", encoding: .utf8))!

private func errors(_ changes: (String, String)...) -> [String] {
  var text = standardText
  for (old, new) in changes {
    #expect(text.contains(old), "\(old)")
    text = text.replacingOccurrences(of: old, with: new)
  }
  do {
    _ = try RuleReader.rules(text)
    return []
  } catch {
    return error.errors.map(\.description)
  }
}

private func line(of text: String) -> Int {
  standardText.components(separatedBy: "\n").firstIndex { $0.contains(text) }! + 1
}

@Test(arguments: ["score", "morning", "night"])
func `Each shipped rule file is valid and plays whole games that satisfy all measures of style`(_ name: String) throws {
  let loaded = try RuleLibrary.load("\(assets)/\(name).yaml")
  #expect(loaded.rules.name == (name == "score" ? "alina" : name))
  #expect(loaded.hash.count == 16)
  var report = StyleReport()
  for record in ReferenceGames.games(60) { report.add(record, rules: loaded.rules) }
  for row in report.rows { #expect(row.holds, "\(name): \(row.name) is \(row.value), wanted \(row.wanted)") }
  #expect(Patch(loaded.rules).chains.count == loaded.rules.chains.count)
  let endings = [loaded.rules.win, loaded.rules.loss, loaded.rules.draw].map(\.chain)
  let called = loaded.rules.signs.map(\.chain) + endings + [loaded.rules.longNotes]
  #expect(loaded.rules.chains.allSatisfy { called.contains($0.name) }, "a chain that nothing calls")
}

@Test(arguments: Variant.allCases)
func `Games satisfy all measures of form at every pace, with and without human players`(_ variant: Variant) {
  // 40 games of Infinite or Ultimate have at least as many bars as 200 games of the other variants.
  let games = ReferenceGames.games(variant.isLong ? amount("FORM", quick: 40, all: 200) : 200, of: variant)
  let missed = FormReport(games, rules: rules).rows.filter { !$0.holds }
  #expect(missed.isEmpty, "\(variant): \(missed)")
}

@Test(arguments: ["score", "morning", "night"], Variant.allCases)
func `At every pace most bars reach their long note, and there is one at least every 20 s`(
  _ name: String, _ variant: Variant
) throws {
  // 85 % of the bars must reach their long note. In Misère 84.9 % do in 60 games and 86.7 % in 200, so 60 games are too few.
  let games = ReferenceGames.games(amount("PACE", quick: variant.isLong ? 12 : 120, all: 200), of: variant)
  for report in PaceReport.all(games, rules: try RuleLibrary.load("\(assets)/\(name).yaml").rules) {
    #expect(report.share >= 0.85, "\(name), \(variant), \(report.pace): \(report.share)")
    let most = try #require(report.between.max())
    #expect(most < 20, "\(name), \(variant), \(report.pace): \(most) s")
  }
}

@Test(arguments: Variant.allCases)
func `The music of two hundred reference games satisfies all measures of style`(_ variant: Variant) {
  var report = StyleReport()
  for record in ReferenceGames.games(200, of: variant) { report.add(record, rules: rules) }
  #expect(report.games == 200 && report.rows.allSatisfy(\.holds), "\(variant): \(report.text)")
}

@Test func `The measure of roughness fails if nothing was measured`() throws {
  let row = try #require(StyleReport().rows.first { $0.name.hasPrefix("roughness") })
  #expect(!row.holds && row.value == "– – –")
}

@Test func `Over five hundred games the roughness increases from wins to calm moves to threats`() throws {
  var report = StyleReport()
  for record in ReferenceGames.games(500, seed: 99) { report.add(record, rules: rules) }
  let win = try #require(report.roughness(of: "win"))
  let calm = try #require(report.roughness(of: "calm"))
  let threat = try #require(report.roughness(of: "threat"))
  #expect(win < calm && calm < threat)
}

@Test func `The three shipped scores differ in key, pace and notes`() throws {
  let records = ReferenceGames.games(5)
  var melodies: Set<[[Int]]> = []
  var lengths: Set<Int> = []
  for name in ["score", "morning", "night"] {
    let rules = try RuleLibrary.load("\(assets)/\(name).yaml").rules
    let renditions = records.map { Rendition(of: $0, rules: rules) }
    melodies.insert(renditions.map { $0.events.filter { $0.kind == .note }.map(\.pitch.midi) })
    lengths.insert(Int(renditions[0].end.seconds / 5))
  }
  #expect(melodies.count == 3 && lengths.count == 3)
}

@Test func `Errors are reported with line, key and allowed values`() {
  #expect(
    errors(("leap: 26 ", "leap: many")) == [
      "line \(line(of: "leap: 26")): melody.weights.leap: must be a whole number -10000–10000, is \"many\""
    ])
  #expect(
    errors(("tonic: B", "tonic: H")) == [
      "line \(line(of: "tonic: B")): scale.tonic: must be a note such as B, F# or Eb, is \"H\""
    ])
  #expect(
    errors(("mode: minor  ", "mode: gamelan  "))[0].hasSuffix(
      "scale.mode: must be one of dorian lydian major minor mixolydian phrygian, is \"gamelan\""))
  #expect(errors(("[D6, E6, F#6]", "[D6, F6, F#6]"))[0].contains("cells: cell 2 (F6) is not in the scale"))
  #expect(errors(("longest: 8", "longest: 80"))[0].contains("bars.longest: must be a whole number 3–16, is \"80\""))
  #expect(
    errors(("when: [fork]", "when: [spoon]"))[0].contains("signs.fork.when[1]: must be one of threat opposing-threat"))
  #expect(
    errors(("name: glint, at: first", "name: glitter, at: first"))[0].contains(
      "must be one of none glint echo melt shimmer"))
  #expect(
    errors(("comb: wax-comb", "comb: honey"))[0].contains("must be one of metallic-ring light-delay wax-comb custom"))
  #expect(errors(("compass: [A4, B6]", "compass: [A4, B5]")).contains { $0.contains("must hold every cell") })
  #expect(errors(("  quotes: 30", "  quoting: 30")).count == 2)
  #expect(errors(("bed: B2", "bed: B\(Int.max)"))[0].contains("must be a pitch such as"))
  #expect(errors(("    when: []", "    when: [draw]"))[0].contains("the last rule must have no condition"))
}

@Test func `Several errors are reported together, in the order of their lines`() {
  let all = errors(
    ("short: 1.05", "short: slow"), ("pan: 64", "pan: 640"), ("fade: 4", "fade: -1"), ("m: 46", "m: 460"))
  #expect(all.count == 4)
  let lines = all.compactMap { Int($0.dropFirst(5).prefix { $0 != ":" }) }
  #expect(lines == lines.sorted() && lines.count == 4)
}

@Test func `Broken YAML, duplicate keys, empty and oversized files are refused in one line each`() {
  func first(_ text: String) -> String {
    do {
      _ = try RuleReader.rules(text)
      return "good"
    } catch {
      #expect(error.errors.count == 1)
      return error.errors[0].description
    }
  }
  #expect(first("name: [").contains("is not valid YAML here"))
  #expect(first("").contains("is empty"))
  #expect(first(standardText + "\nname: twice\n").contains("twice"))
  #expect(first(String(repeating: "#", count: RuleReader.limit + 1)).contains("larger than 256 KiB"))
  #expect(throws: RuleErrors.self) { try RuleReader.rules("just words") }
  #expect(first("name: x\n--- \nname: y\n").contains("line 3: is not valid YAML here: it is a second document"))
  #expect(first("a: &a [*a]").contains("more than 32 in each other"))
  let tenfold = (1...9).map {
    "l\($0): &l\($0) [\(Array(repeating: "*l\($0 - 1)", count: 10).joined(separator: ", "))]\n"
  }
  #expect(first("l0: &l0 [x]\n" + tenfold.joined()).contains("more than 20000 nodes"))
  #expect(first(String(repeating: "- ", count: 100_000)).contains("line 1: "))
}

@Test func `No damaged rule file crashes the reader`() {
  var generator = SplitMix64(seed: 5)
  let lines = standardText.components(separatedBy: "\n")
  for _ in 0..<300 {
    var damaged = lines
    for _ in 0..<(1 + generator.below(4)) {
      let at = generator.below(damaged.count)
      switch generator.below(4) {
      case 0: damaged.remove(at: at)
      case 1: damaged[at] = String(damaged[at].shuffled(using: &generator))
      case 2: damaged[at] = damaged[at].replacingOccurrences(of: ":", with: ": -9999999999999999999")
      default: damaged.insert(damaged[generator.below(damaged.count)], at: at)
      }
    }
    guard let rules = try? RuleReader.rules(damaged.joined(separator: "\n")) else { continue }
    // Rules that the reader accepts must be playable.
    #expect(Rendition(of: ReferenceGames.game(seed: 1, index: 2), rules: rules).bars.count > 8)
  }
}

@Test func `The error for a missing rule file names the shipped ones`() {
  #expect(throws: ScoreFileError.self) { try RuleLibrary.load("/nowhere/none.yaml") }
  do { _ = try RuleLibrary.load("evening") } catch {
    #expect(error.description.hasPrefix("evening: no such rule file"))
  }
}

@Test(arguments: [("[", "]"), ("{a: ", "}"), ("- ", ""), ("? ", "")])
func `Very deeply nested rules are refused without recursion`(_ open: String, _ close: String) {
  let depth = RuleReader.limit / (open.utf8.count + close.utf8.count)
  for text in [
    String(repeating: open, count: depth),
    String(repeating: open, count: depth) + String(repeating: close, count: depth),
  ] {
    #expect(throws: RuleErrors.self) { try RuleReader.rules(text) }
  }
}

@Test func `Pitches outside the keyboard on some tonic are reported with their sign (rule row) and tonic`() throws {
  for name in ["score", "morning", "night"] {
    #expect(RuleAdvice.moved(try RuleLibrary.load("\(assets)/\(name).yaml").rules) == [])
  }
  var low = rules
  low.drone.notes = [Pitch(22)]
  let fork = try #require(low.signs.firstIndex { $0.name == "fork" })
  low.signs[fork].bass = Pitch(107)
  let threat = try #require(low.signs.firstIndex { $0.name == "threat" })
  (low.signs[threat].tOctaves, low.signs[threat].tOctavesAt) = (2, .all)
  let told = RuleAdvice.moved(low)
  #expect(told.contains("drone.notes sounds in another octave in F♯ G A"), "\(told)")
  #expect(told.contains { $0.hasPrefix("fork: the bass sounds in another octave in D") }, "\(told)")
  #expect(told.contains { $0.hasPrefix("threat: T sounds in another octave in B D") }, "\(told)")
}
