import Base
import CProcess
import Foundation
import Opponents
import RulesLibrary
import TicTacToe

/// Plays many games at once for a program that learns: `alina-arena engine --batch`.
///
/// The client writes one line: `games N SEED`, or `games N SEED POSITION` for games from a position in Alina's notation or, in
/// Classic, cutechess-cli's. Then the client writes steps of N bytes, one for each game: the number of the cell to mark, row by row
/// from the top, or a `Command`. After the line and each step the client reads for each game a `GameBlock` and a byte: 1 if the step
/// was illegal and changed nothing, else 0.
package struct BatchServer {
  /// Bytes of a step that do not stand for cells.
  private enum Command {
    static let wait: UInt8 = 253
    static let begin: UInt8 = 254
    /// Lets this server's player move.
    static let answer: UInt8 = 255
  }

  package static let gameLimit = 1_000_000
  /// The most bytes of the first line. The longest position in this line, one of Ultimate, has about 100 bytes.
  private static let lineLimit = 256

  private let variant: Variant
  private let spec: PlayerSpec

  package init(variant: Variant, player: PlayerSpec) throws(ArenaError) {
    (self.variant, spec) = (variant, player)
    guard player.plays(variant), !player.isEngine else {
      throw ArenaError(
        "this player cannot answer in a batch of \(variant.rawValue); allowed: \(PlayerSpec.unlearning(in: variant))")
    }
  }

  package func serve(input: Int32, output: Int32) throws(ArenaError) {
    var line: [UInt8] = []
    while line.last != 0x0A {
      guard let byte = try BatchServer.read(1, from: input) else {
        if line.isEmpty { return }
        throw ArenaError("the input ends in its first line")
      }
      line += byte
      guard line.count <= BatchServer.lineLimit else { throw ArenaError("the first line is not 'games N SEED'") }
    }
    let words = String(decoding: line, as: UTF8.self).split(whereSeparator: \.isWhitespace)
    guard words.count >= 3, words[0] == "games", let count = Int(words[1]), let seed = UInt64(words[2]),
      (1...BatchServer.gameLimit).contains(count)
    else {
      throw ArenaError("the first line is not 'games N SEED' with 1–\(BatchServer.gameLimit) games")
    }
    let start = try position(words.dropFirst(3).map(String.init))
    func serve<R: Rules>(_ rules: R.Type, _ choice: BoardPlayer<R>.Choice) throws(ArenaError) {
      let games = BatchGames<R>(count: count, seed: seed, start: GameMoves(start: start).state(rules))
      try self.serve(games, count, choice, input, output)
    }
    switch variant {
    case .classic: try serve(Classic.self, choice(Classic.self))
    case .infinite: try serve(Infinite.self, choice(Infinite.self))
    case .misere: try serve(Misere.self, choice(Misere.self))
    case .ultimate: try serve(Ultimate.self, choice(Ultimate.self))
    }
  }

  private func position(_ words: [String]) throws(ArenaError) -> VariantState? {
    guard !words.isEmpty else { return nil }
    do { return try VariantState(words, variant) } catch {
      throw ArenaError("the position of the first line, column \(error.column): \(error.message)")
    }
  }

  private func choice<R: ArenaRules>(_ rules: R.Type) throws(ArenaError) -> BoardPlayer<R>.Choice {
    let value = spec.needsValue(in: variant) ? try UltimateValueFile.load() : nil
    // One search tree serves all games; the tree is cleared before each move.
    let search = variant.hasLearntValue ? UltimateSearch(value: value, capacity: 1 << 18) : nil
    var memory = PlayerMemory(tree: { _ in search ?? UltimateSearch() })
    memory.table = try spec.memoryless(in: variant, freezing: true).map { DistributionTable($0) }
    guard case .own(let choose, _) = try R.player(of: spec, with: memory) else { throw spec.refusal(in: variant) }
    return { state, last, generator, isStopped in
      search?.forget()
      return choose(state, last, &generator, isStopped)
    }
  }

  private func serve<R: Rules>(
    _ begun: BatchGames<R>, _ count: Int, _ choice: BoardPlayer<R>.Choice, _ input: Int32, _ output: Int32
  ) throws(ArenaError) {
    var games = begun
    try BatchServer.write(games.blocks, to: output)
    while let step = try BatchServer.read(count, from: input) {
      for (game, byte) in step.enumerated() {
        switch byte {
        case Command.wait: games.wait(game)
        case Command.begin: games.begin(game)
        case Command.answer: games.answer(game, choice)
        default: games.mark(game, Int(byte))
        }
      }
      try BatchServer.write(games.blocks, to: output)
    }
  }

  /// `nil` at the end of the input.
  private static func read(_ count: Int, from input: Int32) throws(ArenaError) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    var have = 0
    while have < count {
      let got = bytes.withUnsafeMutableBytes { Glibc.read(input, $0.baseAddress.map { $0 + have }, count - have) }
      if got < 0, errno == EINTR { continue }
      guard got > 0 else {
        guard have == 0 else { throw ArenaError("the input ends after \(have) of the \(count) bytes of a step") }
        return nil
      }
      have += got
    }
    return bytes
  }

  private static func write(_ bytes: [UInt8], to output: Int32) throws(ArenaError) {
    if let reason = bytes.withUnsafeBytes({ writeAll($0, to: output) }) {
      throw ArenaError("the answer cannot be written: \(reason)", kind: .resourceExhausted)
    }
  }
}

private struct BatchGames<R: Rules> {
  private let start: R.State
  private var states: [R.State]
  private var lasts: [Cell?]
  private var generators: [SplitMix64]
  private let block = GameBlock<R>()
  /// The blocks of all games in order, each followed by a byte: 1 if the last step was illegal, else 0.
  private(set) var blocks: [UInt8]
  private var blockSize: Int { block.size + 1 }

  init(count: Int, seed: UInt64, start: R.State) {
    self.start = start
    states = [R.State](repeating: start, count: count)
    lasts = [Cell?](repeating: nil, count: count)
    generators = (0..<count).map { SplitMix64(seed: seed, index: UInt64($0)) }
    blocks = [UInt8](repeating: 0, count: count * (block.size + 1))
    for game in 0..<count { describe(game) }
  }

  mutating func wait(_ game: Int) { blocks[(game + 1) * blockSize - 1] = 0 }

  mutating func begin(_ game: Int) {
    (states[game], lasts[game]) = (start, nil)
    describe(game)
  }

  mutating func mark(_ game: Int, _ place: Int) {
    guard place < block.cells.count, R.moves(states[game]).contains(block.cells[place]) else {
      blocks[(game + 1) * blockSize - 1] = 1
      return
    }
    play(block.cells[place], game)
  }

  mutating func answer(_ game: Int, _ choice: BoardPlayer<R>.Choice) {
    guard !R.moves(states[game]).isEmpty else {
      blocks[(game + 1) * blockSize - 1] = 1
      return
    }
    play(choice(states[game], lasts[game], &generators[game], { false }), game)
  }

  private mutating func play(_ cell: Cell, _ game: Int) {
    _ = R.play(cell, &states[game])
    lasts[game] = cell
    describe(game)
  }

  private mutating func describe(_ game: Int) {
    let (block, state, last) = (block, states[game], lasts[game])
    blocks.withUnsafeMutableBufferPointer { bytes in
      guard let first = bytes.baseAddress.map({ $0 + game * (block.size + 1) }) else { return }
      block.write(state, last: last, to: first)
      first[block.size] = 0
    }
  }
}
