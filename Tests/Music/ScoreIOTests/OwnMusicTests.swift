import Base
import Foundation
import ScoreFormats
import TestSupport
import Testing
import Tintinnabuli

@testable import ScoreIO

@Suite("A player's own music")
struct OwnMusicTests {
  private static func random(_ base: String, _ generator: inout SplitMix64) -> OwnMusic {
    var own = OwnMusic(base: base)
    for index in RuleDial.all.indices where generator.below(4) > 0 {
      own.steps[index] = generator.below(RuleDial.all[index].steps + 1)
    }
    return own
  }

  @Test(arguments: RuleLibrary.names)
  func `a shipped file that is read and written as YAML has the same rules`(_ name: String) throws {
    let tree = try #require(RuleLibrary.tree(name))
    #expect(try RuleReader.rules(tree.yaml) == RuleLibrary.load(name).rules)
  }

  @Test(arguments: RuleLibrary.names)
  func `random dials make valid rules, which are read back from link and file`(_ base: String) throws {
    let tree = try #require(RuleLibrary.tree(base))
    var generator = SplitMix64(seed: 51)
    for _ in 0..<60 {
      let own = OwnMusicTests.random(base, &generator)
      #expect(try OwnMusic(own.word, bases: RuleLibrary.names) == own)
      let changed = own.changing(tree)
      let rules = try RuleReader.rules(changed)
      #expect(rules.name == own.word)
      #expect(try RuleReader.rules(changed.yaml) == rules)
      for (dial, steps) in zip(RuleDial.all, own.steps) {
        #expect(changed.text(of: dial.key) == steps.map { dial.text(at: $0) } ?? tree.text(of: dial.key))
      }
    }
  }

  @Test func `a dial turned to either end gives that end of its range`() {
    for dial in RuleDial.all {
      #expect(Double(dial.text(at: 0)) == dial.range.lowerBound)
      let last = Double(dial.text(at: dial.steps)) ?? .infinity
      #expect(last <= dial.range.upperBound && last + dial.step > dial.range.upperBound, "\(dial.key)")
    }
    #expect(RuleDial.all[0].text(at: 13) == "1.05" && RuleDial.all[9].text(at: 1) == "-39.5")
  }

  @Test func `a music with no dial turned equals the shipped one except for its name`() throws {
    var rules = try RuleReader.rules(OwnMusic(base: "night").changing(#require(RuleLibrary.tree("night"))))
    let shipped = try RuleLibrary.load("night").rules
    rules.name = shipped.name
    #expect(rules == shipped)
  }

  @Test(arguments: [
    ("score-1-2", OwnMusic.Fault.count(2)), ("score", .count(0)), ("noon----------", .base("noon")), ("", .base("")),
    ("score-34---------", .number(1, most: 32)), ("score----x------", .number(4, most: 35)),
    ("score-----------", .count(11)), ("score------+1----", .number(6, most: 40)),
  ])
  func `a damaged code of a music is refused with the reason`(_ word: String, _ fault: OwnMusic.Fault) {
    #expect(throws: fault) { try OwnMusic(word, bases: RuleLibrary.names) }
  }

  @Test func `a music's link has the music's code after #/m/`() {
    #expect(OwnMusic.word(in: "https://alina.example/#/m/score-1--------- ") == "score-1---------")
    #expect(
      OwnMusic.word(in: "#/m/x\n") == "x" && OwnMusic.word(in: "#/l/x") == nil && OwnMusic.word(in: "/m/x") == nil)
  }
}
