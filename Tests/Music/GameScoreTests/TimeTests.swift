import Base
import Oracle
import Records
import ScoreMeasures
import ScoreModel
import Testing
import TicTacToe

@testable import GameScore
@testable import Tintinnabuli

private func opened() -> (GameConductor, [ScoreEvent]) {
  var conductor = GameConductor(seed: 21, rules: rules)
  var events = conductor.handle(.opened(resuming: false), at: .zero)
  events += conductor.handle(.gameStarted(.classic(.start), human: .x), at: .zero)
  return (conductor, events)
}

@Test func `A session opens with the low tonic, the centre pair at 2 s, a bar of three at 6 s and echoes from 16 s`() {
  var (conductor, events) = opened()
  let low = events.filter { $0.kind == .note }
  #expect(low.map(\.pitch.midi) == [35, 47] && low.allSatisfy { $0.frame <= .milliseconds(300) })
  #expect(events.contains { $0.kind == .drone && $0.pitch == Pitch(47) })
  events += carryOn(&conductor, from: .zero, to: .seconds(30))
  #expect(conductor.music.bars[0].start == .seconds(2) && conductor.music.bars[0].melody == [Pitch(83)])
  #expect(conductor.music.bars[1].start == .seconds(6) && conductor.music.bars[1].pairs.count == 3)
  #expect(conductor.music.bars[2].kind == .echo && conductor.music.bars[2].start == .seconds(16))
  #expect(!events.contains { $0.kind == .cut })
}

@Test func `Resuming an unfinished game sounds the low tonic only`() throws {
  var conductor = GameConductor(seed: 21, rules: rules)
  var events = conductor.handle(.opened(resuming: true), at: .zero)
  events += conductor.handle(.gameStarted(try game("b2 a1").state, human: .x), at: .zero)
  events += carryOn(&conductor, from: .zero, to: .seconds(30))
  #expect(events.filter { $0.kind == .note }.allSatisfy { $0.voice == .bass && $0.frame < .seconds(1) })
}

@Test(arguments: ["emt 0:04:00", "emt 0:00:01"])
func `Trimming shortens pauses to six short notes, and leaves a piece without pauses unchanged`(
  pause: String
) throws {
  let record = try Record(
    text: "[Seed \"7\"]\n\n1. b2 {[%emt 0:00:02]} a1 {[%\(pause)]} c1 {[%emt 0:00:03]} a3 {[%emt 0:00:01]} *\n")
  let kept = Rendition(of: record, rules: rules)
  let trimmed = Rendition(of: record, rules: rules, trimmed: true)
  if pause == "emt 0:00:01" {
    #expect(trimmed.events == kept.events)
  } else {
    #expect(kept.end > .seconds(240) && trimmed.end < .seconds(60))
    #expect(kept.bars.contains { $0.kind == .echo } && !trimmed.bars.contains { $0.kind == .echo })
  }
  for (bar, next) in zip(trimmed.bars, trimmed.bars.dropFirst()) {
    #expect(next.start - bar.end <= .seconds(6 * rules.bars.short + 1))
  }
}

