import Foundation
import TicTacToe

/// Why an engine lost a game without the board saying so.
struct EngineLoss: Error, Sendable {
  var reason: String
  var ending: PackedGame.Ending
}

/// An engine as the arena drives it: handshake, games, moves within time; killed and restarted after a fault.
final class EngineClient {
  /// How an engine is started.
  struct Recipe: Sendable {
    var command: [String]
    var guardExecutable: String
    var time: TimeLimit
    var seed: UInt64
  }

  /// Milliseconds granted for `uciok` and `readyok`.
  static let handshakePatience = 5000.0
  /// Bytes an engine may write while it thinks about one move.
  static let floodLimit = 1 << 20
  /// Starts that fail in a row before the engine is given up.
  static let failureLimit = 3

  private let recipe: Recipe
  private var core: Int?
  private var process: EngineProcess?
  private(set) var id: String?
  private var notation = UCINotation.native
  private var advertisesSeed = false
  private var advertisesVariant = false
  private var failures = 0
  /// What was wrong with the last handshake; the engine's path is no part of it.
  private var refusal: String?
  /// What went wrong before the first move of this game.
  private var pendingLoss: EngineLoss?
  /// Until when `readyok` is awaited, while it is.
  private var readyDeadline: Double?
  /// Milliseconds left on the clock in this game.
  private(set) var clock = 0.0

  /// The bytes sent for a move, and their end where there is no clock.
  private var request: [UInt8] = []
  private let plainGo: [UInt8]

  init(_ recipe: Recipe) {
    self.recipe = recipe
    let nodes = recipe.time.nodes > 0 ? " nodes \(recipe.time.nodes)" : ""
    plainGo = Array("\ngo movetime \(recipe.time.moveTime)\(nodes)\n".utf8)
  }

  /// Starts the engine and completes the handshake.
  func start() throws(ArenaError) {
    let process = try EngineProcess(guardExecutable: recipe.guardExecutable, command: recipe.command)
    let deadline = monotonicMilliseconds() + EngineClient.handshakePatience
    func refuse(_ what: String) -> ArenaError {
      process.stop()
      refusal = what
      return ArenaError("engine '\(recipe.command.joined(separator: " "))': \(what)", kind: .handshake)
    }
    guard process.write("uci\n", deadline: deadline) else { throw refuse("does not take 'uci'; \(process.ending())") }
    (advertisesSeed, advertisesVariant) = (false, false)
    conversation: while true {
      guard process.bytesRead <= EngineClient.floodLimit else { throw refuse("floods its handshake") }
      switch process.readLine(deadline: deadline) {
      case .line("uciok"): break conversation
      case .line(let line):
        if line.hasPrefix("id name ") { id = String(line.dropFirst(8).prefix(80)) }
        if line.hasPrefix("option name Seed ") { advertisesSeed = true }
        if line.hasPrefix("option name UCI_Variant "), line.hasSuffix(" tictactoe") || line.contains(" tictactoe ") {
          advertisesVariant = true
        }
      case .late: throw refuse("no 'uciok' within \(Int(EngineClient.handshakePatience)) ms")
      case .closed: throw refuse("\(process.ending()) before 'uciok'")
      case .overlong, .garbage: throw refuse("speaks no UCI: a line that is too long or no text before 'uciok'")
      }
    }
    notation = advertisesVariant ? .cutechess : .native
    var options = ""
    if advertisesVariant { options += "setoption name UCI_Variant value tictactoe\n" }
    // Engines take seeds as 32-bit spins; the run's is folded.
    if advertisesSeed {
      options += "setoption name Seed value \((recipe.seed ^ recipe.seed >> 32) & 0x7FFF_FFFF)\n"
    }
    guard process.write(options + "isready\n", deadline: deadline), ready(process, deadline) else {
      throw refuse("no 'readyok' within \(Int(EngineClient.handshakePatience)) ms")
    }
    self.process = process
    if let core { process.stay(on: core) }
  }

  /// Keeps the engine, now and after restarts, on the processor of the thread that plays it.
  func stay(on core: Int) {
    self.core = core
    process?.stay(on: core)
  }

  private func ready(_ process: EngineProcess, _ deadline: Double) -> Bool {
    process.resetCount()
    while process.bytesRead <= EngineClient.floodLimit {
      guard case .line(let line) = process.readLine(deadline: deadline) else { return false }
      if line == "readyok" { return true }
    }
    return false
  }

