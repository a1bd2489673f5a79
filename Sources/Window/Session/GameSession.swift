import GameScore
import Opponents
import Oracle
import Records
import ScoreModel
import TicTacToe
import Tintinnabuli

/// The running game and its music. Confined to one thread; opponents search on other threads. The only clock is the sound port's.
package final class GameSession {
  package internal(set) var game = Game()
  /// One entry for each move.
  package internal(set) var times: [Record.MoveTimes] = []
  package internal(set) var participants: Participants
  /// Whether opponents move in time with the music or at once; may change at any time.
  package var reply: Conductor.Reply {
    get { conductor.music.reply }
    set { conductor.music.reply = newValue }
  }
  /// The tempo, 0.7 (slow) … 1.3 (fast); applies from the next bar.
  package var pace: Double {
    get { conductor.music.pace }
    set { conductor.music.pace = newValue }
  }
  /// Moves taken back; `redo` replays the last one first.
  package private(set) var undone: [Cell] = []
  /// Whether music that begins by itself (echoes, the music after the end) is composed but not played, because another piece plays.
  package var isResting = false
  /// The audible voices; the player may choose fewer for a hidden window.
  package enum Voices: Sendable, Hashable {
    case all, bass, none
  }
  package var voices = Voices.all
  /// The number of games that began in this session before the running game.
  package private(set) var gameNumber = 0

  let sound: SoundPort
  /// Runs work on another thread.
  package typealias Workers = (@escaping @Sendable () -> Void) -> Void
  private let workers: Workers?
  private(set) var conductor: GameConductor
  /// The time of the last event that the conductor has handled; no later event may have an earlier time.
  var lastHandled = Tick.zero
  private var hasOpened = false
  private var startFrame: Int64 = 0
  private var endFrame: Int64?
  /// When each move of the match was made, by its log, in slots of 250 ms from the first move; `nil` in a local game.
  var slots: [Int]?
  /// The number of moves whose slots the music has received; a move gets its slot only when the server has logged the move.
  var settled = 0
  /// The generation (bar number) of each ply's bar, by which the engine reports bars that came late; `nil` if unknown.
  var generations: [UInt32?] = []
  private var search: MoveSearch?
  private var answer: (cell: Cell, slot: Tick)?
  /// Added to a frame of this run to get the frame in the record: in a resumed game the last recorded frame plus one second, so that the
  /// record's frames keep increasing; else 0.
  private var frameOffset: Int64 = 0
  private var resumed: Record?
  /// Each side's time for the game in seconds; `nil` without clocks.
  package internal(set) var clockSeconds: Int?
  var isClockLow = false
  /// A side's remaining milliseconds by the server's clock. When they run out, only the server ends the game.
  package var clocksElsewhere: ((Player) -> Int?)?

  /// `workers` is `nil` in a program with one thread; then `advance` searches for opponents' moves, less than 1/60 s at each call.
  package init(
    seed: UInt64, rules: ScoreRules, participants: Participants, sound: SoundPort,
    workers: Workers?
  ) {
    (self.participants, self.sound, self.workers) = (participants, sound, workers)
    conductor = GameConductor(seed: seed, rules: rules)
  }

  // MARK: - State for the window

  /// The score rules as loaded, not transposed; a change applies from the next bar.
  package var rules: ScoreRules {
    get { conductor.music.home }
    set { conductor.music.home = newValue }
  }

  /// The score rules transposed to the tonic of the running game.
  package var rulesInForce: ScoreRules { conductor.music.rules }

  /// The name and hash by which records identify the score rules; set them together with `rules`.
  package var rulesReference: Record.ScoreRules?

  package var bars: [Bar] { Array(conductor.music.score) }

  /// Whether it is a computer opponent's turn.
  package var isThinking: Bool {
    guard !game.isOver, case .machine = participants[game.turn] else { return false }
    return true
  }

  /// Whether a local person may move now.
  package var acceptsMove: Bool { !game.isOver && participants[game.turn].isHuman }

  /// Whether the music after the end of the game is still being played.
  package var isClosing: Bool { conductor.music.isClosing }

  private func seatPlayers() {
    let answering = Player.allCases.filter { !participants[$0].isHuman }
    conductor.music.autoReplyVoices =
      reply == .musical && !participants.areRemote ? Set(answering.map { $0.voice }) : []
    conductor.seat(x: participants.x.name, o: participants.o.name)
  }

  package var canUndo: Bool { pliesToUndo > 0 }

  // MARK: - Actions of players

  /// Starts the music, with a new game or a resumed one. Call it once.
  package func open(resuming record: Record? = nil) {
    precondition(!hasOpened, "a session opens once")
    hasOpened = true
    if let record {
      conductor.music.station = record.station ?? Station()
      game = record.game
      times = game.cells.indices.map { record.times(ofMove: $0) }
      resumed = record
      clockSeconds = record.clockSeconds
      generations = Array(repeating: nil, count: game.cells.count)
      let last = max(times.compactMap { $0.frame }.max() ?? 0, record.startFrame ?? 0)
      frameOffset = last + Tick.seconds(1).rawValue
    }
    seatPlayers()
    let awoke = game.variantMoves.awakening != nil
    submit([
      .opened(resuming: record != nil), .gameStarted(game.state, human: participants.loneHuman, awoke: awoke),
    ])
    startFrame = record?.startFrame ?? lastHandled.rawValue
    think()
  }

  package func set(_ variant: Variant) {
    precondition(!hasOpened, "another game begins by newGame")
    game = Game(from: VariantState(startOf: variant))
  }

  package func seat(_ players: Participants) {
    precondition(!hasOpened, "players change with a new game")
    participants = players
  }

  /// Plays a cell for the local person whose turn it is; returns whether the move was played. If not, plays the sound of a refusal.
  @discardableResult
  package func play(_ cell: Cell) -> Bool {
    guard acceptsMove else {
      refuse()
      return false
    }
    guard mark(cell, at: nil) == nil else { return false }
    undone = []
    return true
  }

  package func newGame(
    _ players: Participants, from start: VariantState = .classic(.start), clockSeconds: Int? = nil
  ) {
    participants = players
    self.clockSeconds = clockSeconds
    clocksElsewhere = nil
    begin(Game(from: start))
  }

  /// Takes back the local person's last move and the reply.
  package func undo() {
    let count = pliesToUndo
    guard count > 0 else { return }
    undone += takeBack(count)
    submit(Array(repeating: .undone, count: count))
    think()
  }

  /// Replays moves that were taken back, until it is a local person's turn.
  package func redo() {
    guard !undone.isEmpty, !game.isOver else { return }
    stopThinking()
    repeat {
      guard let cell = undone.popLast(), mark(cell, at: nil) == nil else { break }
    } while !game.isOver && !undone.isEmpty && !participants[game.turn].isHuman
  }

  /// `nil` ends the preview tone.
  package func preview(_ cell: Cell?) { submit([.previewed(cell)]) }

  // MARK: - Time

  /// Call it after the seconds of `wake`, and when a worker has finished.
  package func advance() {
    guard hasOpened else { return }
    for late in sound.takeLate() {
      conductor.music.shifted(generation: late.generation, to: late.frame)
      guard let ply = generations.lastIndex(of: late.generation), let frame = times[ply].frame else { continue }
      times[ply].frame = frame + late.lateness
    }
    let now = sound.now()
    answerIfReady(now)
    watchClocks()
    let events = conductor.music.advance(to: max(now + sound.lead, lastHandled))
    if !isResting { post(events) }
  }

  /// Seconds until `advance` has work or a displayed clock changes; `nil` if nothing is due.
  package var wake: Double? {
    guard hasOpened else { return nil }
    if answer == nil, let search, search.needsSteps || search.result != nil { return 0 }
    let now = sound.now()
    let score = [answer?.slot, conductor.music.due].compactMap { $0 }.min().map { ($0 - sound.lead - now).seconds }
    return [score, clockChange(at: now)].compactMap { $0 }.min().map { max(0, $0) }
  }

  private func answerIfReady(_ now: Tick) {
    search?.step()
    if answer == nil, let cell = search?.result {
      answer = (cell, max(conductor.music.replySlot(ready: now), lastHandled))
    }
    guard let answer, now + sound.lead >= answer.slot else { return }
    stopThinking()
    mark(answer.cell, at: max(answer.slot, now))
  }

  private func think() {
    stopThinking()
    guard isThinking, case .machine(let player) = participants[game.turn] else { return }
    search = MoveSearch(player, about: game, seed: conductor.music.pieceSeed, on: workers)
  }

  private func stopThinking() {
    search = nil
    answer = nil
  }

  // MARK: - Moves

  private var pliesToUndo: Int {
    let moves = game.cells.count
    // With clocks there is no undo, because time cannot be given back. In a network match the opponent would have to agree.
    guard moves > 0, clockSeconds == nil, !participants.areRemote else { return 0 }
    var side = game.mover(ofMove: moves)
    for count in 1...moves {
      side = side.opponent
      if participants[side].isHuman { return count }
    }
    return 0
  }

  /// 10 ms after the last downbeat: at the same frame the new bar would cancel that downbeat.
  private var earliestDownbeat: Tick {
    guard let last = times.last?.frame else { return .zero }
    return Tick(rawValue: last - frameOffset) + .milliseconds(10)
  }

  @discardableResult
  func mark(_ cell: Cell, at slot: Tick?, logged: Tick? = nil) -> RuleViolation? {
    do throws(RuleViolation) {
      // Play on a copy: the mover's clock is read after `submit`, while `game` still has the mover's turn.
      var next = game
      try next.play(cell)
      let events = submit(
        [.moved(VariantMove(valued: cell, in: game.state))], at: max(slot ?? .zero, earliestDownbeat), logged: logged)
      let frame = lastHandled.rawValue + frameOffset
      let previous = times.last?.frame ?? startFrame
      let elapsed = max(0, frame - previous) / 48
      let clock = milliseconds(left: game.turn, at: lastHandled).map { Int64(max(0, $0)) }
      game = next
      times.append(Record.MoveTimes(elapsed: elapsed, clock: clock, frame: frame))
      generations.append(events.first?.generation)
      if game.isOver { undone = [] } else { think() }
      return nil
    } catch {
      refuse()
      return error
    }
  }

  /// Returns the cells of the moves taken back, last first.
  func takeBack(_ count: Int) -> [Cell] {
    stopThinking()
    endFrame = nil
    times.removeLast(count)
    generations.removeLast(count)
    return (0..<count).compactMap { _ in game.undo() }
  }

  package func end(with end: GameEnd) {
    guard !game.isOver else { return }
    stopThinking()
    // A foreign server may send a reason that does not fit the outcome; a record with such a reason could not be read again.
    let ways = Termination.byHand(end.outcome)
    let end = ways.contains(end.termination) ? end : GameEnd(outcome: end.outcome, termination: ways[0])
    game.finish(end)
    submit([.ended(end)])
    endFrame = lastHandled.rawValue + frameOffset
    undone = []
  }

  func begin(_ next: Game, match: GameEvent? = nil) {
    stopThinking()
    game = next
    gameNumber += 1
    times = Array(repeating: Record.MoveTimes(), count: next.cells.count)
    generations = Array(repeating: nil, count: next.cells.count)
    undone = []
    endFrame = nil
    frameOffset = 0
    resumed = nil
    isClockLow = false
    (slots, settled) = (match == nil ? nil : [], 0)
    seatPlayers()
    submit([match ?? .gameStarted(next.state, human: participants.loneHuman)])
    startFrame = lastHandled.rawValue
    think()
  }

  /// Composes game events on a copy of the conductor and posts the notes. If an audio block has begun meanwhile, the bar would start in the
  /// past: composes the bar once more, with a later start.
  @discardableResult
  func submit(_ gameEvents: [GameEvent], at slot: Tick? = nil, logged: Tick? = nil) -> [ScoreEvent] {
    var events: [ScoreEvent] = []
    var moment = Tick.zero
    var next = conductor
    for _ in 0..<2 {
      moment = conductor.kept(max(slot ?? .zero, sound.now(), lastHandled))
      next = conductor
      events = gameEvents.flatMap { next.handle($0, at: moment, logged: logged) }
      if sound.now() <= moment { break }
    }
    conductor = next
    lastHandled = moment
    post(events)
    return events
  }

  private func post(_ events: [ScoreEvent]) {
    switch voices {
    case .all: sound.post(events)
    case .bass: sound.post(events.filter { $0.voice == .bass || $0.kind != .note && $0.kind != .bell })
    case .none: sound.post(events.filter { $0.kind != .note && $0.kind != .bell && $0.kind != .drone })
    }
  }
}