@Test
func `Echoes begin after a bar, become softer and rarer, repeat the game at 2 min and end at 10 min`() throws {
  let game = try game("b2 a1 c1")
  var conductor = conducted(game).conductor
  let moved = conductor.music.bars
  let end = conductor.music.bars.last!.end
  let events = carryOn(&conductor, from: end, to: end + .seconds(900))
  let echoes = conductor.music.bars.filter { $0.kind == .echo }
  // The first echo comes after 45 % of eight seconds if the bar has two pairs, after 100 % if it has eight. This bar has four pairs: two
  // sixths of the 55 % are added.
  #expect(echoes.first?.start == end + .seconds(8 * (0.45 + 0.55 * 2 / 6)))
  for echo in echoes.prefix(while: { $0.start < end + .seconds(120) }) {
    let left = echo.start < end + .seconds(30) ? 4 : 3
    let sources = moved.flatMap { bar in [0, 12].map { up in bar.melody.suffix(left).map { $0.midi + up } } }
    #expect(sources.contains(echo.melody.map(\.midi)))
    // T rests in an echo, except on the long note.
    #expect(echo.pairs.dropLast().allSatisfy { $0.t == nil } && echo.pairs.last?.t != nil)
  }
  #expect(echoes.allSatisfy { $0.pairs.allSatisfy { $0.m!.velocity < 45 && $0.m!.pitch <= Pitch(93) } })
  let said = Dictionary(grouping: echoes) { $0.pairs.map { [$0.m?.pitch, $0.t?.pitch] } }
  #expect(echoes.count > 8 && said.values.allSatisfy { $0.count <= 2 })
  // The low tonic is struck every 40 s for two minutes, then ever more rarely and softly until silence after ten minutes.
  let strokes = events.filter { $0.voice == .bass && $0.pitch == Pitch(35) }
  let rests = zip(strokes.dropFirst(), strokes).map { ($0.frame - $1.frame).seconds }
  #expect(strokes.prefix(3).map(\.frame) == (1...3).map { end + .seconds(40 * Double($0)) })
  #expect(rests == rests.sorted() && rests.last! > 70 && rests.last! < 80 && strokes.count == 11)
  let velocities = strokes.dropFirst(2).map(\.velocity)
  #expect(Set(strokes.prefix(3).map(\.velocity)) == [36] && Set(velocities).count == 9)
  #expect(velocities == velocities.sorted(by: >) && events.allSatisfy { $0.frame < end + .seconds(600) })
  // After two minutes, a short note (1.05 s) after each stroke of the low tonic, an echo sounds the cell's note and the long note of a
  // move.
  let told = echoes.filter { $0.start >= end + .seconds(120) }
  #expect(told.map(\.start) == strokes.dropFirst(2).prefix(3).map { $0.frame + .seconds(1.05) })
  for (echo, bar) in zip(told, moved) {
    let ends = [bar.melody[0], bar.melody.last!].map(\.midi)
    #expect([ends, ends.map { $0 + 12 }].contains(echo.melody.map(\.midi)) && echo.tones.count == 2)
  }
}

@Test func `The shorter a bar, the earlier its first echo, which comes after at most eight seconds`() throws {
  var rests: [Double] = []
  for moves in ["b2", "b2 a1 c1", "b2 a1 c1 a3 a2 c2 b3"] {
    var conductor = conducted(try game(moves)).conductor
    let end = conductor.music.bars.last!.end
    _ = carryOn(&conductor, from: end, to: end + .seconds(12))
    let echo = try #require(conductor.music.bars.first { $0.kind == .echo })
    rests.append((echo.start - end).seconds)
  }
  #expect(rests == rests.sorted() && abs(rests[0] - 3.6) < 0.001 && abs(rests[2] - 8) < 0.001, "\(rests)")
}

@Test func `Echoes stay below their highest pitch`() throws {
  var high = rules
  high.echoes.ceiling = Pitch(81)
  var conductor = conducted(try game("b2 a1 c3"), rules: high).conductor
  let end = conductor.music.bars.last!.end
  _ = carryOn(&conductor, from: end, to: end + .seconds(300))
  let notes = conductor.music.bars.filter { $0.kind == .echo }.flatMap { $0.melody + $0.tones }
  #expect(notes.count > 8 && notes.allSatisfy { $0 <= Pitch(81) })
}

@Test func `A move cuts pending events and posts its whole bar at once`() throws {
  var (conductor, _) = opened()
  let moment = Tick(rawValue: 6 * 48_000 + 12_345)
  _ = carryOn(&conductor, from: .zero, to: moment)
  var game = Game()
  let move = try game.playValued(Cell(4))
  let events = conductor.handle(.moved(move), at: moment)
  #expect(events.first?.kind == .cut && events.first?.frame == moment)
  #expect(events.allSatisfy { $0.frame >= moment && $0.generation == events[0].generation })
  #expect(events.contains { $0.kind == .note && $0.frame == moment })
  #expect(
    conductor.music.bars.last?.start == moment && conductor.music.bars[1].cut == moment - conductor.music.bars[1].start)
  #expect(carryOn(&conductor, from: moment, to: moment + .seconds(6)).isEmpty)
}

