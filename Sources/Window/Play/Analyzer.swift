import Base
import Interface
import Locks
import Opponents
import Screen
import TicTacToe

/// Evaluates positions of Ultimate, which is not solved, by search on a worker, one search at a time.
final class Analyzer {
  private let services: PlatformServices
  private let knowledge: UltimateKnowledge
  private let screen: RootScreen
  private var thought: (game: Game, found: ResultQueue<MoveAnalysis>)?
  /// The last position for which the player asked for a hint or an analysis.
  private(set) var asked: Game?
  private var analysis: (game: Game, analysis: MoveAnalysis)?

  /// The number of simulations of one search, so small that the search blocks a browser's only thread for less than 1/60 s.
  private static let simulations = 8_000
  /// The maximum number of nodes of a search tree.
  private static let treeSize = 1 << 18

  init(_ services: PlatformServices, _ knowledge: UltimateKnowledge, _ screen: RootScreen) {
    (self.services, self.knowledge, self.screen) = (services, knowledge, screen)
  }

  func judge(_ game: Game) {
    if game.variant.isSolved { return }
    asked = game
    carryOn()
  }

  /// The evaluation of the moves in a game's position, which `judge` has requested; `nil` until the search has ended.
  func analysis(of game: Game) -> MoveAnalysis? { analysis.flatMap { $0.game == game ? $0.analysis : nil } }

  var isThinking: Bool { thought != nil }

  /// Stores the result of a finished search. Starts the next search: first what the player asked for, then the game under review.
  func carryOn() {
    if let thought, let finding = thought.found.takeAll().first {
      self.thought = nil
      if thought.game == asked { analysis = (thought.game, finding) }
      if let replay = screen.pages.replay, thought.game == unseen(of: replay) {
        screen.pages.replay?.evaluations.append(
          .init(share: finding[finding.best].map { Analyzer.share($0) } ?? 0.5, best: finding.best))
      }
    }
    guard thought == nil else { return }
    if let asked, !asked.isOver, analysis?.game != asked { return think(about: asked) }
    if screen.currentScene == .review, let replay = screen.pages.replay, let next = unseen(of: replay) {
      if let outcome = next.state.outcome {
        screen.pages.replay?.evaluations.append(.init(share: outcome == .draw ? 0.5 : 0, best: nil))
      } else {
        think(about: next)
      }
    }
  }

  /// The first position of the game under review that has no estimate.
  private func unseen(of replay: ReplayModel) -> Game? {
    guard !replay.game.variant.isSolved, replay.evaluations.count <= replay.game.cells.count else { return nil }
    var game = Game(from: replay.game.startState)
    for cell in replay.game.cells.prefix(replay.evaluations.count) { try? game.play(cell) }
    return game
  }

  private static func share(_ evaluation: MoveAnalysis.Evaluation) -> Double {
    switch evaluation {
    case .exact(.win, _): 1
    case .exact(.draw, _): 0.5
    case .exact(.loss, _): 0
    case .estimated(let share): share
    }
  }

  private func think(about game: Game) {
    guard case .ultimate(let state) = game.state else { return }
    let found = ResultQueue<MoveAnalysis>()
    thought = (game, found)
    let (value, now, wake) = (knowledge.value, services.now, services.wake)
    services.inBackground {
      let begin = now()
      let search = UltimateSearch(value: value, capacity: Analyzer.treeSize)
      var generator = SplitMix64(seed: UInt64(state.plies))
      let best = search.bestMove(in: state, simulations: Analyzer.simulations, using: &generator)
      let moves = search.rootMoves.map { move in
        let evaluation: MoveAnalysis.Evaluation =
          switch move.proof {
          case .none: .estimated((1 + Double(move.score)) / 2)
          case .win: .exact(.win, plies: nil)
          case .draw: .exact(.draw, plies: nil)
          case .loss: .exact(.loss, plies: nil)
          }
        return MoveAnalysis.Move(cell: move.cell, evaluation: evaluation)
      }
      found.add(MoveAnalysis(moves: moves, best: best, seconds: now() - begin))
      wake()
    }
  }
}

/// The value function for the upper levels of Ultimate: the file `ultimate.values` of `Assets`, read when it is first needed.
package final class UltimateKnowledge {
  private let read: () -> [UInt8]?
  private var isRead = false
  private var kept: UltimateValue?

  init(_ read: @escaping () -> [UInt8]?) { self.read = read }

  /// `nil` if the file is missing: levels 5 and 6 then play like level 4.
  var value: UltimateValue? {
    if !isRead {
      isRead = true
      kept = read().flatMap { UltimateValue(bytes: $0) }
    }
    return kept
  }
}
