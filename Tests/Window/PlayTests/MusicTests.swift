import Base
import GameScore
import MatchProtocol
import Records
import ScoreIO
import ScoreModel
import Screen
import Session
import Testing
import TicTacToe
import Tintinnabuli
import WindowLogic

@testable import Play

private final class Ear {
  var scales: [Scale] = []
  var beds: [Pitch] = []

  var sound: SoundOutput {
    var sound = SoundOutput(
      SoundPort(
        now: { .zero }, post: { [unowned self] in beds += $0.filter { $0.kind == .drone }.map(\.pitch) },
        takeLate: { [] }, lead: .zero))
    sound.load = { [unowned self] in scales.append($0.scale) }
    return sound
  }
}

@Suite struct MusicTests {
  @Test("A reviewed game and a sign sound in their own key, and the running game in its own afterwards")
  func keys() throws {
    let ear = Ear()
    let rules = try RuleLibrary.load().rules
    let person = Participant.human(name: "you")
    let session = GameSession(
      seed: 1, rules: rules, participants: Participants(x: person, o: person),
      sound: SoundPort(now: { .zero }, post: { _ in }, takeLate: { [] }, lead: .zero)
    ) { $0() }
    let screen = RootScreen(services: PlatformServices(locks: .none), themes: [.light])
    let music = Music(ear.sound, session, screen)
    session.open()
    func plays(_ letter: String) throws -> Bool {
      let (scale, bed) = try (#require(ear.scales.last), #require(ear.beds.last))
      return scale.tonicSpelling.letterName == letter && scale.tonic == bed.midi % 12
    }

    // The first game has an awakening, so the second game is in the next key, D. The opened record is in F♯.
    for name in ["a1", "b1", "b2", "c3", "a3", "a2", "c1"] {
      session.play(try #require(Variant.classic.cell(named: name)))
    }
    session.newGame(session.participants)
    #expect(session.rulesInForce.scale.tonicSpelling.letterName == "D")
    var record = Record(game: Game())
    try record.game.play(Square(4))
    record.station = Station(game: 2, place: 2)
    music.review(record, human: nil, title: "")
    music.answer(.replay(fromPly: 0))
    #expect(try plays("F♯"))
    music.stop()
    #expect(try plays("D"))
    music.answer(.playSign(.calm))
    #expect(try plays("B"))
    music.stop()
    #expect(try plays("D"))
  }

  @Test("the mottos of three games sound one after another: the winner's first three marks, then the tonic")
  func mottos() throws {
    var (now, posted): (Double, [ScoreEvent]) = (0, [])
    let port = SoundPort(
      now: { Tick(rawValue: Int64(now * 48_000)) }, post: { posted += $0 }, takeLate: { [] }, lead: .zero)
    let rules = try RuleLibrary.load().rules
    let person = Participant.human(name: "you")
    let session = GameSession(
      seed: 1, rules: rules, participants: Participants(x: person, o: person), sound: port
    ) { $0() }
    let music = Music(
      SoundOutput(port), session, RootScreen(services: PlatformServices(locks: .none), themes: [.light]))
    let lost = try FinishedMatch.state("0000000000cc", [4, 0, 2, 6, 3, 5, 1, 7], .resign)
    let won = try FinishedMatch.state("0000000000aa", [0, 3, 1, 4, 2], .normal)
    music.play([Motto(place: 3, state: lost), Motto(place: 1, state: won)])
    var places: [Int] = []
    while music.isPlaying, now < 60 {
      if let place = music.soundingPlace, places.last != place { places.append(place) }
      music.carryOn()
      now += 0.05
    }
    #expect(places == [3, 1] && now < 30)
    // The key of these games follows from the game's id. In a real tournament the server chooses the key by the minute of the game's start.
    for (state, marks) in [(lost, [4, 2, 3]), (won, [0, 1, 2])] {
      let record = Record(of: state, tonics: rules.tonics.count)
      let all = Rendition(of: record, rules: rules)
      let from = try #require(all.mottoStart)
      let line = all.bars.filter { $0.start >= from }.flatMap(\.pairs).compactMap { $0.m?.pitch.midi }
      #expect(line.count == 4 && line.prefix(3).map { $0 % 12 } == marks.map { all.rules.cells[$0].midi % 12 })
      #expect(line[3] % 12 == all.rules.scale.tonic % 12)
      let heard = posted.filter { $0.kind == .note }.map(\.pitch.midi)
      #expect(line.allSatisfy { heard.contains($0) })
    }
    music.play([Motto(place: 2, state: won), Motto(place: 1, state: won)])
    music.stop()
    #expect(!music.isPlaying && music.soundingPlace == nil)
    music.carryOn()
    #expect(!music.isPlaying, "nothing follows what the player has stopped")
  }
}
