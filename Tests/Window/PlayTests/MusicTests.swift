import Base
import GameScore
import Records
import ScoreIO
import ScoreModel
import Screen
import Session
import Testing
import TicTacToe
import Tintinnabuli

@testable import Play

/// The commands that the sound received.
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

    // The last game had an awakening: this one is in D, the opened record in F♯.
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
}