@Test func `The low tonic sounds in bars 4 and 8 and at a new game, with the first move if that comes sooner`() throws {
  let long = try #require(firstGame { game, move in move.outcome == .draw })
  let (conductor, _) = conducted(long)
  for bar in conductor.music.bars where bar.kind == .move {
    #expect((bar.pairs[0].bass.map(\.pitch) == rules.drone.notes) == (bar.ply == 4 || bar.ply == 8))
  }
  var rematch = conductor
  let moment = rematch.music.bars.last!.end + .seconds(3)
  let events = rematch.handle(.gameStarted(.classic(.start), human: nil), at: moment)
  #expect(events.map(\.kind) == [.cut, .pedal, .drone, .pedal, .note, .note])
  #expect(events[1].amount == 0 && events[1].duration == 14_400)
  #expect(events[3].frame == moment + .milliseconds(300))
  var game = Game()
  let move = try game.playValued(Cell(0))
  var quick = rematch
  let overtaking = quick.handle(.moved(move), at: moment + .milliseconds(100))
  #expect(overtaking.filter { $0.voice == .bass }.allSatisfy { $0.frame == moment + .milliseconds(100) })
  #expect(overtaking.filter { $0.voice == .bass }.count == 2)
  let calm = rematch.handle(.moved(move), at: moment + .seconds(2))
  #expect(calm.allSatisfy { $0.voice != .bass })
}

@Test func `An opponent answers on a slot (beat) of the bar's long note, never before the second slot`() throws {
  var (conductor, _) = conducted(try game("b2 a1 c1"))
  conductor.music.autoReplyVoices = [.second]
  let bar = try #require(conductor.music.bars.last)
  let onsets = bar.pairs.map { bar.start + $0.t!.onset }
  #expect(conductor.music.replySlot(ready: bar.start) == onsets[3] + .seconds(1.05))
  #expect(conductor.music.replySlot(ready: onsets[3] + .seconds(1.06)) == onsets[3] + .seconds(2.1))
  let late = conductor.music.replySlot(ready: bar.start + .seconds(60))
  #expect(late >= bar.start + .seconds(60) && late < bar.start + .seconds(61.06))
  let steps = (late - onsets[3]).seconds / 1.05
  #expect(abs(steps - steps.rounded()) < 0.001)
  conductor.music.reply = .immediate
  #expect(conductor.music.replySlot(ready: bar.start + Tick(rawValue: 5)) == bar.start + Tick(rawValue: 5))
}

@Test func `Between two automatic players the answer comes after the whole long note, at varying times`() throws {
  var breaths: [Int] = []
  for seed in 0..<20 {
    let (conductor, _) = conducted(try game("b2 a1 c1"), seed: UInt64(seed))
    let bar = try #require(conductor.music.bars.last)
    let long = bar.start + bar.pairs[3].t!.onset
    breaths.append(Int(((conductor.music.replySlot(ready: bar.start) - long).seconds / 1.05).rounded()))
  }
  #expect(Set(breaths) == [4, 5])
}

@Test func `While a person thinks, both voices continue with phrases in turn, more of them as the game grows`() throws {
  var pairs: [Int] = []
  var conductor = GameConductor(seed: 4, rules: rules)
  conductor.music.autoReplyVoices = []
  _ = conductor.handle(.gameStarted(.classic(.start), human: nil), at: .zero)
  var now = Tick.seconds(1)
  for move in try game("b2 a1 c1 a3 a2 c2").variantMoves {
    _ = conductor.handle(.moved(move), at: now)
    let bar = try #require(conductor.music.bars.last)
    now = now + .seconds(60)
    _ = conductor.music.advance(to: now - Conductor.lookahead)
    let phrases = conductor.music.bars.drop { $0.index <= bar.index }.prefix { $0.kind == .phrase }
    pairs.append(phrases.reduce(0) { $0 + $1.pairs.count })
    var last = bar
    for phrase in phrases {
      #expect(phrase.voice == last.voice?.other && phrase.start == last.end + .seconds(rules.phrases.after))
      // A phrase begins one scale step from the long note that the phrase answers.
      let degrees = [(last, last.pairs.last), (phrase, phrase.pairs.first)].map { bar, pair in
        rules.scale.degree(of: pair!.m!.pitch.midi - 12 * rules.manner(of: bar.voice).octaves)!
      }
      #expect(abs(degrees[1] - degrees[0]) == 1)
      last = phrase
    }
  }
  #expect(pairs[0] == 0 && pairs == pairs.sorted() && pairs.last == 6)
}