// MARK: - Clocks

extension GameSession {
  /// With fewer milliseconds left than this, the music warns the side to move, and clocks show tenths of a second.
  private static let lowMilliseconds = 10_000

  /// `nil` without clocks. Clocks start with the first move.
  package func milliseconds(left side: Player) -> Int? {
    milliseconds(left: side, at: sound.now()).map { max(0, $0) }
  }

  private func milliseconds(left side: Player, at now: Tick) -> Int? {
    if let clocksElsewhere { return clocksElsewhere(side) }
    guard let clockSeconds else { return nil }
    if game.end == GameEnd(outcome: .win(side.opponent), termination: .time) { return 0 }
    var left = Int64(clockSeconds) * 1_000
    for (index, move) in times.enumerated().dropFirst() where game.mover(ofMove: index) == side {
      left -= move.elapsed ?? 0
    }
    if !game.isOver, game.turn == side, let last = times.last?.frame {
      left -= max(0, now.rawValue + frameOffset - last) / 48
    }
    return Int(clamping: left)
  }

  /// Seconds until the displayed clock changes.
  private func clockChange(at now: Tick) -> Double? {
    guard !game.isOver, let left = milliseconds(left: game.turn, at: now), left > 0 else { return nil }
    let unit = left < GameSession.lowMilliseconds ? 100 : 1_000
    // At least 0.02 s, since the session's time advances in audio blocks of about this length.
    return max(0.02, Double(left % unit + 1) / 1_000)
  }

