import Base
import CProcess
import Foundation
import Records
import Synchronization
import TicTacToe

enum GameLine {
  /// The most bytes of a line without the member `start` and the members for `GameNotes`.
  private static let room = 112
  /// The two characters of each cell's name as one number, so that one write stores both.
  private static let names: InlineArray<9, UInt16> = .init { cell in
    UInt16(littleEndian: UInt16(Square(cell).nameBytes.column) | UInt16(Square(cell).nameBytes.row) << 8)
  }

  /// Appends the line of a game of Classic.
  static func write(
    index: Int, x: Int, o: Int, start: VariantState?, game: PackedGame, notes: GameNotes?, to out: LineBuffer
  ) {
    var end = out.reserve(room)
    @inline(__always) func put(_ text: StaticString) {
      end.copyMemory(from: text.utf8Start, byteCount: text.utf8CodeUnitCount)
      end += text.utf8CodeUnitCount
    }
    @inline(__always) func put(_ number: Int) {
      var (rest, divisor) = (UInt64(truncatingIfNeeded: number), UInt64(10))
      var digits = 1
      while divisor <= rest {
        divisor &*= 10
        digits &+= 1
      }
      for place in stride(from: digits &- 1, through: 0, by: -1) {
        let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 10)
        end.storeBytes(of: UInt8(truncatingIfNeeded: 0x30 &+ digit), toByteOffset: place, as: UInt8.self)
        rest = quotient
      }
      end += digits
    }
    put("{\"game\":")
    put(index)
    put(",\"x\":")
    put(x)
    put(",\"o\":")
    put(o)
    if let start {
      out.advance(to: end)
      out.append(",\"start\":\"\(start.notation)\"")
      end = out.reserve(room)
    }
    put(",\"moves\":\"")
    // Always write nine moves; the next field overwrites those that were not played. So no branch depends on the game.
    var cells = game.bits
    for ply in 0..<9 {
      end.storeBytes(of: names[Int(truncatingIfNeeded: cells & 15) % 9], toByteOffset: 2 &* ply, as: UInt16.self)
      cells &>>= 4
    }
    end += 2 * game.count
    switch game.result {
    case 0: put("\",\"result\":\"1-0\"")
    case 1: put("\",\"result\":\"0-1\"")
    default: put("\",\"result\":\"1/2-1/2\"")
    }
    if game.ending != .normal || notes != nil {
      out.advance(to: end)
      append(game.ending, notes ?? GameNotes(), to: out)
      end = out.reserve(room)
    }
    put("}\n")
    out.advance(to: end)
  }

  static func write(
    index: Int, x: Int, o: Int, _ moves: GameMoves, _ variant: Variant, game: PackedGame, notes: GameNotes?,
    to out: LineBuffer
  ) {
    let start = moves.start.map { ",\"start\":\"\($0.notation)\"" } ?? ""
    let names = moves.cells.map { variant.name(of: $0) }.joined()
    let result = game.result == 0 ? "1-0" : game.result == 1 ? "0-1" : "1/2-1/2"
    out.append("{\"game\":\(index),\"x\":\(x),\"o\":\(o)\(start),\"moves\":\"\(names)\",\"result\":\"\(result)\"")
    if game.ending != .normal || notes != nil { append(game.ending, notes ?? GameNotes(), to: out) }
    out.append("}\n")
  }

  private static func append(_ ending: PackedGame.Ending, _ notes: GameNotes, to out: LineBuffer) {
    if ending != .normal {
      out.append(",\"termination\":\"\(ending)\"")
      out.append(",\"reason\":\(JSON.string(notes.reason ?? "").text)")
    }
    guard notes.reports.contains(where: { $0 != nil }) else { return }
    func list(_ name: String, _ text: (MoveReport) -> String?) {
      let values = notes.reports.map { $0.flatMap(text) }
      guard values.contains(where: { $0 != nil }) else { return }
      out.append(",\"\(name)\":[\(values.map { $0 ?? "null" }.joined(separator: ","))]")
    }
    list("emt") { "\($0.milliseconds)" }
    list("eval") { $0.evaluation.map { "\"\($0)\"" } }
  }

  struct Content: Sendable, Hashable {
    var index: Int
    var x: Int
    var o: Int
    var start: VariantState?
    var game: PackedGame
    var notes: GameNotes?
    /// `nil` in Classic, where `game` contains the moves.
    var moves: GameMoves?

    var cells: [Cell] { moves?.cells ?? game.moves.map { Cell(rawValue: $0.rawValue) } }

    var anyMoves: GameMoves { moves ?? GameMoves(start: start, cells: cells) }
  }

  /// Parses a line without its line end; `nil` if invalid.
  static func read(_ line: UnsafeRawBufferPointer, _ variant: Variant) -> Content? {
    if variant.isPacked { return read(line) }
    guard let json = try? JSON(bytes: Array(line)), let index = json["game"]?.int, let x = json["x"]?.int,
      let o = json["o"]?.int, (0..<RunConfiguration.playerLimit).contains(x),
      (0..<RunConfiguration.playerLimit).contains(o), let text = json["moves"]?.string,
      let outcome = json["result"]?.string.flatMap(outcome)
    else { return nil }
    let names = Array(text.utf8)
    guard names.count % 2 == 0, names.count <= 2 * Variant.longestGame else { return nil }
    var moves = GameMoves()
    if let notation = json["start"]?.string {
      guard let start = try? VariantState(variant, notation: notation) else { return nil }
      moves.start = start
    }
    for place in stride(from: 0, to: names.count, by: 2) {
      let name = String(decoding: names[place..<place + 2], as: UTF8.self)
      guard let cell = variant.cell(named: name) else { return nil }
      moves.cells.append(cell)
    }
    guard let (ending, notes) = notes(in: json, plies: moves.cells.count) else { return nil }
    let game = PackedGame(variantMoves: moves.cells.count, outcome: outcome, ending: ending)
    // Only a line that is exactly as this program writes it is valid.
    let again = LineBuffer(capacity: 256)
    write(index: index, x: x, o: o, moves, variant, game: game, notes: notes, to: again)
    guard again.written.dropLast().elementsEqual(line) else { return nil }
    return Content(index: index, x: x, o: o, start: moves.start, game: game, notes: notes, moves: moves)
  }

  private static func outcome(_ result: String) -> Outcome? {
    switch result {
    case "1-0": .win(.x)
    case "0-1": .win(.o)
    case "1/2-1/2": .draw
    default: nil
    }
  }

  private static func notes(in json: JSON, plies: Int) -> (PackedGame.Ending, GameNotes?)? {
    var ending = PackedGame.Ending.normal
    switch json["termination"]?.string {
    case nil: break
    case "time": ending = .time
    case "forfeit": ending = .forfeit
    case "adjudication": ending = .adjudication
    default: return nil
    }
    let (times, evaluations) = (json["emt"]?.array, json["eval"]?.array)
    guard times?.count ?? plies == plies, evaluations?.count ?? plies == plies else { return nil }
    // Sums of longer times would overflow.
    let limits = 0...Record.Limit.milliseconds
    guard (times ?? []).allSatisfy({ $0.int64.map { limits.contains($0) } ?? true }) else { return nil }
    let reports = (0..<plies).map { ply in
      times?[ply].int.map { MoveReport(evaluation: evaluations?[ply].string, milliseconds: $0) }
    }
    guard ending != .normal || times != nil || json["reason"] != nil else { return (ending, nil) }
    return (ending, GameNotes(reason: json["reason"]?.string, reports: times == nil ? [] : reports))
  }

  /// Parses a line of Classic without its line end; `nil` if invalid.
  static func read(_ line: UnsafeRawBufferPointer) -> Content? {
    var cursor = 0
    func skip(_ text: StaticString) -> Bool {
      let count = text.utf8CodeUnitCount
      guard line.count - cursor >= count, let base = line.baseAddress, memcmp(base + cursor, text.utf8Start, count) == 0
      else { return false }
      cursor += count
      return true
    }
    func number() -> Int? {
      var (value, digits) = (0, 0)
      while cursor < line.count, (0x30...0x39).contains(line[cursor]), digits < 12 {
        value = value * 10 + Int(line[cursor] - 0x30)
        cursor += 1
        digits += 1
      }
      return digits > 0 ? value : nil
    }
    guard skip("{\"game\":"), let index = number(), skip(",\"x\":"), let x = number(), skip(",\"o\":"),
      let o = number(),
      x < RunConfiguration.playerLimit, o < RunConfiguration.playerLimit
    else { return nil }
    var start: VariantState?
    if skip(",\"start\":\"") {
      guard let quote = line[cursor...].firstIndex(of: 0x22),
        let position = try? Position(notation: String(decoding: line[cursor..<quote], as: UTF8.self))
      else { return nil }
      (start, cursor) = (position == .start ? nil : .classic(position), quote + 1)
    }
    guard skip(",\"moves\":\"") else { return nil }
    var (nibbles, count) = (UInt64(0), 0)
    while cursor + 1 < line.count, line[cursor] != 0x22 {
      guard let square = Square(column: line[cursor], row: line[cursor + 1]), count < 9 else { return nil }
      nibbles |= UInt64(square.rawValue) << UInt64(4 * count)
      count += 1
      cursor += 2
    }
    guard skip("\",\"result\":\"") else { return nil }
    let outcome: Outcome
    if skip("1-0\"") {
      outcome = .win(.x)
    } else if skip("0-1\"") {
      outcome = .win(.o)
    } else if skip("1/2-1/2\"") {
      outcome = .draw
    } else {
      return nil
    }
    let content = Content(
      index: index, x: x, o: o, start: start, game: PackedGame(nibbles: nibbles, count: count, outcome: outcome))
    if line.count - cursor > 1 { return withNotes(content, line) }
    return skip("}") ? content : nil
  }

  /// Adds the members after `result`. Only games with engines or a referee's decision have them, so the slower general parser suffices.
  private static func withNotes(_ content: Content, _ line: UnsafeRawBufferPointer) -> Content? {
    var content = content
    let game = content.game
    guard let json = try? JSON(bytes: Array(line)), let (ending, notes) = notes(in: json, plies: game.count) else {
      return nil
    }
    content.notes = notes ?? GameNotes()
    content.game = PackedGame(moves: game.moves, outcome: game.outcome, ending: ending)
    // Only a line that is exactly as this program writes it is valid.
    let again = LineBuffer(capacity: 256)
    write(
      index: content.index, x: content.x, o: content.o, start: content.start, game: content.game, notes: content.notes,
      to: again)
    return again.written.dropLast().elementsEqual(line) ? content : nil
  }
}