@Test func `The arch has four to six bars even after quick games`() throws {
  for (moves, seconds) in [
    ("b2 a1 a2 c3 c2", 0.4), ("b2 a1 c1 a3 a2 c2 b3 b1 c3", 1.5), ("b2 a1 c1 a3 a2 c2 b3 b1 c3", 12),
  ] {
    var conductor = GameConductor(seed: 4, rules: rules)
    conductor.music.autoReplyVoices = []
    _ = conductor.handle(.gameStarted(.classic(.start), human: nil), at: .zero)
    var now = Tick.seconds(1)
    for move in try game(moves).variantMoves {
      _ = conductor.handle(.moved(move), at: now)
      now = now + .seconds(seconds)
    }
    _ = conductor.music.renderToEnd()
    let all = conductor.music.bars.filter { $0.kind == .closing }.map(\.pairs.count)
    let arch = all.last == 1 ? all.dropLast() : all[...]
    #expect((4...6).contains(arch.count) && arch.dropLast() == arch.dropLast().sorted(by: >)[...] && arch.last == 3)
  }
}

@Test func `The arches of two draws in a row differ, even after the same moves`() throws {
  var conductor = GameConductor(seed: 4, rules: rules)
  var now = Tick.seconds(1)
  var contours: [ScoreRules.Contour] = []
  for _ in 0..<3 {
    _ = conductor.handle(.gameStarted(.classic(.start), human: nil), at: now)
    for move in try game("b2 a1 c1 a3 a2 c2 b3 b1 c3").variantMoves {
      now = now + .seconds(3)
      _ = conductor.handle(.moved(move), at: now)
    }
    guard case .closing(let closing) = conductor.music.agenda.course else { break }
    contours.append(closing.ending.contour)
  }
  #expect(contours.count == 3 && contours[0] != contours[1] && contours[1] != contours[2])
}

@Test func `A melody, even of two notes, is remembered for half an hour`() {
  var novelty = Novelty()
  novelty.insert([83, 86], octaves: -12, at: .seconds(10))
  #expect(novelty.isRepeat([83, 86], octaves: 0, at: .seconds(1_809)))
  #expect(
    !novelty.isRepeat([83, 86], octaves: 0, at: .seconds(1_810))
      && !novelty.isRepeat([83, 88], octaves: 0, at: .zero))
}

@Test func `A bar that the synthesizer started late shifts all later music by the same time`() throws {
  var (conductor, events) = conducted(try game("b2 a1 c1"))
  let bar = try #require(conductor.music.bars.last)
  var punctual = conductor
  conductor.music.shifted(generation: events[0].generation, to: bar.start + Tick(rawValue: 480))
  #expect(conductor.music.bars.last?.start == bar.start + Tick(rawValue: 480))
  #expect(conductor.music.replySlot(ready: .zero) == punctual.music.replySlot(ready: .zero) + Tick(rawValue: 480))
  let end = bar.end
  let late = carryOn(&conductor, from: end, to: end + .seconds(20))
  events = carryOn(&punctual, from: end, to: end + .seconds(20))
  #expect(late.map(\.frame) == events.map { $0.frame + Tick(rawValue: 480) })
}

