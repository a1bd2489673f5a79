import Records
import ScoreModel
import TicTacToe
import Tintinnabuli

/// Translates games of tic-tac-toe to events of the music's conductor.
package struct GameConductor: Sendable {
  package var music: Conductor
  package private(set) var annotations: [Annotation] = []

  /// The touches of free play; `nil` while a game is played.
  package internal(set) var freePlay: FreePlay?
  package private(set) var freePlayStart = Tick.zero
  /// The number of the current sentence, from 0, and the number of its touches so far.
  var sentence = (number: 0, touches: 0)

  private var state = VariantState(startOf: .classic)
  /// The side of the only local human; `nil` if there are no local humans, or two.
  private var human: Player?
  /// Whether the awakening is among the moves before the game was resumed.
  private var awoke = false
  private var played: [(move: VariantMove, moment: Tick)] = []

  package init(seed: UInt64, rules: ScoreRules, station: Station = Station()) {
    music = Conductor(seed: seed, rules: rules, station: station)
  }

  /// Handles a game event and returns the score events for it. Only `previewed`, `refused` and `clockLow` may have a `moment` before that
  /// of the previous event. `logged` is a move's time in a network match's log: the bars depend on this time, not on the time of arrival.
  package mutating func handle(_ gameEvent: GameEvent, at moment: Tick, logged: Tick? = nil) -> [ScoreEvent] {
    switch gameEvent {
    case .opened(let resuming): return music.open(at: moment, resuming: resuming)
    case .gameStarted(let state, let human, let awoke):
      start(state, human: human)
      self.awoke = awoke
      return music.begin(at: moment, number: state.plies, marks: marks(in: state, on: nil))
    case .matchStarted(let variant, let seed, let station):
      start(VariantState(startOf: variant), human: nil)
      return music.begin(at: moment, match: seed, place: station)
    case .freePlayStarted(let seed, let place):
      start(.classic(.start), human: nil)
      let play = FreePlay(seed: seed, place: place)
      (freePlay, freePlayStart, sentence) = (play, moment, (0, 0))
      return music.begin(at: moment, match: play.seed, place: play.place)
    case .touched(let square, let side): return touch(square, side, at: moment)
    case .logged: return logged.map { music.correctTime($0, at: moment) } ?? []
    case .moved(let move):
      if music.isOver || move.before.plies < state.plies { start(move.before, human: human) }
      state = move.after
      let awakens = move.isDecisive && !awoke && !played.contains { $0.move.isDecisive }
      played.append((move, moment))
      return music.compose(event(move, awakens: awakens), at: moment, logged: logged)
    case .ended(let end): return music.end(end.outcome.map { self.end($0) }, at: moment)
    case .undone:
      guard let last = played.popLast() else { return [] }
      let ply = last.move.ply
      let choices = ply < music.choices.count ? music.choices[ply] : []
      annotations.append(Annotation(frame: last.moment.rawValue, kind: .taken(last.move.cell, choices: choices)))
      annotations.append(Annotation(frame: moment.rawValue, kind: .undone))
      state = last.move.before
      return music.undo(at: moment)
    case .refused: return music.refuse(at: moment)
    case .previewed(let cell):
      // After a change from Ultimate to a smaller board the pointer may be on a cell that this board lacks.
      let own = cell.flatMap { $0.index < state.variant.cellCount ? $0 : nil }
      return music.preview(own.map { degree($0) }, as: state.turn.voice, at: moment)
    case .connection(let lost):
      if lost != music.connectionLost {
        annotations.append(Annotation(frame: moment.rawValue, kind: .connection(lost: lost)))
      }
      return music.connection(lost: lost, at: moment)
    case .clockLow(let low): return music.clock(low: low, at: moment)
    }
  }

  /// Sets the players' names, which select colours in the score rules, with `-` for `:`: player `levels:3` has the colour `levels-3`.
  package mutating func seat(x: String?, o: String?) {
    let names = [(Voice.first, x), (Voice.second, o)].compactMap { voice, name in
      name.map { (voice, $0.split(separator: ":").joined(separator: "-")) }
    }
    music.names = Dictionary(uniqueKeysWithValues: names)
  }

  private mutating func start(_ state: VariantState, human: Player?) {
    (self.state, self.human, played, annotations, awoke) = (state, human, [], [], false)
    freePlay = nil
  }

  // MARK: Meaning of moves for the music

  /// The facts that hold for a move; `awakens` is whether the move is the first decisive move of its game.
  package static func facts(of move: VariantMove, awakens: Bool) -> Set<Fact> {
    var facts: Set<Fact> = []
    if !move.threats.isEmpty || !move.losingSquares(for: move.mover).isEmpty { facts.insert(.threat) }
    if !move.opposingThreats.isEmpty || !move.losingSquares(for: move.mover.opponent).isEmpty {
      facts.insert(.opposingThreat)
    }
    if move.isFork { facts.insert(.fork) }
    if move.isBlock { facts.insert(.block) }
    if move.isMistake { facts.insert(.mistake) }
    if move.isOnlyMove { facts.insert(.onlyMove) }
    if move.isForced { facts.insert(.forced) }
    if move.winsBoard { facts.insert(.board) }
    if move.fillsBoard { facts.insert(.fullBoard) }
    if move.repetitions > 0 { facts.insert(.again) }
    if awakens { facts.insert(.awakening) }
    if let outcome = move.outcome { facts.insert(outcome == .draw ? .draw : .win) }
    return facts
  }

  private func event(_ move: VariantMove, awakens: Bool) -> Event {
    var event = Event(
      voice: move.mover.voice, degree: degree(move.cell), facts: Self.facts(of: move, awakens: awakens),
      standing: standing(of: move, before: false), stood: standing(of: move, before: true), number: move.ply,
      marks: marks(in: move.after, on: move.board),
      line: move.outcome == nil
        ? [] : move.completed.subtracting(SquareSet(move.square)).map { degree($0, on: move.board) },
      end: move.outcome.map { end($0) })
    event.phase = Self.phase(of: move)
    event.removedDegree = move.removed.map { degree($0) }
    if case .infinite(let state) = move.after, move.repetitions > 0 {
      event.returns =
        played.dropLast().last { earlier in
          if case .infinite(let other) = earlier.move.after { other.board == state.board } else { false }
        }?.move.ply
    }
    if move.after.variant.isOneBoard { return event }
    event.root = root(of: move.board)
    event.nextRoot = move.sendsTo.map { root(of: $0) } ?? 0
    event.sentence = move.board
    event.closes = move.winsBoard
    event.endsSentence = move.fillsBoard
    event.end?.sentences = move.winningBoards
    return event
  }

  func end(_ outcome: Outcome) -> End {
    switch outcome {
    case .draw: End(.draw)
    case .win(let winner): End(human.map { $0 != winner } ?? false ? .loss : .win, winner: winner.voice)
    }
  }

  // MARK: Pitches of cells

  func degree(_ square: Square) -> Int { music.rules.degree(of: music.rules.cells[square.index]) ?? 0 }

  private func degree(_ cell: Cell) -> Int { degree(state.variant.place(of: cell), on: cell.index / 9) }

  /// The degree of a cell: that of its place on a 3×3 board plus the offset of its small board, moved by octaves into the compass.
  private func degree(_ square: Square, on board: Int) -> Int {
    var own = degree(square) + root(of: board)
    let compass = music.rules.degrees
    while own > compass.upperBound { own -= 7 }
    while own < compass.lowerBound { own += 7 }
    return own
  }

  /// The offset of a small board's degree from the middle board's degree; 0 in games with one board.
  private func root(of board: Int) -> Int {
    if state.variant.isOneBoard { return 0 }
    let rules = music.rules
    let boards = rules.boards.isEmpty ? rules.cells : rules.boards
    return (rules.degree(of: boards[board]) ?? 0) - (rules.degree(of: boards[4]) ?? 0)
  }

  /// The degrees of the cells that each side has marked; in Ultimate only on the small board `board`.
  private func marks(in state: VariantState, on board: Int?) -> Marks {
    guard let board = board ?? (state.variant.isOneBoard ? 0 : nil) else { return Marks() }
    let position = state.position(on: board)
    return Marks(first: position.x.map { degree($0, on: board) }, second: position.o.map { degree($0, on: board) })
  }
}