/// The hash of a file of games: the hash of a list of hashes, one per line as `sha256sum` prints them, of the header and of each batch of
/// 16,384 games. So several threads can hash batches at the same time.
struct GameHash {
  private var list = SHA256()
  private var open = SHA256()
  private var isOpen = false

  init(header: String) { add(SHA256.hash(Array((header + "\n").utf8))) }

  private mutating func add(_ digest: SHA256.Digest) { list.update(Array((digest.hex + "  -\n").utf8)) }

  /// `end` is the index of the last game + 1. `digest` is the hash of `lines` if they are a full batch.
  mutating func update(_ lines: UnsafeRawBufferPointer, upTo end: Int, digest: SHA256.Digest? = nil) {
    if let digest, !isOpen {
      add(digest)
      return
    }
    open.update(lines)
    isOpen = true
    guard end % GameBatch.size == 0 else { return }
    add(open.digest)
    (open, isOpen) = (SHA256(), false)
  }

  /// The hash of all lines so far.
  var hex: String {
    var copy = self
    if isOpen { copy.add(open.digest) }
    return copy.list.digest.hex
  }

  /// Adds the hash of everything before the footer.
  func sealed(_ footer: JSONObject) -> String {
    var footer = footer
    footer.add("sha256", .string(hex))
    return JSON.object(footer).text
  }