@Test func `A sign (musical answer) cut before it sounds is heard later, on the second pair of another bar`() throws {
  var (owedSeen, coveredSeen) = (0, 0)
  let games = (0..<300).map { randomGame($0).game } + ReferenceGames.games(20, of: .ultimate, seed: 4).map(\.game)
  for (index, game) in games.enumerated() {
    var generator = SplitMix64(seed: UInt64(index))
    var conductor = GameConductor(seed: 1, rules: rules)
    _ = conductor.handle(.gameStarted(game.startState, human: nil), at: .zero)
    var now = Tick.seconds(1)
    for (number, move) in game.variantMoves.enumerated() {
      let waiting = conductor.music.piece.pendingSigns.pending.map(\.sign)
      let before = conductor.music.piece.pendingSigns.said?.signs ?? []
      _ = conductor.handle(.moved(move), at: now)
      let bar = try #require(conductor.music.bars.last)
      let previous = number > 0 ? conductor.music.bars[conductor.music.bars.count - 2] : nil
      // A sign that was cut off or postponed must sound in this bar or stay pending, unless the move ends the game. Even a sign that covers
      // it (`covers`) does not drop it, because the two may be of different players.
      var due = Set(waiting)
      if let previous, let cut = previous.cut {
        for sign in before {
          if let onset = previous.pairs[sign.pair].onset, onset >= cut { due.insert(sign.sign.sign) }
        }
      }
      let own = bar.signs[0]
      let covered = Set(rules.signs.first { $0.name == own }?.covers ?? [])
      let heard = bar.signs.dropFirst().map { String($0.dropFirst("owed:".count)) }
      let isResult = move.outcome != nil
      if !isResult { coveredSeen += due.intersection(covered).count }
      for sign in due {
        #expect(
          heard.contains(sign) || conductor.music.piece.pendingSigns.pending.contains { $0.sign == sign } || isResult)
      }
      if let first = heard.first {
        owedSeen += 1
        // Of several due signs the one with the highest precedence sounds.
        let order = rules.signs.map(\.name)
        #expect(
          due.filter { $0 != own && !covered.contains($0) }.allSatisfy {
            order.firstIndex(of: $0)! >= order.firstIndex(of: first)!
          })
      }
      now = now + .seconds(0.3 + Double(generator.below(2_500)) / 1000)
    }
  }
  #expect(owedSeen > 100 && coveredSeen > 5, "\(owedSeen), \(coveredSeen)")
}

@Test func `Hurried moves are softer, T most, and every third one half-changes the pedal`() throws {
  let game = try game("b2 a1 c1 a3 a2 c2 b3")
  var conductor = GameConductor(seed: 1, rules: rules)
  _ = conductor.handle(.gameStarted(.classic(.start), human: nil), at: .zero)
  var calm = conductor
  var answers: [[ScoreEvent]] = []
  for (number, move) in game.variantMoves.enumerated() {
    answers.append(conductor.handle(.moved(move), at: .milliseconds(1000 + 300 * number)))
    _ = calm.handle(.moved(move), at: .milliseconds(1000 + 3_000 * number))
  }
  func velocity(_ bar: Bar, _ voice: (Pair) -> Note?) -> Int { Int(voice(bar.pairs[0])!.velocity) }
  #expect(velocity(conductor.music.bars[4], \.t) < velocity(calm.music.bars[4], \.t) - 5)
  #expect(velocity(conductor.music.bars[4], \.m) < velocity(calm.music.bars[4], \.m))
  let halved = answers.indices.filter { index in answers[index].contains { $0.kind == .pedal && $0.amount == 64 } }
  #expect(halved == [3, 6])
}

