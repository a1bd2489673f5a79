import Base
import Records
import ScoreMeasures
import ScoreModel
import Testing
import TicTacToe

@testable import GameScore
@testable import Tintinnabuli

@Suite("Free play: touches of the board without a game")
struct FreePlayTests {
  /// Random gaps of up to `gap` milliseconds. Half of the touches come together with the touch before, as from several fingers.
  static func touches(_ count: Int, gap: Int, seed: UInt64) -> [FreePlay.Touch] {
    var generator = SplitMix64(seed: seed)
    var now: Int64 = 0
    return (0..<count).map { _ in
      now += generator.below(2) == 0 ? 0 : Int64(generator.below(gap))
      return FreePlay.Touch(
        milliseconds: now, square: Square(generator.below(9)), side: generator.below(3) == 0 ? .o : .x)
    }
  }

  @Test(arguments: [(3, 0), (8, 1), (40, 2), (400, 3), (3_000, 4), (20_000, 5)])
  func `every bar of random touches keeps the laws of the two voices, up to hundreds of touches in a second`(
    gap: Int, seed: UInt64
  ) {
    for round in 0..<4 as Range<UInt64> {
      var play = FreePlay(seed: seed * 31 + round, place: Int(seed * 4 + round))
      play.touches = Self.touches(120, gap: gap, seed: seed * 7 + round)
      let music = Rendition(of: Record(play), rules: rules)
      let (scale, compass) = (music.rules.scale, music.rules.melody.compass)
      var style = StyleMeasures()
      for bar in music.bars {
        style.add(bar, scale: scale)
        let octaves = bar.voice.map { music.rules.manner(of: $0).octaves } ?? 0
        for pair in bar.pairs {
          guard let m = pair.m?.pitch.midi else { continue }
          #expect(scale.degree(of: m) != nil)
          // M of a move's bar is in the compass before its voice's octaves are added. M of an echo may be higher, up to `echoes.ceiling`.
          if bar.kind == .move {
            #expect((compass.lowerBound.midi...compass.upperBound.midi).contains(m - 12 * octaves))
          } else {
            #expect(m <= music.rules.echoes.ceiling.midi)
          }
        }
      }
      #expect(style.conforming == style.pairs && style.awakenings == 0)
      #expect(music.bars.count { $0.kind == .move } <= play.touches.count)
      // A new bar cuts the bar before it.
      for (bar, next) in zip(music.bars, music.bars.dropFirst()) { #expect(bar.end <= next.start) }
    }
  }

  @Test func `soft echoes of the touches begin soon after them, at most two in each octave, and then there is silence`()
    throws
  {
    var conductor = GameConductor(seed: 1, rules: rules)
    conductor.music.joinSession()
    _ = conductor.handle(.freePlayStarted(seed: 5, place: 0), at: .zero)
    let cells = [6, 3, 4, 8, 0, 2]
    for (index, cell) in cells.enumerated() {
      let now = Tick.seconds(2 + 0.5 * Double(index))
      _ = conductor.music.advance(to: now - Conductor.lookahead)
      _ = conductor.handle(.touched(Square(cell), .x), at: now)
    }
    let played = conductor.music.bars.filter { $0.kind == .move }
    let pitches = played.compactMap { $0.pairs.first?.m?.pitch }
    #expect(pitches == cells.map { rules.cells[$0] })
    _ = carryOn(&conductor, from: .seconds(5), to: .seconds(900), step: .seconds(1))
    let echoes = conductor.music.bars.filter { $0.kind == .echo }
    let first = try #require(echoes.first)
    #expect(first.melody == pitches)
    #expect((first.start - played.last!.end).seconds <= 2)
    #expect(first.meanVelocity! < played.map { $0.pairs[0].m!.velocity }.map { Int($0) }.max()!)
    #expect((first.pairs[1].m!.onset - first.pairs[0].m!.onset) == .seconds(0.5))
    let whole = echoes.filter { $0.melody.count == pitches.count }
    #expect(whole.count <= 4 && echoes.count < 20)
    #expect(echoes.last!.start < .seconds(620) && conductor.music.due.map { $0 > .seconds(890) } ?? true)
  }

  @Test func `a link keeps every touch, is bounded, and is refused if any character of it was changed`() throws {
    var play = FreePlay(seed: 0x1234_5678_9ABC, place: 27)
    play.pace = 85
    var generator = SplitMix64(seed: 9)
    var now: Int64 = 0
    for _ in 0..<FreePlay.Limit.touches {
      now += Int64(generator.below(Int(FreePlay.Limit.gap) + 1))
      play.touches.append(
        .init(milliseconds: now, square: Square(generator.below(9)), side: generator.below(2) == 0 ? .x : .o))
    }
    let link = play.link
    #expect(try FreePlay(link: link) == play)
    #expect(link.utf8.count < 4_000, "\(link.utf8.count)")
    // As many touches as a person makes in ten minutes.
    play.touches = Self.touches(400, gap: 2_600, seed: 3)
    let usual = play.link
    #expect(try FreePlay(link: usual) == play)
    #expect(usual.utf8.count < 1_200, "\(usual.utf8.count)")
    #expect(try Record(text: Record(play).text, variants: Variant.allCases).freePlay == play)
    play.touches = Array(play.touches.prefix(12))
    let short = Array(play.link.utf8)
    for index in short.indices {
      var bad = short
      bad[index] = bad[index] == UInt8(ascii: "B") ? UInt8(ascii: "C") : UInt8(ascii: "B")
      #expect(throws: NotationError.self) { try FreePlay(link: String(decoding: bad, as: UTF8.self)) }
      #expect(throws: NotationError.self) { try FreePlay(link: String(decoding: short.prefix(index), as: UTF8.self)) }
    }
    #expect(FreePlay.link(in: "https://example.org/alina/#/f/\(usual)\n") == usual)
    #expect(FreePlay.link(in: usual) == nil && FreePlay.link(in: "g/\(usual)") == nil)
  }
}
