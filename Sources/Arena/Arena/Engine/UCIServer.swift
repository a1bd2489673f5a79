import Base
import Foundation
import Opponents
import Oracle
import TicTacToe

/// One of Alina's players as a UCI engine: a state machine from lines to lines, so a transcript is a test.
///
/// It answers in the notation in which it was last addressed: ours, or cutechess-cli's (`-variant tictactoe`).
package struct UCIServer {
  /// What the caller must do after a line.
  package enum Action {
    /// Write these lines and continue reading.
    case reply([String])
    /// Search on another thread, write the result and call `finish`. Meanwhile obey `isready` and `stop`, and handle no
    /// other line: the search uses what the server remembers.
    case search(Search)
    /// Write these lines and end.
    case quit
  }

  /// Names of players that can be chosen with `setoption name Player`.
  static let players = SimpleOpponent.allCases.map(\.name) + Level.all.map(\.name)
  /// The longest line read.
  package static let lineLimit = 4096

  var player: any Opponent
  private var seed: UInt64
  var generator: SplitMix64
  private var games: UInt64 = 0
  private var notation = UCINotation.native
  private var position = Position.start
  /// The position of another variant, once one was chosen.
  var variantPosition: VariantState?
  /// The memory of a search of Ultimate.
  var tree: UltimateSearch?
  private var lastMove: Square?
  /// The result of an infinite search, which is written when the search is stopped.
  private var held: [String]?

  /// A search that takes time.
  package final class Search: @unchecked Sendable {
    /// Finds a move and returns what to write of it.
    typealias Work = (_ generator: inout SplitMix64, _ isStopped: () -> Bool) -> [String]

    /// Ends it.
    package let stop = StopSignal()
    /// Whether its move is held back until the search is stopped.
    package let isInfinite: Bool
    fileprivate let ended = DispatchSemaphore(value: 0)
    fileprivate var generator: SplitMix64
    private let deadline: Double
    private let work: Work

    fileprivate init(_ generator: SplitMix64, deadline: Double, isInfinite: Bool, _ work: @escaping Work) {
      (self.generator, self.deadline, self.isInfinite, self.work) = (generator, deadline, isInfinite, work)
    }

    /// Searches. Returns what to write.
    package func run() -> [String] {
      let lines = work(&generator) { stop.isSet || monotonicMilliseconds() > deadline }
      while isInfinite, !stop.isSet { usleep(1000) }
      return lines
    }
  }

  /// Makes an engine that plays as `player`.
  package init(player: any Opponent, seed: UInt64) {
    (self.player, self.seed) = (player, seed)
    generator = SplitMix64(seed: seed, index: 0)
  }

  /// Answers a line.
  package mutating func handle(_ line: String) -> Action {
    let words = line.split(whereSeparator: \.isWhitespace).map(String.init)
    switch words.first {
    case "uci": return .reply(identity)
    case "isready": return .reply(["readyok"])
    case "ucinewgame":
      games += 1
      generator = SplitMix64(seed: seed, index: games)
      position = .start
      variantPosition = variantPosition.map { VariantState(startOf: $0.variant) }
      lastMove = nil
      held = nil
      return .reply([])
    case "setoption": return .reply(setOption(words))
    case "position" where variantPosition != nil:
      return .reply(setVariantPosition(Array(words.dropFirst()), variantPosition?.variant ?? .classic))
    case "position": return .reply(setPosition(Array(words.dropFirst())))
    case "go":
      switch variantPosition {
      case .infinite(let state): return go(state, Infinite.self, words)
      case .ultimate(let state): return go(state, Ultimate.self, words)
      case .classic, nil: return go(words)
      }
    case "stop", "ponderhit":
      defer { held = nil }
      return .reply(held ?? [])
    case "quit": return .quit
    // Empty and unknown lines are skipped, as the protocol requires.
    default: return .reply([])
    }
  }

  private var identity: [String] {
    [
      "id name Alina \(player.name)", "id author the Alina team",
      "option name UCI_Variant type combo default tictactoe" + variants.map { " var \($0.uciName)" }.joined(),
      "option name Player type combo default \(player.name)"
        + (UCIServer.players + (UCIServer.players.contains(player.name) ? [] : [player.name]))
        .map { " var \($0)" }.joined(),
      "option name Seed type spin default \(seed) min 0 max 2147483647", "uciok",
    ]
  }

  private mutating func setOption(_ words: [String]) -> [String] {
    guard let nameAt = words.firstIndex(of: "name") else { return ["info string setoption needs a name"] }
    let valueAt = words.firstIndex(of: "value") ?? words.endIndex
    guard nameAt < valueAt else { return ["info string setoption needs a name before its value"] }
    let name = words[(nameAt + 1)..<valueAt].joined(separator: " ")
    let value = words[min(valueAt + 1, words.endIndex)...].joined(separator: " ")
    switch name {
    case "UCI_Variant":
      guard let variant = variants.first(where: { $0.uciName == value }) else {
        let names = variants.map(\.uciName).joined(separator: ", ")
        return ["info string variant '\(value)' is not played, only \(names)"]
      }
      notation = .cutechess
      variantPosition = variant == .classic ? nil : VariantState(startOf: variant)
    case "Seed":
      guard let number = UInt64(value) else { return ["info string Seed '\(value)' is no number"] }
      seed = number
      generator = SplitMix64(seed: seed, index: games)
    case "Player":
      guard let chosen = try? PlayerSpec(value).stateless() else {
        return ["info string player '\(value)' is unknown"]
      }
      player = chosen
    default: return ["info string option '\(name)' is unknown"]
    }
    return []
  }

  private mutating func setPosition(_ words: [String]) -> [String] {
    let movesAt = words.firstIndex(of: "moves") ?? words.endIndex
    var next: Position
    switch words.first {
    case "startpos": next = .start
    case "fen":
      guard let read = UCINotation.position(Array(words[1..<max(1, movesAt)])) else {
        return ["info string the position cannot be read"]
      }
      if words.dropFirst().first?.contains("[") == true { notation = .cutechess }
      next = read
    default: return ["info string position needs startpos or fen"]
    }
    var last: Square?
    for word in words.dropFirst(movesAt + 1) {
      guard let square = UCINotation.square(word), next.legalMoves.contains(square) else {
        return ["info string move '\(word.prefix(16))' is not legal"]
      }
      if word.contains("@") { notation = .cutechess }
      next = next.playing(square)
      last = square
    }
    (position, lastMove) = (next, last)
    return []
  }

  private mutating func go(_ words: [String]) -> Action {
    guard position.outcome == nil else { return .reply(["bestmove (none)"]) }
    guard let searching = player as? MonteCarloOpponent else {
      return answer(words, position.turn, isSearch: false) { [self] generator, _ in
        let square = player.move(in: position, lastMove: lastMove, using: &generator)
        return found(square, info: knowsValues ? exactInfo : "info depth 1 pv ")
      }
    }
    let simulations = min(searching.simulations, UCIServer.nodes(words))
    return answer(words, position.turn, isSearch: true) { [self] generator, isStopped in
      let search = MonteCarloSearch()
      let square = search.bestMove(in: position, simulations: simulations, using: &generator, isStopped: isStopped)
      return found(square, info: "info depth 1 score \(UCIServer.score(search.mean(of: square, in: position))) pv ")
    }
  }

  /// Answers `go` by work that is a search, or that is done at once.
  mutating func answer(_ words: [String], _ turn: Player, isSearch: Bool, work: @escaping Search.Work) -> Action {
    let isInfinite = words.contains("infinite") || words.contains("ponder")
    guard isSearch else {
      let lines = work(&generator) { false }
      // Every limit (movetime, wtime, nodes, depth) is kept by answering at once; infinite waits for stop.
      guard isInfinite else { return .reply(lines) }
      held = lines.suffix(1)
      return .reply(lines.dropLast())
    }
    let left = UCIServer.limit(turn == .x ? "wtime" : "btime", words).map { TimeLimit.share(of: Int($0)) }
    // A little of the time is kept for the way back.
    let time = UCIServer.limit("movetime", words).map { max(1, $0 - min(20, $0 / 10)) } ?? left ?? .infinity
    let deadline = isInfinite ? .infinity : monotonicMilliseconds() + time
    return .search(Search(generator, deadline: deadline, isInfinite: isInfinite, work))
  }

  /// A number of `go`, kept in sane bounds; `nil` where it is not given or is none.
  private static func limit(_ name: String, _ words: [String]) -> Double? {
    let number = words.firstIndex(of: name).flatMap { $0 + 1 < words.count ? Double(words[$0 + 1]) : nil }
    return number.flatMap { $0.isNaN ? nil : max(0, min($0, 1e9)) }
  }

  /// The most simulations that `go` allows.
  static func nodes(_ words: [String]) -> Int { limit("nodes", words).map { max(1, Int($0)) } ?? .max }

  /// A score of −1 to 1.
  static func score(_ score: Float) -> String { "cp \(Int((100 * score).rounded()))" }

  /// Takes the rest of the seed's numbers from a search.
  package mutating func finish(_ search: Search) { generator = search.generator }

  /// Whether the player looks positions up in the solver's table: nobody else may claim its values.
  private var knowsValues: Bool {
    [SimpleOpponent.perfect, .perfectDistance, .trap].contains { $0.name == player.name } || player.name == "levels:6"
  }

  /// Depth and score of the position for a player that knows them.
  private var exactInfo: String {
    let evaluation = Solver.shared.evaluation(of: position)
    let score =
      switch evaluation.value {
      case .draw: "cp 0"
      case .win: "mate \((evaluation.distance + 1) / 2)"
      case .loss: "mate -\(evaluation.distance / 2)"
      }
    return "info depth \(max(1, evaluation.distance)) score \(score) pv "
  }

  /// What is said of a move that was found.
  private func found(_ square: Square, info: String) -> [String] {
    [info + notation.text(of: square), "bestmove \(notation.text(of: square))"]
  }

  /// Reads lines from a descriptor and answers on another, until `quit` or the end.
  package mutating func serve(input: Int32, output: Int32) {
    let writing = NSLock()
    let write: @Sendable ([String]) -> Void = { lines in
      let bytes = Array(lines.map { $0 + "\n" }.joined().utf8)
      writing.withLock { bytes.withUnsafeBytes { _ = writeAll($0, to: output) } }
    }
    var running: Search?
    /// Waits for the search. An infinite search is stopped.
    func end(_ server: inout UCIServer, stopping: Bool) {
      guard let search = running else { return }
      if stopping || search.isInfinite { search.stop.set() }
      search.ended.wait()
      server.finish(search)
      running = nil
    }
    defer { end(&self, stopping: false) }
    var buffer: [UInt8] = []
    var isSkipping = false
    var space = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = read(input, &space, space.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return }
      buffer.append(contentsOf: space[..<count])
      while let newline = buffer.firstIndex(of: 0x0A) {
        let line = String(decoding: buffer[..<newline], as: UTF8.self)
        buffer.removeSubrange(...newline)
        if isSkipping {
          isSkipping = false
          continue
        }
        switch line.split(whereSeparator: \.isWhitespace).first {
        case nil, "isready": break
        case "stop", "ponderhit", "quit": end(&self, stopping: true)
        default: end(&self, stopping: false)
        }
        switch handle(line) {
        case .reply(let lines): write(lines)
        case .search(let search):
          running = search
          let work: @Sendable () -> Void = {
            write(search.run())
            search.ended.signal()
          }
          if !startThread(work) { work() }
        case .quit: return
        }
      }
      if buffer.count > UCIServer.lineLimit {
        buffer.removeAll()
        isSkipping = true
      }
    }
  }
}
