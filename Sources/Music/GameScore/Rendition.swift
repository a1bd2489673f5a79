import Oracle
import Records
import ScoreModel
import TicTacToe
import Tintinnabuli

/// The complete music of a game, composed offline: what `alina-score` renders, measures and explains.
package struct Rendition: Sendable {
  package private(set) var gameEvents: [(moment: Tick, event: GameEvent)] = []
  /// All score events sorted by frame.
  package private(set) var events: [ScoreEvent] = []
  package var bars: [Bar] { conductor.music.bars }
  package var reasons: [Int: [NoteReason]] { conductor.music.reasons }
  /// The rules in use, transposed to the tonic of the game.
  package var rules: ScoreRules { conductor.music.rules }
  package var choices: [[Int]] { conductor.music.choices }
  /// The start of the closing bars that quote the winner's motto (first three degrees) before the last tonic; `nil` if no bar quotes it.
  package var mottoStart: Tick? {
    let closing = bars.filter { $0.kind == .closing }
    guard let coda = closing.lastIndex(where: { $0.pairs.count == 1 }) else { return nil }
    var (first, pairs) = (coda, 0)
    // The motto's three notes lie in one or more bars before the last tonic.
    while first > 0, pairs < 3 {
      first -= 1
      pairs += closing[first].pairs.count
    }
    return closing[first].start
  }
  package private(set) var end = Tick.zero
  private var conductor: GameConductor

  /// Composes a recorded game; `human` is the side of the only local human, by default the side named in the record. Moves sound at the
  /// recorded frames, else at the log's times, else after the recorded thinking times. Without times, or if `uncut`, each move sounds at
  /// the end of the previous bar. If `trimmed`, a pause after a bar lasts at most as long as six short notes.
  package init(
    of record: Record, rules: ScoreRules, seed: UInt64? = nil, human: Player? = nil, uncut: Bool = false,
    trimmed: Bool = false, opens: Bool = true, explains: Bool = false
  ) {
    var rules = rules
    // Trimmed renderings keep the timing of earlier versions of Alina: the first echo comes `echoes.after` seconds after any bar.
    if trimmed { rules.echoes.afterShort = 100 }
    conductor = GameConductor(seed: seed ?? record.seed ?? 1, rules: rules, station: record.station ?? Station())
    conductor.music.explains = explains
    conductor.seat(x: record[player: .x], o: record[player: .o])
    conductor.music.pace = record.pace ?? 1
    if let play = record.freePlay {
      replay(play, trimmed: trimmed)
      return
    }
    let timing = Timing(record, uncut: uncut, longestPause: trimmed ? Tick.seconds(6 * rules.bars.short) : nil)
    // Without recorded times the music chooses the times of all moves; with them, only those of the voices in the tag `InTime`.
    conductor.music.autoReplyVoices = timing.hasTimes ? record.inTime ?? [] : [.first, .second]
    let opens = opens && timing.origin == 0 && timing.logged == nil
    begin(record, human: human ?? record.human, opens: opens, isMatch: timing.logged != nil)
    var now = Tick.seconds(2 * rules.bars.short)
    if opens {
      // The first move waits for the end of the opening phrase, unless the record has the move's frame.
      now = .seconds(rules.opening.phrase)
      if !timing.keepsFrames {
        advance(to: now)
        now = conductor.music.bars.last?.end ?? now
      }
    }
    replay(record, timing, from: now)
  }

  /// The recorded times of a game, and how they become times of the music.
  private struct Timing {
    /// The slots of the moves in a match's log; `nil` for other games.
    let logged: [Int]?
    let isUncut: Bool
    /// Whether moves sound at the recorded frames.
    let keepsFrames: Bool
    let hasTimes: Bool
    /// The recorded frame at which the music begins.
    let origin: Int64
    /// The longest pause after a bar; `nil` for no limit.
    let longestPause: Tick?
    /// The total of the pauses shortened so far: a recorded frame minus this total is the frame in the trimmed music.
    var trimmedAway = Tick.zero

    init(_ record: Record, uncut: Bool, longestPause: Tick?) {
      let (logged, times) = (record.logSlots, record.times)
      // If a listener joined the match late, the record lacks the first moves' frames: then the log's times apply to all moves.
      let keepsFrames =
        !uncut && times.contains { $0.frame != nil }
        && (logged == nil || record.game.cells.indices.allSatisfy { record.times(ofMove: $0).frame != nil })
      (self.logged, isUncut, self.keepsFrames, self.longestPause) = (logged, uncut, keepsFrames, longestPause)
      hasTimes = !uncut && times.contains { $0.frame != nil || $0.elapsed != nil }
      origin = keepsFrames ? record.startFrame ?? 0 : 0
    }

    func moment(ofFrame frame: Int64) -> Tick { Tick(rawValue: frame - origin) - trimmedAway }
  }

  private mutating func begin(_ record: Record, human: Player?, opens: Bool, isMatch: Bool) {
    if opens {
      dispatch(.opened(resuming: !record.game.isFromStart), at: .zero)
    } else {
      conductor.music.joinSession()
    }
    conductor.music.replay(choices: record.bars)
    if isMatch {
      let station = record.station?.place ?? 0
      dispatch(.matchStarted(record.game.variant, seed: conductor.music.pieceSeed, station: station), at: .zero)
    } else {
      dispatch(.gameStarted(record.game.startState, human: human), at: .zero)
    }
    conductor.music.replay(choices: record.bars)
  }

  /// Replays the moves and the end of a game. Without recorded times the first move sounds at `start`.
  private mutating func replay(_ record: Record, _ timing: Timing, from start: Tick) {
    var timing = timing
    var now = start
    var annotations = timing.keepsFrames ? record.annotations[...] : []
    for (index, move) in record.game.variantMoves.enumerated() {
      let times = record.times(ofMove: index)
      replayAnnotations(&annotations, until: times.frame ?? 0, from: move.before, record, timing)
      now = shortenPause(before: moment(ofMove: index, times, timing, after: now), &timing)
      advance(to: now)
      dispatch(.moved(move), at: now, logged: timing.logged.map { Tempo.moment($0[index]) })
      if !timing.hasTimes && timing.logged == nil { events += conductor.music.renderToEnd() }
      now = conductor.music.bars.last?.end ?? now
    }
    replayAnnotations(&annotations, until: .max, from: record.game.state, record, timing)
    if let end = record.game.end, end.termination != .normal {
      if timing.keepsFrames, let frame = record.endFrame {
        now = max(timing.moment(ofFrame: frame), gameEvents.last?.moment ?? .zero)
        if let longest = timing.longestPause { now = min(now, (conductor.music.bars.last?.end ?? now) + longest) }
      }
      advance(to: now)
      dispatch(.ended(end), at: now)
    }
    events += conductor.music.renderToEnd()
    finish(at: now)
  }

  /// The time at which a move sounds after the bar that ends at `now`, still with the whole pause before the move.
  private func moment(ofMove index: Int, _ times: Record.MoveTimes, _ timing: Timing, after now: Tick) -> Tick {
    if timing.isUncut { return now }
    let last = gameEvents.last?.moment
    if timing.keepsFrames, let frame = times.frame { return max(timing.moment(ofFrame: frame), last ?? .zero) }
    if let logged = timing.logged, index > 0 { return (last ?? now) + Tempo.moment(logged[index] - logged[index - 1]) }
    if let elapsed = times.elapsed, case .moved? = gameEvents.last?.event {
      return (last ?? now) + Tick(rawValue: elapsed * 48)
    }
    return now
  }

  /// Returns `moment`, or an earlier time if the pause before it is longer than `longestPause`.
  private func shortenPause(before moment: Tick, _ timing: inout Timing) -> Tick {
    guard let longest = timing.longestPause, let heard = conductor.music.bars.last?.end, moment - heard > longest else {
      return moment
    }
    timing.trimmedAway = timing.trimmedAway + (moment - heard - longest)
    return heard + longest
  }

  private mutating func finish(at now: Tick) {
    end = conductor.music.bars.last?.end ?? now
    events = ScoreEvent.heard(events + conductor.music.fade(at: end)).inOrder
  }

  /// Replays free play, and the first echoes after it. If `trimmed`, no pause between touches exceeds a minute.
  private mutating func replay(_ play: FreePlay, trimmed: Bool) {
    conductor.music.pace = Double(play.pace) / 100
    conductor.music.joinSession()
    dispatch(.freePlayStarted(seed: play.seed, place: play.place), at: .zero)
    var (now, last) = (Tick.zero, Int64(0))
    for touch in play.touches {
      let gap = touch.milliseconds - last
      last = touch.milliseconds
      now = now + .milliseconds(Int(trimmed ? min(gap, 60_000) : gap))
      advance(to: now)
      dispatch(.touched(touch.square, touch.side), at: now)
    }
    advance(to: now + .seconds(conductor.music.rules.echoes.thin))
    finish(at: now)
  }

  /// Plays the annotations up to `frame` and removes them from the list. `state` is the position before the first of them. `frame` and the
  /// annotations' frames count from the session's first sound.
  private mutating func replayAnnotations(
    _ annotations: inout ArraySlice<Annotation>, until frame: Int64, from state: VariantState, _ record: Record,
    _ timing: Timing
  ) {
    var game = Game(from: state)
    while let aside = annotations.first, aside.frame <= frame {
      annotations.removeFirst()
      let moment = max(timing.moment(ofFrame: aside.frame), gameEvents.last?.moment ?? .zero)
      advance(to: moment)
      switch aside.kind {
      case .taken(let cell, let choices):
        let move = game.state.moves.contains(cell) ? VariantMove(valued: cell, in: game.state) : nil
        guard let move, (try? game.play(cell)) != nil else { continue }
        var bars = record.bars
        while bars.count <= move.ply { bars.append([]) }
        bars[move.ply] = choices
        conductor.music.replay(choices: bars)
        dispatch(.moved(move), at: moment)
      case .undone:
        guard game.undo() != nil else { continue }
        dispatch(.undone, at: moment)
        conductor.music.replay(choices: record.bars)
      case .connection(let lost): dispatch(.connection(lost: lost), at: moment)
      }
    }
  }

  private mutating func dispatch(_ event: GameEvent, at moment: Tick, logged: Tick? = nil) {
    gameEvents.append((moment, event))
    events += conductor.handle(event, at: moment, logged: logged)
  }

  private mutating func advance(to moment: Tick) {
    // `Conductor.advance` composes up to `lookahead` beyond the given time, but the next event would cut all music after `moment`.
    events += conductor.music.advance(to: moment - Conductor.lookahead)
  }
}