  /// Gets the engine ready for a game, restarting it where it was killed; a failure is told at its first move.
  func beginGame() {
    pendingLoss = nil
    clock = Double(recipe.time.clock)
    if process == nil {
      guard failures < EngineClient.failureLimit else {
        pendingLoss = EngineLoss(reason: "given up after \(failures) failed starts", ending: .forfeit)
        return
      }
      do {
        try start()
        failures = 0
      } catch {
        failures += 1
        pendingLoss = EngineLoss(reason: "restart failed: \(refusal ?? error.description)", ending: .forfeit)
        return
      }
    }
    // The answer is awaited before the first move: both engines get ready at the same time.
    readyDeadline = monotonicMilliseconds() + EngineClient.handshakePatience
    if process?.write("ucinewgame\nisready\n", deadline: readyDeadline ?? 0) == false {
      pendingLoss = lose("not ready for a new game")
    }
  }

  /// Asks for a move; anything but a legal one in time loses the game and kills the engine.
  func move(
    start: Position, moves: [Square], position: Position, opponent: EngineClient?
  ) -> Result<Square, EngineLoss> {
    if let pendingLoss { return .failure(pendingLoss) }
    guard let process else { return .failure(EngineLoss(reason: "is not running", ending: .forfeit)) }
    if let deadline = readyDeadline {
      readyDeadline = nil
      guard ready(process, deadline) else { return .failure(lose("not ready for a new game")) }
    }
    request.removeAll(keepingCapacity: true)
    request +=
      start == .start ? Array("position startpos".utf8) : Array("position fen \(notation.text(of: start))".utf8)
    if !moves.isEmpty {
      request += " moves".utf8
      for square in moves {
        request += notation == .native ? " ".utf8 : " P@".utf8
        request += [0x61 + UInt8(square.index % 3), 0x33 - UInt8(square.index / 3)]
      }
    }
    request += goCommand(position.turn, opponent)
    let begun = monotonicMilliseconds()
    let deadline = begun + Double(recipe.time.patience(left: Int(clock)))
    process.resetCount()
    guard process.write(request, deadline: deadline) else {
      return .failure(lose("does not read its input"))
    }
    if let square = process.readPlainMove(deadline: deadline) {
      clock += Double(recipe.time.increment) - (monotonicMilliseconds() - begun)
      return position.legalMoves.contains(square)
        ? .success(square) : .failure(lose("illegal move '\(notation.text(of: square))'"))
    }
    while true {
      guard process.bytesRead <= EngineClient.floodLimit else {
        return .failure(lose("wrote more than \(EngineClient.floodLimit) bytes without a move"))
      }
      switch process.readLine(deadline: deadline) {
      case .line(let line):
        guard line.hasPrefix("bestmove") else { continue }
        let elapsed = monotonicMilliseconds() - begun
        clock += Double(recipe.time.increment) - elapsed
        let words = line.split(separator: " ")
        guard words.count > 1, let square = UCINotation.square(words[1]), position.legalMoves.contains(square) else {
          let shown = words.count > 1 ? String(words[1].prefix(16)) : ""
          return .failure(lose("illegal move '\(shown)'"))
        }
        return .success(square)
      case .late:
        return .failure(lose("no move within \(Int((deadline - begun).rounded())) ms", .time))
      case .closed: return .failure(lose(process.ending()))
      case .overlong: return .failure(lose("a line of more than \(EngineProcess.lineLimit) bytes"))
      case .garbage: return .failure(lose("wrote what is no text"))
      }
    }
  }

  private func goCommand(_ side: Player, _ opponent: EngineClient?) -> [UInt8] {
    let time = recipe.time
    if time.clock == 0 { return plainGo }
    var text = "\ngo"
    let (own, other) = (Int(max(1, clock)), Int(max(1, opponent?.clock ?? Double(time.clock))))
    text += " wtime \(side == .x ? own : other) btime \(side == .x ? other : own)"
    if time.increment > 0 { text += " winc \(time.increment) binc \(time.increment)" }
    if time.nodes > 0 { text += " nodes \(time.nodes)" }
    return Array((text + "\n").utf8)
  }

  private func lose(_ reason: String, _ ending: PackedGame.Ending = .forfeit) -> EngineLoss {
    stop()
    return EngineLoss(reason: reason, ending: ending)
  }

  /// The game is over; nothing is asked of the engine until the next.
  func endGame() {
    pendingLoss = nil
    // An engine that was not asked for a move still owes its answer.
    if let deadline = readyDeadline, let process, !ready(process, deadline) { stop() }
    readyDeadline = nil
  }

  /// Kills the engine.
  func stop() {
    process?.stop()
    process = nil
  }
}