@Test func `Undo plays the bar's pairs backwards, softly, and the game continues from there`() throws {
  let game = try game("b2 a1 c1")
  var (conductor, _) = conducted(game)
  let bar = try #require(conductor.music.bars.last)
  let moment = bar.end - .seconds(0.5)
  let events = conductor.handle(.undone, at: moment)
  let undo = try #require(conductor.music.bars.last)
  #expect(undo.kind == .undo && undo.melody == bar.melody.reversed())
  #expect(events.first?.kind == .cut)
  #expect(zip(undo.pairs, bar.pairs.reversed()).allSatisfy { $0.m!.velocity < $1.m!.velocity })
  #expect(conductor.music.choices.count == 3 && conductor.music.choices.last?.count == 1)
  var again = game
  _ = again.undo()
  let move = try again.playValued(Cell(0))
  _ = conductor.handle(.moved(move), at: moment + .seconds(3))
  #expect(conductor.music.bars.last?.pairs.count == 4 && conductor.music.bars.last?.ply == 3)
  // Two moves that are taken back together sound as one undo.
  var twice = conducted(game).conductor
  _ = twice.handle(.undone, at: moment)
  _ = twice.handle(.undone, at: moment)
  #expect(twice.music.bars.last?.pairs.count == 4 + 3 && twice.music.piece.events.count == 1)
}

@Test func `A refusal knocks; a preview sounds the cell's pitch in the mover's voice`() throws {
  var (conductor, _) = conducted(try game("b2"))
  let now = Tick.seconds(9)
  let knock = conductor.handle(.refused, at: now)
  #expect(knock.map(\.kind) == [.knock] && knock[0].frame == now)
  let preview = conductor.handle(.previewed(Cell(0)), at: now)
  #expect(preview[0].kind == .preview && preview[0].pitch.midi == 86 - 12 && preview[0].amount > 0)
  #expect(conductor.handle(.previewed(nil), at: now)[0].amount == 0)
}

@Test func `A lost connection silences T at once until the next bar`() throws {
  let game = try game("b2 a1 c1 a3")
  var conductor = GameConductor(seed: 6, rules: rules)
  _ = conductor.handle(.gameStarted(.classic(.start), human: .x), at: .zero)
  let moves = game.variantMoves
  _ = conductor.handle(.moved(moves[0]), at: .seconds(1))
  _ = conductor.handle(.moved(moves[1]), at: .seconds(4))
  let lost = conductor.handle(.connection(lost: true), at: .seconds(4.5))
  #expect(lost.first?.kind == .cut && lost.contains { $0.voice == .m } && !lost.contains { $0.voice == .t })
  let away = conductor.handle(.moved(moves[2]), at: .seconds(12))
  #expect(away.contains { $0.voice == .m } && !away.contains { $0.voice == .t })
  #expect(conductor.handle(.connection(lost: false), at: .seconds(13)).isEmpty)
  let back = conductor.handle(.moved(moves[3]), at: .seconds(20))
  #expect(back.contains { $0.voice == .t })
  // While the connection was lost only T's sound was left out. The score keeps T, because all listeners of a match have the same score.
  #expect(conductor.music.bars.filter { $0.kind == .move }.flatMap(\.pairs).allSatisfy { $0.t != nil })
}

@Test func `A clock below ten seconds pulses the drone once a second, not faster`() throws {
  var (conductor, _) = conducted(try game("b2"))
  _ = conductor.handle(.clockLow(true), at: .seconds(10))
  let events = carryOn(&conductor, from: .seconds(10), to: .seconds(15)).filter { $0.kind == .drone }
  let beats = events.filter { $0.amount == 100 }.map(\.frame)
  #expect(zip(beats, beats.dropFirst()).allSatisfy { $1 - $0 == .seconds(1) } && beats.count >= 5)
  let end = conductor.handle(.clockLow(false), at: .seconds(17))
  #expect(end.map(\.kind) == [.drone] && end[0].amount == 100)
  #expect(!carryOn(&conductor, from: .seconds(17), to: .seconds(24)).contains { $0.kind == .drone })
}

@Test func `While no player moves, events are posted at least half a second before they sound`() throws {
  let long = try #require(firstGame { game, move in move.outcome == .draw })
  var (conductor, _) = conducted(long)
  var now = conductor.music.bars.last!.start
  let end = now + .seconds(200)
  while now < end {
    for event in conductor.music.advance(to: now) { #expect((event.frame - now).seconds >= 0.5) }
    now = now + .milliseconds(50)
  }
}
