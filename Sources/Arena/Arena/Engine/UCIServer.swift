import Base
import Foundation
import Opponents
import Oracle
import TicTacToe

/// `handle` maps a line to an `Action`, so that tests need no process. The engine writes moves in Alina's notation until the client sends
/// cutechess-cli's notation or the option `UCI_Variant`.
package struct UCIServer {
  package enum Action {
    case reply([String])
    /// Search on another thread, write the result and call `finish`. Meanwhile handle `isready` and `stop` only: the search uses the
    /// server's state.
    case search(Search)
    case quit
  }

  static let players = SimpleOpponent.allCases.map(\.name) + Level.all.map(\.name)
  /// The maximum of the option `Hash`, in megabytes.
  static let hashLimit = 4096
  /// In bytes; longer lines are ignored.
  package static let lineLimit = 4096

  private(set) var spec: PlayerSpec
  /// `nil` for a searching player.
  private var memoryless: (any MemorylessOpponent)?
  private var seed: UInt64
  var generator: SplitMix64
  private var games: UInt64 = 0
  private var notation = UCINotation.native
  private var position = Position.start
  /// The position in a variant other than Classic; `nil` in Classic.
  var variantPosition: VariantState?
  /// The tree of a search in Classic.
  let search = MonteCarloSearch()
  var tree: UltimateSearch?
  /// The option `Hash`: the size of the search tree in megabytes.
  private(set) var hash = 160
  private var lastMove: Square?
  /// The line `bestmove` of an immediate answer to `go infinite` or `go ponder`, held back until `stop` or `ponderhit`.
  private var held: [String]?

  package final class Search: @unchecked Sendable {
    /// Returns the lines to write.
    typealias Work = (_ generator: inout SplitMix64, _ isStopped: () -> Bool) -> [String]

    enum Manner: Sendable {
      case timed
      /// `go ponder`: the time starts at `ponderhit`.
      case pondering
      /// `go infinite`: the move is written at `stop`.
      case infinite
    }

    package let stop = StopSignal()
    /// Set by `ponderhit`, at which the time of a pondering search starts.
    package let hit = StopSignal()
    let manner: Manner
    fileprivate let ended = DispatchSemaphore(value: 0)
    fileprivate var generator: SplitMix64
    private let milliseconds: Double
    private let work: Work

    fileprivate init(_ generator: SplitMix64, milliseconds: Double, _ manner: Manner, _ work: @escaping Work) {
      (self.generator, self.milliseconds, self.manner, self.work) = (generator, milliseconds, manner, work)
    }

    /// Returns only when the protocol allows the answer: after `go infinite`, for example, not before `stop`.
    package func run() -> [String] {
      var deadline = manner == .timed ? monotonicMilliseconds() + milliseconds : .infinity
      let lines = work(&generator) {
        if deadline == .infinity, manner == .pondering, hit.isSet { deadline = monotonicMilliseconds() + milliseconds }
        return stop.isSet || monotonicMilliseconds() > deadline
      }
      while isHeld, !stop.isSet { usleep(1000) }
      return lines
    }

    fileprivate var isHeld: Bool {
      switch manner {
      case .timed: false
      case .pondering: !hit.isSet
      case .infinite: true
      }
    }
  }

  /// Throws for external programs and unreadable files.
  package init(_ spec: PlayerSpec, seed: UInt64) throws(ArenaError) {
    (self.spec, self.seed) = (spec, seed)
    generator = SplitMix64(seed: seed, index: 0)
    try use(spec)
  }

  /// Throws and changes nothing for a player that cannot be an engine.
  private mutating func use(_ player: PlayerSpec) throws(ArenaError) {
    let chosen = try player.memoryless(in: .classic, freezing: true)
    guard chosen != nil || player.budget != nil else { throw ArenaError("player '\(player.text)' cannot be an engine") }
    (spec, memoryless, tree) = (player, chosen, nil)
    if !spec.plays(variantPosition?.variant ?? .classic), let first = variants.first { begin(first) }
  }

  private mutating func begin(_ variant: Variant) {
    variantPosition = variant.isImplied ? nil : VariantState(startOf: variant)
  }

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
      tree?.forget()
      return .reply([])
    case "setoption": return .reply(setOption(words))
    case "position":
      guard let state = variantPosition else { return .reply(setPosition(Array(words.dropFirst()))) }
      return .reply(setVariantPosition(Array(words.dropFirst()), state.variant))
    case "go":
      switch variantPosition {
      case .infinite(let state): return go(state, Infinite.self, words)
      case .misere(let state): return go(state, Misere.self, words)
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
      "id name Alina \(spec.text)", "id author the Alina team",
      "option name UCI_Variant type combo default tictactoe" + variants.map { " var \($0.uciName)" }.joined(),
      "option name Player type combo default \(spec.text)"
        + (UCIServer.players + (UCIServer.players.contains(spec.text) ? [] : [spec.text]))
        .map { " var \($0)" }.joined(),
      "option name Seed type spin default \(seed) min 0 max 2147483647",
      "option name Hash type spin default \(hash) min 1 max \(UCIServer.hashLimit)",
      "option name Ponder type check default false", "uciok",
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
      begin(variant)
    case "Seed":
      guard let number = UInt64(value) else { return ["info string Seed '\(value)' is not a number"] }
      seed = number
      generator = SplitMix64(seed: seed, index: games)
    case "Player":
      do { try use(PlayerSpec(value)) } catch { return ["info string \(error)"] }
    case "Hash":
      guard let number = Int(value), (1...UCIServer.hashLimit).contains(number) else {
        return ["info string Hash '\(value)': 1–\(UCIServer.hashLimit) megabytes"]
      }
      (hash, tree) = (number, nil)
    // `Ponder` has no effect: it only announces that `go ponder` may follow.
    case "Ponder": break
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
    if let memoryless {
      return answer(words, position.turn, isSearch: false) { [self] generator, _ in
        let square = memoryless.move(in: position, lastMove: lastMove, using: &generator)
        return found(square, info: knowsValues ? exactInfo : "info depth 1 pv ")
      }
    }
    let simulations = min(spec.budget?.simulations ?? .max, UCIServer.nodes(words))
    return answer(words, position.turn, isSearch: true) { [self] generator, isStopped in
      let square = search.bestMove(in: position, simulations: simulations, using: &generator, isStopped: isStopped)
      return found(square, info: "info depth 1 score \(UCIServer.score(search.mean(of: square, in: position))) pv ")
    }
  }

  /// With `isSearch`, `work` runs on another thread.
  mutating func answer(_ words: [String], _ turn: Player, isSearch: Bool, work: @escaping Search.Work) -> Action {
    let isHeld = words.contains("infinite") || words.contains("ponder")
    guard isSearch else {
      let lines = work(&generator) { false }
      // After `go infinite` and `go ponder`, hold the line `bestmove` back.
      guard isHeld else { return .reply(lines) }
      held = lines.suffix(1)
      return .reply(lines.dropLast())
    }
    let manner: Search.Manner = words.contains("infinite") ? .infinite : isHeld ? .pondering : .timed
    return .search(Search(generator, milliseconds: time(words, turn), manner, work))
  }

  /// The milliseconds for a search; infinite if neither the words of `go` nor the player's budget limit the time.
  private func time(_ words: [String], _ turn: Player) -> Double {
    // Reserve a tenth of the time, at most 20 ms, for transmission.
    if let time = UCIServer.limit("movetime", words) { return max(1, time - min(20, time / 10)) }
    let (clock, increment) = turn == .x ? ("wtime", "winc") : ("btime", "binc")
    if let left = UCIServer.limit(clock, words) {
      return TimeLimit.share(of: left, increment: UCIServer.limit(increment, words) ?? 0)
    }
    guard case .milliseconds(let time)? = spec.budget, UCIServer.limit("nodes", words) == nil else { return .infinity }
    return Double(time)
  }

  /// The number after a word of `go`, clamped to 0–10⁹; `nil` if missing or invalid.
  private static func limit(_ name: String, _ words: [String]) -> Double? {
    let number = words.firstIndex(of: name).flatMap { $0 + 1 < words.count ? Double(words[$0 + 1]) : nil }
    return number.flatMap { $0.isNaN ? nil : max(0, min($0, 1e9)) }
  }

  static func nodes(_ words: [String]) -> Int { limit("nodes", words).map { max(1, Int($0)) } ?? .max }

  /// Converts a score from −1 (a loss) to 1 (a win) to hundredths of a pawn: 1 becomes `cp 100`.
  static func score(_ score: Float) -> String { "cp \(Int((100 * score).rounded()))" }

  /// The next search continues the random sequence of `search`.
  package mutating func finish(_ search: Search) { generator = search.generator }

  /// Only a player that uses the solver's table may report the exact value of the position.
  private var knowsValues: Bool {
    switch spec {
    case .simple(.perfect), .simple(.perfectDistance), .simple(.trap), .level(6): true
    default: false
    }
  }

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

  private func found(_ square: Square, info: String) -> [String] {
    [info + notation.text(of: square), "bestmove \(notation.text(of: square))"]
  }

  package mutating func serve(input: Int32, output: Int32) {
    let writing = NSLock()
    let write: @Sendable ([String]) -> Void = { lines in
      let bytes = Array(lines.map { $0 + "\n" }.joined().utf8)
      writing.withLock { bytes.withUnsafeBytes { _ = writeAll($0, to: output) } }
    }
    var running: Search?
    func end(_ server: inout UCIServer, stopping: Bool) {
      guard let search = running else { return }
      if stopping || search.isHeld { search.stop.set() }
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
        case "ponderhit": running?.hit.set()
        case "stop", "quit": end(&self, stopping: true)
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
