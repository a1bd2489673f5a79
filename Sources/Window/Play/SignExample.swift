import Base
import GameScore
import Interface
import Oracle
import Records
import ScoreModel
import TicTacToe
import Tintinnabuli

/// An example of a musical sign, such as the sign of a threat: the end of a short game, found by search, in which the sign sounds.
struct SignExample {
  /// The events of the whole game; `from` … `to` is the part to be played.
  let events: [ScoreEvent]
  let from: Tick
  let to: Tick

  /// The most seconds that an example plays of an echo, or of the music after the end of a game.
  private static let ending = 20.0

  /// `nil` if no game with the sign is found.
  init?(of sign: MusicSign, rules: ScoreRules) {
    guard let record = SignExample.record(of: sign) else { return nil }
    switch sign {
    case .echo, .undo, .refused:
      self = SignExample(gesture: sign, after: record, rules)
    default:
      var human: Player?
      if case .win(let winner) = record.game.end?.outcome { human = sign == .loss ? winner.opponent : winner }
      let music = Rendition(of: record, rules: rules, human: human)
      let moves = music.bars.filter { $0.kind == .move }
      let last = moves.last?.end ?? music.end
      let isEnding = [.win, .loss, .draw].contains(sign)
      events = music.events
      // Begin one bar before the bar with the sign, so that the listener hears the change; an ending or awakening begins with its own bar.
      from = (isEnding || sign == .awakening ? moves.last : moves.dropLast().last ?? moves.last)?.start ?? .zero
      to = isEnding ? min(music.end, last + .seconds(SignExample.ending)) : last
    }
  }

  /// Makes the examples of echo, undo and refusal, which no record contains: each follows a game of three moves without threats.
  private init(gesture: MusicSign, after record: Record, _ rules: ScoreRules) {
    var conductor = GameConductor(seed: 1, rules: rules)
    var events = conductor.handle(.opened(resuming: true), at: .zero)
    events += conductor.handle(.gameStarted(.classic(.start), human: nil), at: .zero)
    var now = Tick.seconds(2)
    for move in record.game.variantMoves {
      events += conductor.handle(.moved(move), at: now)
      now = conductor.music.bars.last?.end ?? now
    }
    let last = conductor.music.bars.last?.start ?? .zero
    switch gesture {
    case .undo:
      // Play the last bar, then the same bar backwards.
      let answer = conductor.handle(.undone, at: now)
      self.init(events + answer, from: last, to: answer.map { $0.frame + Tick(rawValue: Int64($0.duration)) }.max())
    case .echo:
      let echoes = now + .seconds(rules.echoes.after)
      events += conductor.music.advance(to: echoes + .seconds(SignExample.ending))
      self.init(events, from: echoes, to: echoes + .seconds(SignExample.ending))
    default:
      events += conductor.handle(.refused, at: now)
      self.init(events, from: now, to: now + .seconds(1))
    }
  }

  private init(_ events: [ScoreEvent], from: Tick, to: Tick?) {
    self.events = events.enumerated().sorted { ($0.element.frame, $0.offset) < ($1.element.frame, $1.offset) }
      .map { $0.element }
    self.from = from
    self.to = to ?? from
  }

  /// A game whose last move has the sign. For signs that no move has: an empty game or a game of three moves without threats.
  private static func record(of sign: MusicSign) -> Record? {
    switch sign {
    case .opening: return Record()
    case .cells, .undo, .echo, .refused: return play(until: { $0.ply == 3 && $0.threats.isEmpty })
    case .again: return round
    case .board, .fullBoard, .forced: return playUltimate(until: sign)
    default: return play(until: { shows(sign, $0) })
    }
  }

  /// A game of Infinite in which X circles through the corners and O through the edges until a position repeats.
  private static var round: Record {
    var game = Game(from: VariantState(startOf: .infinite))
    for cell in [6, 3, 0, 1, 2, 5, 8, 7, 6, 3, 0, 1, 2, 5] { try? game.play(Cell(cell)) }
    return Record(game: game)
  }

  /// Plays random games of Ultimate until a move has the sign; gives a game up, except for `forced`, once a side needs only one more board
  /// for a line.
  private static func playUltimate(until sign: MusicSign) -> Record? {
    for seed in 0..<100 as Range<UInt64> {
      var generator = SplitMix64(seed: seed)
      var game = Game(from: VariantState(startOf: .ultimate))
      while !game.isOver {
        let cell = game.state.moves.randomCell(using: &generator)
        let move = VariantMove(cell, in: game.state)
        guard (try? game.play(cell)) != nil, move.outcome == nil, sign == .forced || !move.isDecisive else { break }
        let isFound =
          switch sign {
          case .board: move.winsBoard
          case .fullBoard: move.fillsBoard
          default: move.isForced && !move.winsBoard && !move.fillsBoard
          }
        if isFound { return Record(game: game) }
      }
    }
    return nil
  }

  private static func shows(_ sign: MusicSign, _ move: VariantMove) -> Bool {
    let isQuiet = move.outcome == nil && !move.isMistake
    switch sign {
    case .calm: return move.ply == 2 && isQuiet && move.threats.isEmpty
    case .threat:
      return isQuiet && !move.threats.isEmpty && move.opposingThreats.isEmpty && !move.isFork && !move.isBlock
        && !move.isOnlyMove
    case .bothThreaten: return isQuiet && !move.threats.isEmpty && !move.opposingThreats.isEmpty
    case .fork: return move.outcome == nil && move.isFork && move.opposingThreats.isEmpty
    case .block: return isQuiet && move.isBlock && move.threats.isEmpty
    case .mistake: return move.outcome == nil && move.isMistake
    case .onlyMove: return isQuiet && move.isOnlyMove && !move.isBlock
    case .awakening: return move.isDecisive
    case .win, .loss: return move.outcome == .win(move.mover)
    case .draw: return move.outcome == .draw
    default: return false
    }
  }

  /// Finds the first game of Classic, shorter games first, whose last move `isFound` accepts.
  private static func play(until isFound: (VariantMove) -> Bool) -> Record? {
    var games = [Game()]
    while !games.isEmpty {
      var next: [Game] = []
      for game in games {
        for cell in game.state.moves {
          var longer = game
          guard let move = try? longer.playValued(cell) else { continue }
          if isFound(move) { return Record(game: longer) }
          if !longer.isOver { next.append(longer) }
        }
      }
      // Continue at most 2,000 games of each length: these games show all signs, and all 255,168 games would delay the page.
      games = Array(next.prefix(2_000))
    }
    return nil
  }
}
