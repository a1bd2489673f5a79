import ScoreModel
import Testing
import TicTacToe

@testable import Screen

@Suite("The staff")
struct StaffTests {
  /// A pair for each of T's notes, and a low note under the first pair.
  private func bar(_ lower: [Int], bass: Int?) -> Bar {
    func note(_ midi: Int) -> Note {
      Note(pitch: Pitch(midi), velocity: 44, onset: .zero, duration: Tick(rawValue: 48_000), pan: 0)
    }
    var pairs = lower.map { Pair(m: note($0 + 7), t: note($0), isLong: false, isAwakening: false) }
    if let bass { pairs[0].bass = [note(bass)] }
    return Bar(index: 0, kind: .move, ply: 1, voice: .first, start: .zero, pairs: pairs, cut: nil)
  }

  @Test("octave signs touch neither their note heads nor the low notes, for any notes of voice T")
  func octaves() {
    let staff = StaffView(context: Samples.screen().context)
    staff.frame = Rect(0, 0, 1_200, 210)
    for high in 57...98 {
      for low in max(45, high - 19)...high {
        for bass in [nil, 26, 30, 35, 38, 47] as [Int?] {
          let bars = [bar([low, high, low], bass: bass)]
          staff.source = { (bars, .seconds(9)) }
          staff.showModel(animated: false)
          guard let measure = staff.measures.first else { continue }
          for head in staff.lowerHeads(of: measure).bass {
            #expect(head.y + 0.5 * staff.space <= staff.frame.maxY, "bass \(bass ?? 0)")
          }
          guard measure.shiftT != 0 else { continue }
          let (sign, heads) = (staff.octaveSigns(of: measure).t, staff.lowerHeads(of: measure))
          // The number of the octave sign is one and a half staff spaces high, a note head one staff space.
          let number = Rect(sign.x, sign.y - 1.5 * staff.space, 2.2 * staff.space, 1.5 * staff.space)
          let place: Comment = "T \(low)–\(high), bass \(bass ?? 0), shift \(measure.shiftT)"
          if measure.shiftT < 0 {
            for head in heads.t { #expect(head.y - staff.space * 0.5 >= number.maxY, place) }
            #expect(number.y >= staff.frame.y, place)
          } else {
            for head in heads.t { #expect(head.y + staff.space * 0.5 <= number.y, place) }
            #expect(number.maxY <= staff.frame.maxY, place)
            for head in heads.bass {
              // The octave sign's number must not touch the low note head or the space around this head.
              let room = Rect(head.x - staff.space, head.y - staff.space, staff.space * 4.2, staff.space * 3)
              #expect(!room.intersects(number), place)
            }
          }
        }
      }
    }
  }

  @Test("only the marks of the winning line swell when the last bar plays their notes")
  func singing() throws {
    let screen = Samples.screen()
    screen.model = Samples.model([4, 1, 0, 8, 6, 2])
    screen.draw(width: 800, height: 600, at: 0)
    var model = Samples.model([4, 1, 0, 8, 6, 2, 3])
    // A, D and D are the notes of X's winning left column. G (79) is the note of another cell.
    let pairs = [81, 74, 79, 86].enumerated().map { index, midi in
      let onset = Tick.seconds(Double(index))
      return Pair(m: Note(pitch: Pitch(midi), velocity: 44, onset: onset, duration: .seconds(1), pan: 0), t: nil)
    }
    model.soundNow = .seconds(5)
    model.bars = [Bar(index: 0, kind: .move, ply: 7, voice: .first, start: .seconds(5), pairs: pairs, cut: nil)]
    screen.model = model
    var board: BoardView?
    screen.boardScene.visit { if let view = $0 as? BoardView { board = view } }
    let cells = try #require(board).cells
    for (now, cell) in [(10.0, nil), (10.2, 3), (11.2, 0), (13.2, 6), (20, nil)] as [(Double, Int?)] {
      screen.handle([], at: now)
      let loudest = cells.max { $0.voice.value < $1.voice.value }
      #expect(cell == nil ? loudest?.voice.value == 0 : loudest?.cell.index == cell, "at \(now)")
    }
  }
}
