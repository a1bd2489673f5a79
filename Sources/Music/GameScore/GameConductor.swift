import ScoreModel
import TicTacToe
import Tintinnabuli

/// Hears games of tic-tac-toe and tells the conductor of their music what they mean for it.
package struct GameConductor: Sendable {
  /// The music, and everything that it alone knows.
  package var music: Conductor
  /// What was heard in the running game besides its moves as they stand, for its record.
  package private(set) var asides: [Aside] = []

  private var state = VariantState(startOf: .classic)
  /// The one local human's side, if there is exactly one.
  private var human: Player?
  /// Whether the game had had its awakening when it was taken up again.
  private var awoke = false
  private var played: [(move: VariantMove, moment: Tick)] = []

  /// Makes the conductor of a session; its parameters are those of `Conductor`.
  package init(seed: UInt64, rules: ScoreRules, station: Station = Station()) {
    music = Conductor(seed: seed, rules: rules, station: station)
  }

  /// Answers a happening at a moment not before any earlier one (previews, refusals and clocks may come any time).
  ///
  /// `logged` is the time a match's log gives a move, whenever its line arrived; its bars are composed by it.
  package mutating func handle(_ happening: Happening, at moment: Tick, logged: Tick? = nil) -> [ScoreEvent] {
    switch happening {
    case .opened(let resuming): return music.open(at: moment, resuming: resuming)
    case .gameStarted(let state, let human, let awoke):
      start(state, human: human)
      self.awoke = awoke
      return music.begin(at: moment, number: state.plies, marks: marks(in: state, on: nil))
    case .matchStarted(let variant, let seed, let station):
      start(VariantState(startOf: variant), human: nil)
      return music.begin(at: moment, match: seed, place: station)
    case .logged: return logged.map { music.settle($0, at: moment) } ?? []
    case .moved(let move):
      if music.isOver || move.before.plies < state.plies { start(move.before, human: human) }
      state = move.after
      let awakens = move.isDecisive && !awoke && !played.contains { $0.move.isDecisive }
      played.append((move, moment))
      return music.strike(event(move, awakens: awakens), at: moment, logged: logged)
    case .ended(let end): return music.end(end.outcome.map { self.end($0) }, at: moment)
    case .undone:
      guard let last = played.popLast() else { return [] }
      let ply = last.move.ply
      let choices = ply < music.choices.count ? music.choices[ply] : []
      asides.append(Aside(frame: last.moment.rawValue, kind: .taken(last.move.cell, choices: choices)))
      asides.append(Aside(frame: moment.rawValue, kind: .undone))
      state = last.move.before
      return music.undo(at: moment)
    case .refused: return music.refuse(at: moment)
    case .previewed(let cell):
      // Whoever rests on a cell of a larger board while the game changes hears nothing.
      let own = cell.flatMap { $0.index < state.variant.cellCount ? $0 : nil }
      return music.preview(own.map { degree($0) }, as: state.turn.voice, at: moment)
    case .connection(let lost):
      if lost != music.connectionLost { asides.append(Aside(frame: moment.rawValue, kind: .connection(lost: lost))) }
      return music.connection(lost: lost, at: moment)
    case .clockLow(let low): return music.clock(low: low, at: moment)
    }
  }

  /// Tells who plays, by the names that records keep: `levels:3` has the colour `levels-3`.
  package mutating func seat(x: String?, o: String?) {
    let names = [(Voice.first, x), (Voice.second, o)].compactMap { voice, name in
      name.map { (voice, $0.split(separator: ":").joined(separator: "-")) }
    }
    music.names = Dictionary(uniqueKeysWithValues: names)
  }

  private mutating func start(_ state: VariantState, human: Player?) {
    (self.state, self.human, played, asides, awoke) = (state, human, [], [], false)
  }

  // MARK: What a game means for its music

  /// The facts of a move that follow from the rules of the game alone; the first decisive move of a game awakens.
  package static func facts(of move: VariantMove, awakens: Bool) -> Set<Fact> {
    var facts: Set<Fact> = []
    if !move.threats.isEmpty { facts.insert(.threat) }
    if !move.opposingThreats.isEmpty { facts.insert(.opposingThreat) }
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
    let event = Event(
      voice: move.mover.voice, degree: degree(move.cell), facts: Self.facts(of: move, awakens: awakens),
      standing: standing(of: move, before: false), stood: standing(of: move, before: true), number: move.ply,
      marks: marks(in: move.after, on: move.board),
      line: move.outcome == nil
        ? [] : move.completed.subtracting(SquareSet(move.square)).map { degree($0, on: move.board) },
      end: move.outcome.map { end($0) })
    return move.after.variant == .classic ? event : longer(move, event)
  }

  /// What a move of the longer games is besides.
  private func longer(_ move: VariantMove, _ event: Event) -> Event {
    var event = event
    event.phase = Self.phase(of: move)
    event.leaves = move.removed.map { degree($0) }
    if case .infinite(let state) = move.after, move.repetitions > 0 {
      event.returns =
        played.dropLast().last { earlier in
          if case .infinite(let other) = earlier.move.after { other.board == state.board } else { false }
        }?.move.ply
    }
    guard move.after.variant == .ultimate else { return event }
    event.root = root(of: move.board)
    event.leads = move.sendsTo.map { root(of: $0) } ?? 0
    event.sentence = move.board
    event.closes = move.winsBoard
    event.end?.sentences = move.winningBoards
    return event
  }

  /// The end that an outcome is for whoever listens.
  func end(_ outcome: Outcome) -> End {
    switch outcome {
    case .draw: End(.draw)
    case .win(let winner): End(human.map { $0 != winner } ?? false ? .loss : .win, winner: winner.voice)
    }
  }

  // MARK: Where a cell sounds

  /// The degree of a cell of the 3×3 board as the rules have it.
  private func degree(_ square: Square) -> Int { music.rules.degree(of: music.rules.cells[square.index]) ?? 0 }

  private func degree(_ cell: Cell) -> Int { degree(state.variant.place(of: cell), on: cell.index / 9) }

  /// The degree of a cell on a small board of Ultimate: as far from the board's own as the cell is from the middle one. What
  /// would leave the compass sounds an octave nearer. Of other games, the degree of the cell.
  private func degree(_ square: Square, on board: Int) -> Int {
    var own = degree(square) + root(of: board)
    let compass = music.rules.degrees
    while own > compass.upperBound { own -= 7 }
    while own < compass.lowerBound { own += 7 }
    return own
  }

  /// How far the degree of a small board lies from the middle one's; 0 where there is one board.
  private func root(of board: Int) -> Int {
    guard state.variant == .ultimate else { return 0 }
    let rules = music.rules
    let boards = rules.boards.isEmpty ? rules.cells : rules.boards
    return (rules.degree(of: boards[board]) ?? 0) - (rules.degree(of: boards[4]) ?? 0)
  }

  /// What each side holds: on a small board, where there are nine.
  private func marks(in state: VariantState, on board: Int?) -> Marks {
    guard let board = board ?? (state.variant == .ultimate ? nil : 0) else { return Marks() }
    let position = state.position(on: board)
    return Marks(first: position.x.map { degree($0, on: board) }, second: position.o.map { degree($0, on: board) })
  }
}