  private func watchClocks() {
    guard clockSeconds != nil || clocksElsewhere != nil else { return }
    let left = game.isOver ? nil : milliseconds(left: game.turn, at: sound.now())
    let isLow = (left ?? .max) < GameSession.lowMilliseconds
    if isLow != isClockLow {
      isClockLow = isLow
      submit([.clockLow(isLow)])
    }
    guard clockSeconds != nil, let left, left <= 0 else { return }
    end(with: GameEnd(outcome: .win(game.turn.opponent), termination: .time))
    isClockLow = false
    submit([.clockLow(false)])
  }
}

// MARK: - The record

extension GameSession {
  package var record: Record {
    if let play = freePlay { return freePlayRecord(play) }
    var record = resumed ?? Record(game: game)
    record.game = game
    record.times = times
    record.startFrame = startFrame
    record.endFrame = endFrame
    record.seed = conductor.music.pieceSeed
    record.bars = conductor.music.choices
    record.inTime = conductor.music.autoReplyVoices
    record.annotations =
      (resumed?.annotations ?? [])
      + conductor.annotations.map { aside in
        var aside = aside
        aside.frame += frameOffset
        return aside
      }
    record.scoreRules = rulesReference
    record.human = participants.loneHuman
    record.station = conductor.music.pieceStation
    record.logSlots = slots.flatMap { $0.count == game.cells.count ? $0 : nil }
    record.pace = conductor.music.pace
    if let clockSeconds { record.timeControl = "\(clockSeconds)+0" }
    record[player: .x] = participants.x.name
    record[player: .o] = participants.o.name
    return record
  }
}
