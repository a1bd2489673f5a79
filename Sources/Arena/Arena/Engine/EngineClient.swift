import Foundation
import TicTacToe

/// An engine's loss of a game by a fault instead of on the board.
struct EngineLoss: Error, Sendable {
  var reason: String
  var ending: PackedGame.Ending
}

/// A kind of fault by which an engine loses a game, derived from the ending and the reason in the file of games.
package enum FaultKind: String, Sendable, Hashable {
  case time = "out of time"
  case illegalMove = "illegal move"
  case crash = "crash"
  case failedStart = "failed start"
  case protocolFault = "protocol"

  init(_ ending: PackedGame.Ending, reason: String) {
    let unready = "not ready for a new game: "
    let fault = reason.hasPrefix(unready) ? reason.dropFirst(unready.count) : Substring(reason)
    func begins(_ words: String...) -> Bool { words.contains { fault.hasPrefix($0) } }
    if ending == .time {
      self = .time
    } else if begins("illegal move") {
      self = .illegalMove
    } else if begins("given up", "restart failed") {
      self = .failedStart
    } else if begins("crashed", "exited", "closed", "is not running") {
      self = .crash
    } else {
      self = .protocolFault
    }
  }
}

/// Kills the engine after a fault, and restarts it for the next game. Used by one thread at a time.
final class EngineClient: @unchecked Sendable {
  struct Recipe: Sendable {
    var command: [String]
    var guardExecutable: String
    var time: TimeLimit
    var seed: UInt64
    var settings = EngineSettings()
    var variant = Variant.classic
    /// The log of all lines to and from engines, in which the number `player` stands for this engine.
    var trace: EngineTrace?
    var player = 0

    /// If the settings name an environment variable twice, the last value counts.
    var launch: EngineProcess.Launch {
      var launch = EngineProcess.Launch(command, guardExecutable: guardExecutable)
      (launch.folder, launch.log, launch.trace, launch.player) = (settings.folder, settings.log, trace, player)
      for variable in settings.environment { launch.environment[variable.name] = variable.value }
      return launch
    }
  }

  /// The most milliseconds that the handshake may take, and `readyok` before each game.
  static let handshakeTimeout = 5000.0
  /// Milliseconds without an answer to `uci`, after which the arena also sends `ugi`, the greeting of the Universal Game Interface.
  static let silence = 1000.0
  /// The most bytes that an engine may write during the handshake, or during one move.
  static let floodLimit = 1 << 20
  /// After this number of consecutive failed restarts the engine is given up.
  static let failureLimit = 3

  private let recipe: Recipe
  private let stopSignal: StopSignal
  private var core: Int?
  private var process: EngineProcess?
  private(set) var id: String?
  private var notation = UCINotation.native
  private var advertisesSeed = false
  /// Whether the engine uses the Universal Game Interface.
  private var isUGI = false
  /// The values of the engine's option `UCI_Variant`.
  private var variants: [String] = []
  private var failures = 0
  /// Why the last handshake failed, without the engine's command.
  private var refusal: String?
  /// A fault before the engine's first move in this game; `move` reports the fault.
  private var pendingLoss: EngineLoss?
  /// The deadline for `readyok` on the clock of `monotonicMilliseconds()`; `nil` if no `readyok` is awaited.
  private var readyDeadline: Double?
  /// The engine's remaining milliseconds in this game.
  private(set) var clock = 0.0
  /// The number of moves in `request`.
  private var movesTold = 0

  /// The bytes of the line `position …`, to which each request for a move appends the new moves.
  private var request: [UInt8] = []
  private let plainGo: [UInt8]

  init(_ recipe: Recipe, _ stop: StopSignal) {
    (self.recipe, stopSignal) = (recipe, stop)
    let nodes = recipe.time.nodes > 0 ? " nodes \(recipe.time.nodes)" : ""
    plainGo = Array("\ngo movetime \(recipe.time.moveTime)\(nodes)\n".utf8)
  }