  /// Uses the processor's SHA-256 instructions if it has them.
  static func digest(of bytes: UnsafeRawBufferPointer) -> SHA256.Digest {
    var hash = SHA256()
    let whole = bytes.count / 64
    var words = hash.words
    let isDone = withUnsafeMutableBytes(of: &words) { alina_sha256($0.baseAddress, bytes.baseAddress, whole) == 1 }
    if isDone { hash = SHA256(continuing: words, length: UInt64(whole) * 64) }
    hash.update(UnsafeRawBufferPointer(rebasing: bytes[(isDone ? whole * 64 : 0)...]))
    return hash.digest
  }
}

/// Locks the file against other writers.
final class GameFileWriter {
  private let file: LockedFile
  private let path: String
  private(set) var hash: GameHash
  /// The lines not yet written to the file; `written` is the time of the last write.
  private let waiting = LineBuffer(capacity: 1 << 16)
  private var written = 0.0
  /// Empty buffers, kept for reuse because the system takes time to provide new memory pages.
  private let spare = Mutex<[LineBuffer]>([])

  /// Milliseconds after a write for which further lines wait in memory, unless there are 64 KiB of them.
  private static let flushInterval = 20.0

  private init(_ descriptor: Int32, _ path: String, _ hash: GameHash) throws(ArenaError) {
    file = try LockedFile(descriptor, path)
    (self.path, self.hash) = (path, hash)
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw ArenaError("\(path): is not a regular file")
    }
  }

  convenience init(continuing path: String) throws(ArenaError) {
    var descriptor = Descriptor.open(path, O_RDWR | O_APPEND)
    // Nothing is appended to a complete file, so it may be read-only.
    if descriptor < 0, errno == EACCES || errno == EROFS { descriptor = Descriptor.open(path, O_RDONLY) }
    guard descriptor >= 0 else { throw ArenaError("\(path): \(systemReason)") }
    try self.init(descriptor, path, GameHash(header: ""))
  }

  /// Prepares to append after the last complete line that `reader` has read; cuts off an incomplete line at the end of the file.
  func go(on reader: GameFileReader) throws(ArenaError) {
    hash = reader.hash
    guard ftruncate(file.descriptor, reader.lines.wholeBytes) == 0 else {
      throw ArenaError("\(path) cannot be repaired: \(systemReason)")
    }
  }

  /// Creates the file with its header atomically: no reader ever sees an incomplete header.
  convenience init(_ path: String, header: String) throws(ArenaError) {
    let old = Descriptor.open(path, O_RDONLY)
    let replaced = old < 0 ? nil : try LockedFile(old, path)
    defer { replaced?.close() }
    let part = path + ".part"
    let descriptor = Descriptor.open(part, O_WRONLY | O_CREAT | O_APPEND)
    guard descriptor >= 0 else { throw ArenaError("\(path) cannot be written: \(systemReason)") }
    try self.init(descriptor, path, GameHash(header: header))
    // Truncate only while holding the lock: another run may be writing the file.
    ftruncate(descriptor, 0)
    waiting.append(header + "\n")
    do throws(ArenaError) {
      try flush()
      try putInPlace(part, path)
    } catch {
      unlink(part)
      throw error
    }
  }

  func close() { file.close() }

  /// May be called from any thread.
  func emptyBuffer() -> LineBuffer { spare.withLock { $0.popLast() } ?? LineBuffer(capacity: 1 << 10) }

  /// The lines may wait in memory for later batches (see `flushInterval`).
  func write(_ batch: GameBatch, _ summary: GameBatch.Summary) throws(ArenaError) {
    guard let lines = summary.lines else { return }
    defer {
      lines.removeAll()
      spare.withLock { $0.append(lines) }
    }
    hash.update(lines.written, upTo: batch.indices.upperBound, digest: summary.digest)
    if lines.count >= 1 << 16 {
      try flush()
      try write(lines.written)
      return
    }
    waiting.append(lines.written)
    if waiting.count >= 1 << 16 || monotonicMilliseconds() - written >= GameFileWriter.flushInterval { try flush() }
  }

  func flush() throws(ArenaError) {
    defer { waiting.removeAll() }
    try write(waiting.written)
    written = monotonicMilliseconds()
  }

  private func write(_ bytes: UnsafeRawBufferPointer) throws(ArenaError) {
    if let reason = writeAll(bytes, to: file.descriptor) {
      throw ArenaError("\(path) cannot be written: \(reason)", kind: .resourceExhausted)
    }
  }

  func finish(_ footer: JSONObject) throws(ArenaError) {
    waiting.append(hash.sealed(footer) + "\n")
    try flush()
  }
}