extension Player {
  package var voice: Voice { self == .x ? .first : .second }
}

/// The facts of moves; each raw value is the fact's word in rule files.
extension Fact {
  /// The mover could complete a line with one more mark; in Misère the mover would lose by this mark.
  package static var threat: Fact { Fact(rawValue: "threat") }
  /// The opponent could complete a line with one more mark; in Misère the opponent would lose by this mark.
  package static var opposingThreat: Fact { Fact(rawValue: "opposing-threat") }
  /// The mover has two or more threats after the move, and had fewer before.
  package static var fork: Fact { Fact(rawValue: "fork") }
  /// The move takes a cell with which the opponent would have completed a line.
  package static var block: Fact { Fact(rawValue: "block") }
  /// The move made the mover's position worse; in Ultimate, the opponent can now win at once, and another move would have prevented this.
  package static var mistake: Fact { Fact(rawValue: "mistake") }
  /// The only move that kept the value of the mover's position; in Ultimate, the only one after which the opponent cannot win at once.
  package static var onlyMove: Fact { Fact(rawValue: "only-move") }
  /// The first move after which a win can no longer be prevented; in Ultimate, after which a side needs only one more board for a line.
  package static var awakening: Fact { Fact(rawValue: "awakening") }

  /// The position after the move has occurred before (Infinite).
  package static var again: Fact { Fact(rawValue: "again") }
  /// The mover won a small board (Ultimate).
  package static var board: Fact { Fact(rawValue: "board") }
  /// A small board is full without a winner (Ultimate).
  package static var fullBoard: Fact { Fact(rawValue: "full-board") }
  /// The mover had a single legal move, or the opponent could have won the game at once after every other move (Ultimate).
  package static var forced: Fact { Fact(rawValue: "forced") }

  /// The facts that a rule file can use if the file declares no words for facts.
  package static var ofGames: [Fact] {
    [.threat, .opposingThreat, .fork, .block, .mistake, .onlyMove, .awakening, .again, .board, .fullBoard, .forced]
      + own
  }
}