  func start() throws(ArenaError) {
    let process = try EngineProcess(recipe.launch, stopSignal)
    let deadline = monotonicMilliseconds() + EngineClient.handshakeTimeout
    func refuse(_ what: String) -> ArenaError {
      process.stop()
      refusal = what
      if what.contains(EngineGuard.resourceExhausted) { return .resourceExhausted("processes for an engine: \(what)") }
      return ArenaError("engine '\(recipe.command.joined(separator: " "))': \(what)", kind: .handshake)
    }
    guard process.write("uci\n", deadline: deadline) else { throw refuse("does not take 'uci'; \(process.ending())") }
    (advertisesSeed, variants) = (false, [])
    isUGI = false
    var silentUntil = monotonicMilliseconds() + EngineClient.silence
    conversation: while true {
      guard process.bytesRead <= EngineClient.floodLimit else { throw refuse("writes too much during the handshake") }
      switch process.readLine(deadline: min(silentUntil, deadline)) {
      case .line("uciok"): break conversation
      case .line("ugiok"):
        isUGI = true
        break conversation
      case .late where silentUntil < deadline && !stopSignal.isSet:
        // The engine may know only `ugi`: send `ugi` too. A UCI engine that is only slow ignores `ugi`.
        silentUntil = .infinity
        guard process.write("ugi\n", deadline: deadline) else { throw refuse(process.ending()) }
      case .line(let line):
        if line.hasPrefix("id name "), line.utf8.count > 8 { id = EngineClient.name(line.unicodeScalars.dropFirst(8)) }
        if line.hasPrefix("option name Seed ") { advertisesSeed = true }
        if line.hasPrefix("option name UCI_Variant ") {
          let words = line.split(separator: " ")
          variants = zip(words, words.dropFirst()).filter { $0.0 == "var" }.map { String($0.1) }
        }
      case .late: throw refuse("no 'uciok' within \(Int(EngineClient.handshakeTimeout)) ms")
      case .closed: throw refuse("\(process.ending()) before 'uciok'")
      case .overlong, .garbage: throw refuse("speaks no UCI: a line that is too long or no text before 'uciok'")
      }
    }
    let name = recipe.variant.uciName
    guard recipe.variant.isImplied || variants.contains(name) else {
      let known =
        variants.isEmpty ? "it lists no UCI_Variant" : "its UCI_Variant lists \(variants.joined(separator: ", "))"
      throw refuse("does not play \(name); \(known)")
    }
    notation = recipe.variant.isImplied && variants.contains(name) ? .cutechess : .native
    var options = ""
    if variants.contains(name) { options += "setoption name UCI_Variant value \(name)\n" }
    // Fold the 64-bit seed into 31 bits, so that engines can read the seed as a signed 32-bit number.
    if advertisesSeed {
      options += "setoption name Seed value \((recipe.seed ^ recipe.seed >> 32) & 0x7FFF_FFFF)\n"
    }
    for option in recipe.settings.options { options += "setoption name \(option.name) value \(option.value)\n" }
    guard process.write(options + "isready\n", deadline: deadline) else { throw refuse(process.ending()) }
    if let fault = waitUntilReady(process, deadline) { throw refuse(fault) }
    self.process = process
    if let core { process.pin(toCore: core) }
  }

  private static func name(_ scalars: some Sequence<Unicode.Scalar>) -> String {
    var name = String.UnicodeScalarView()
    for scalar in scalars where ![.control, .format].contains(scalar.properties.generalCategory) && name.count < 80 {
      name.append(scalar)
    }
    return String(name)
  }

  /// The engine stays on processor `core` also after restarts. `nil` lets the engine use all processors of the arena's main thread.
  func pin(toCore core: Int?) {
    guard core != self.core else { return }
    self.core = core
    process?.pin(toCore: core)
  }

