import Foundation
import GameScore
import Interface
import Records
import ScoreFormats
import ScoreIO
import ScoreModel
import Screen
import TestSupport
import Testing
import TicTacToe

@testable import Play

@Suite("The page of the player's own music")
struct MusicEditorTests {
  private static let word = "score-30--6-------40"

  @Test func `a turned dial is heard when it stops turning, and is saved without changing the games' music`() throws {
    let bench = Bench()
    let app = try bench.app()
    bench.pass(app)
    app.screen.show(.music)
    bench.pass(app, 1)
    let before = bench.posted.count
    app.want(.ownMusic(.turn(dial: 0, to: 30)))
    #expect(app.screen.pages.ownMusic.dials[0].position == 30 && app.screen.pages.ownMusic.dials[0].texts[30] == "1.9")
    #expect(!app.screen.pages.ownMusic.isPlaying)
    bench.pass(app, 2)
    #expect(app.screen.pages.ownMusic.isPlaying && bench.posted.dropFirst(before).contains { $0.kind == .note })
    #expect(app.screen.settings.ownMusic == "score-30---------" && app.screen.settings.scoreRules == "score")
    // The example still plays after another dial is turned, and ends when the page is left.
    app.want(.ownMusic(.turn(dial: 9, to: 40)))
    bench.pass(app, 2)
    #expect(app.screen.pages.ownMusic.isPlaying && app.session.rules.name == "alina")
    app.screen.show(.board)
    bench.pass(app, 0.5)
    #expect(!app.screen.pages.ownMusic.isPlaying)
  }

  @Test func `a turned dial changes the music of the running game, and the music's file has the rules in use`() throws {
    let bench = Bench()
    let app = try bench.app()
    app.screen.show(.music)
    app.want(.ownMusic(.open(MusicEditorTests.word)))
    app.want(.ownMusic(.use))
    #expect(app.session.rules.name == MusicEditorTests.word && app.screen.pages.ownMusic.isUsed)
    app.want(.ownMusic(.turn(dial: 1, to: 2)))
    #expect(app.session.rules.name == "score-30-2-6-------40" && app.session.rules.bars.long == 4)
    app.want(.ownMusic(.saveFile))
    let file = try #require(bench.files["data/music/score-30-2-6-------40.yaml"])
    #expect(try RuleReader.rules(String(decoding: file, as: UTF8.self)) == app.session.rules)
    // The record names the rule file, so that alina-score finds it in the folder of the game's file.
    app.screen.show(.board)
    app.want(.play(Cell(4)))
    bench.pass(app, 5)
    let record = app.session.record
    let folder = TemporaryFolder()
    try Data(file).write(to: URL(fileURLWithPath: folder.path + "/score-30-2-6-------40.yaml"))
    let reference = try #require(record.scoreRules)
    #expect(reference.name == "score-30-2-6-------40.yaml")
    let found = try #require(RuleLibrary.load(recorded: reference, beside: folder.path))
    #expect(Rendition(of: record, rules: found.rules).events == Rendition(of: record, rules: app.session.rules).events)
    app.want(.ownMusic(.reset))
    #expect(try app.session.rules.bars == RuleLibrary.load("score").rules.bars)
  }

  @Test(arguments: [
    ("score-30", "it has 1 of 10 numbers"), ("score-99---------", "its number 1 must be between 0 and 32"),
    ("noon-30---------", "no music is named noon"),
  ])
  func `a damaged link is reported with the reason and changes nothing`(_ word: String, _ reason: String) throws {
    let bench = Bench()
    let app = try bench.app()
    bench.pass(app)
    bench.clipboard = "see https://alina.example/#/m/\(word)"
    app.want(.pasteGame)
    bench.pass(app)
    #expect(bench.notices.last?.hasSuffix(reason + ".") == true, "\(bench.notices)")
    #expect(app.screen.currentScene == .board && app.screen.settings.ownMusic.isEmpty)
    #expect(app.screen.pages.ownMusic == OwnMusicModel())
  }

  @Test func `a pasted link shows its dials; the player's own music stays saved until a dial is turned`() throws {
    let bench = Bench()
    let app = try bench.app()
    app.screen.settings.ownMusic = "night-1---------"
    bench.clipboard = "#/m/\(MusicEditorTests.word)"
    app.want(.pasteGame)
    bench.pass(app)
    #expect(app.screen.currentScene == .music && app.place == "m/\(MusicEditorTests.word)")
    #expect(app.screen.pages.ownMusic.dials.map(\.position)[0] == 30)
    #expect(app.screen.settings.ownMusic == "night-1---------")
    app.want(.ownMusic(.share))
    #expect(bench.shared == ["m/\(MusicEditorTests.word)"])
  }

  @Test func `dials that nobody turned show the numbers of the shipped rules`() throws {
    let bench = Bench()
    let app = try bench.app()
    app.screen.show(.music)
    let tree = try #require(RuleLibrary.tree("score"))
    for (dial, model) in zip(RuleDial.all, app.screen.pages.ownMusic.dials) {
      #expect(model.texts[model.position] == tree.text(of: dial.key))
    }
    #expect(app.screen.pages.ownMusic.isUnchanged)
  }
}