extension Player {
  /// The voice of a side: X has the first.
  package var voice: Voice { self == .x ? .first : .second }
}

/// The facts of moves, by the words of the rule files.
extension Fact {
  /// The mover threatens to complete a line.
  package static var threat: Fact { Fact(rawValue: "threat") }
  /// The opponent threatens to complete a line.
  package static var opposingThreat: Fact { Fact(rawValue: "opposing-threat") }
  /// The mover now threatens two cells or more.
  package static var fork: Fact { Fact(rawValue: "fork") }
  /// The move took a cell the opponent would have won with.
  package static var block: Fact { Fact(rawValue: "block") }
  /// The move lost value.
  package static var mistake: Fact { Fact(rawValue: "mistake") }
  /// The move was the only one that kept the value.
  package static var onlyMove: Fact { Fact(rawValue: "only-move") }
  /// A winning threat can no longer be parried, for the first time in the game.
  package static var awakening: Fact { Fact(rawValue: "awakening") }

  /// A position has come back (Infinite).
  package static var again: Fact { Fact(rawValue: "again") }
  /// The mover has won a small board (Ultimate).
  package static var board: Fact { Fact(rawValue: "board") }
  /// A small board is full and nobody has won it (Ultimate).
  package static var fullBoard: Fact { Fact(rawValue: "full-board") }
  /// The mover had no other choice worth the name.
  package static var forced: Fact { Fact(rawValue: "forced") }

  /// The words of a rule file that declares none.
  package static var ofGames: [Fact] {
    [.threat, .opposingThreat, .fork, .block, .mistake, .onlyMove, .awakening, .again, .board, .fullBoard, .forced]
      + own
  }
}