  /// Returns the fault, or `nil` if `readyok` came in time.
  private func waitUntilReady(_ process: EngineProcess, _ deadline: Double) -> String? {
    process.resetCount()
    while process.bytesRead <= EngineClient.floodLimit {
      switch process.readLine(deadline: deadline) {
      case .line("readyok"): return nil
      case .line(let line) where line.hasPrefix("bestmove"): return "an unasked '\(line.prefix(24))'"
      case .line: continue
      case .late: return "no 'readyok' within \(Int(EngineClient.handshakeTimeout)) ms"
      case .closed: return "\(process.ending()) before 'readyok'"
      case .overlong, .garbage: return "no text before 'readyok'"
      }
    }
    return "floods before 'readyok'"
  }

  /// `left` is in milliseconds, as a match server counts them. Has no effect if the engine plays without a clock.
  func setClock(_ left: Int) { if recipe.time.clock > 0 { clock = Double(left) } }

  /// If the engine does not start or has ended, the game's first call of `move` fails with the reason. Throws if the system lacks resources
  /// for a restart.
  func beginGame() throws(ArenaError) {
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
        if error.kind == .resourceExhausted { throw error }
        failures += 1
        pendingLoss = EngineLoss(reason: "restart failed: \(refusal ?? error.description)", ending: .forfeit)
        return
      }
    }
    // Wait for `readyok` only before the first move, so that both engines of a game prepare at the same time.
    readyDeadline = monotonicMilliseconds() + EngineClient.handshakeTimeout
    request.removeAll(keepingCapacity: true)
    if let process, !process.write("\(isUGI ? "ugi" : "uci")newgame\nisready\n", deadline: readyDeadline ?? 0) {
      pendingLoss = lose("\(process.ending(otherwise: "closed its input")) between games")
    }
  }

  /// Kills an engine that does not answer with a legal move in time; the engine then loses the game. `start` is `nil` for the normal start.
  func move<R: Rules>(
    _ rules: R.Type, _ start: VariantState?, _ cells: [Cell], _ state: R.State, otherClock: Double?
  ) -> Result<(Cell, MoveReport), EngineLoss> {
    ask(R.turn(in: state), otherClock) {
      writePosition(start, cells, R.variant)
    } reading: { word in
      let cell = R.variant.isImplied ? UCINotation.square(word).map { Cell($0.index) } : R.variant.cell(named: word)
      return cell.flatMap { R.moves(state).contains($0) ? $0 : nil }
    }
  }

  private func ask(
    _ turn: Player, _ otherClock: Double?, writing: () -> Void, reading: (Substring) -> Cell?
  ) -> Result<(Cell, MoveReport), EngineLoss> {
    if let pendingLoss { return .failure(pendingLoss) }
    guard let process else { return .failure(EngineLoss(reason: "is not running", ending: .forfeit)) }
    if let deadline = readyDeadline {
      readyDeadline = nil
      if let fault = waitUntilReady(process, deadline) { return .failure(lose("not ready for a new game: \(fault)")) }
    }
    if let line = process.unaskedMove() { return .failure(lose("an unasked '\(line.prefix(24))'")) }
    writing()
    let told = request.count
    request += recipe.time.clock == 0 ? plainGo : goCommand(turn, otherClock)
    let begun = monotonicMilliseconds()
    let deadline = begun + Double(recipe.time.timeout(left: Int(clock)))
    process.resetCount()
    guard process.write(request, deadline: deadline) else {
      let isLate = monotonicMilliseconds() >= deadline
      return .failure(lose(isLate ? "does not read its input" : process.ending(otherwise: "closed its input")))
    }
    // Remove `go …`, so that `request` keeps only the position and the moves.
    request.removeLast(request.count - told)
    func late() -> EngineLoss { lose("no move within \(Int((deadline - begun).rounded())) ms", .time) }
    var evaluation: String?
    var answer: (move: Cell?, text: String)?
    while answer == nil {
      guard process.bytesRead <= EngineClient.floodLimit else {
        return .failure(lose("wrote more than \(EngineClient.floodLimit) bytes without a move"))
      }
      switch process.readLine(deadline: deadline) {
      case .late: return .failure(late())
      case .line(let line):
        let words = line.utf8.split { $0 <= 0x20 }.map { Substring($0) }
        if words.first == "info" { evaluation = EngineClient.evaluation(in: words) ?? evaluation }
        guard words.first == "bestmove" else {
          // A line in the buffer was received in time, so read it even after the deadline.
          guard monotonicMilliseconds() < deadline || process.hasLine else { return .failure(late()) }
          continue
        }
        let word = words.dropFirst().first ?? ""
        answer = (reading(word), String(word.prefix(16)))
      case .closed: return .failure(lose(process.ending()))
      case .overlong: return .failure(lose("a line of more than \(EngineProcess.lineLimit) bytes"))
      case .garbage: return .failure(lose("wrote bytes that are not text"))
      }
    }
    let elapsed = monotonicMilliseconds() - begun
    clock += Double(recipe.time.increment) - elapsed
    guard let move = answer?.move else {
      return .failure(lose("illegal move '\(answer?.text ?? "")'"))
    }
    return .success((move, MoveReport(evaluation: evaluation, milliseconds: Int(elapsed))))
  }

  /// Appends the moves that `request` lacks.
  private func writePosition(_ start: VariantState?, _ cells: [Cell], _ variant: Variant) {
    if request.isEmpty {
      let text = start.map { if case .classic(let position) = $0 { notation.text(of: position) } else { $0.notation } }
      request += (text.map { "position fen \($0)" } ?? "position startpos").utf8
      movesTold = 0
    }
    for (number, cell) in cells.enumerated().dropFirst(movesTold) {
      request += (number == 0 ? " moves " : " ").utf8
      if notation == .cutechess { request += "P@".utf8 }
      request += variant.name(of: cell).utf8
    }
    movesTold = cells.count
  }

  /// The score and the depth of an `info` line in PGN's form. `nil` without a score, or for a variation other than the best (`multipv` 2 or
  /// more).
  static func evaluation(in line: [Substring]) -> String? {
    // Ignore the words after `string` (free text) and those after `pv` (moves).
    let words = Array(line.prefix { $0 != "string" && $0 != "pv" })
    if let at = words.firstIndex(of: "multipv"), words.dropFirst(at + 1).first != "1" { return nil }
    guard let at = words.firstIndex(of: "score"), at + 2 < words.count, let value = Int(words[at + 2]) else {
      return nil
    }
    let depth = words.firstIndex(of: "depth").flatMap { $0 + 1 < words.count ? Int(words[$0 + 1]) : nil }
    let sign = value < 0 ? "-" : "+"
    let size = value.magnitude
    let score =
      words[at + 1] == "mate"
      ? "\(sign)M\(size)" : "\(sign)\(size / 100).\(size % 100 / 10)\(size % 10)"
    return words[at + 1] == "mate" || words[at + 1] == "cp" ? "\(score)/\(depth ?? 0)" : nil
  }

  private func goCommand(_ side: Player, _ otherClock: Double?) -> [UInt8] {
    let time = recipe.time
    var text = "\ngo"
    let (own, other) = (Int(max(1, clock)), Int(max(1, otherClock ?? Double(time.clock))))
    text += " wtime \(side == .x ? own : other) btime \(side == .x ? other : own)"
    if time.increment > 0 { text += " winc \(time.increment) binc \(time.increment)" }
    if time.nodes > 0 { text += " nodes \(time.nodes)" }
    return Array((text + "\n").utf8)
  }

  private func lose(_ reason: String, _ ending: PackedGame.Ending = .forfeit) -> EngineLoss {
    stop(quitting: false)
    return EngineLoss(reason: reason, ending: ending)
  }

  func endGame() {
    pendingLoss = nil
    // If this engine was not asked for a move, its `readyok` is still to come. Kill an engine that does not send it.
    if let deadline = readyDeadline, let process, waitUntilReady(process, deadline) != nil { stop(quitting: false) }
    readyDeadline = nil
  }

  func stop(quitting: Bool = true) {
    process?.stop(quitting: quitting)
    process = nil
  }
}
