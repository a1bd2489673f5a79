import Base
import Foundation
import Records
import TicTacToe

package enum PGNExport {
  static func record(_ game: GameLine.Content, _ configuration: RunConfiguration) throws(ArenaError) -> Record {
    var play = Game(from: game.start ?? VariantState(startOf: configuration.variant))
    do {
      for cell in game.cells { try play.play(cell) }
      switch (play.isOver, game.game.outcome, game.game.ending) {
      case (true, _, _): break
      case (_, .win(let winner), let ending):
        try play.lose(
          winner.opponent, by: ending == .time ? .time : ending == .adjudication ? .resignation : .forfeit)
      case (_, .draw, _): play.finish(GameEnd(outcome: .draw, termination: .agreement))
      }
    } catch {
      throw ArenaError("game \(game.index) breaks the rules: \(error)")
    }
    var record = Record(game: play)
    record[tag: "Event"] = "alina-arena \(configuration.format.rawValue)"
    record[tag: "Date"] = configuration.date
    record[tag: "Round"] = "\(game.index + 1)"
    let names = configuration.names
    record[player: .x] = names[game.x]
    record[player: .o] = names[game.o]
    record.seed = configuration.seed
    if let reason = game.notes?.reason { record[tag: "Reason"] = reason }
    for (ply, report) in (game.notes?.reports ?? []).enumerated() {
      guard let report else { continue }
      // The comment on a move has the form of cutechess-cli: score/depth and seconds.
      let seconds = String(format: "%.3fs", Double(report.milliseconds) / 1000)
      try? record.addComment([report.evaluation, seconds].compactMap { $0 }.joined(separator: " "), ply: ply + 1)
    }
    return record
  }

  /// Writes the games of a file as PGN, atomically. Returns `false` without writing if `stop` is set.
  @discardableResult
  package static func write(
    _ path: String, to target: String, stop: StopSignal = StopSignal()
  ) throws(ArenaError) -> Bool {
    let temporary = target + ".part"
    let descriptor = Descriptor.open(temporary, O_WRONLY | O_CREAT)
    guard descriptor >= 0 else { throw ArenaError("\(target) cannot be written: \(systemReason)") }
    let part = try LockedFile(descriptor, target)
    defer { part.close() }
    // Before this run had the lock, another run may have finished the file and given it its name.
    var (ours, named) = (stat(), stat())
    guard fstat(descriptor, &ours) == 0, stat(temporary, &named) == 0, ours.st_ino == named.st_ino else {
      throw ArenaError("\(target) was just written by another run")
    }
    var isInPlace = false
    defer { if !isInPlace { unlink(temporary) } }
    // Truncate only while holding the lock: another run may be writing the file.
    ftruncate(descriptor, 0)
    let reader = try GameFileReader(path)
    let configuration = reader.configuration
    let text = LineBuffer(capacity: 1 << 21)
    /// The text of a record before and after the game's number, which games of the same players with the same result share.
    var frames: [Int: (before: String, after: String)] = [:]
    func flush() throws(ArenaError) {
      if let reason = writeAll(text.written, to: descriptor) {
        throw ArenaError("\(target) cannot be written: \(reason)", kind: .resourceExhausted)
      }
      text.removeAll()
    }
    while let content = try reader.next() {
      if content.moves != nil || content.notes != nil || content.start != nil {
        text.append(try record(content, configuration).text + "\n")
      } else {
        let key = (content.x << 8 | content.o) << 2 | content.game.result
        if frames[key] == nil {
          let tags = try record(content, configuration).text
          let number = "[Round \"\(content.index + 1)\"]"
          let parts = tags.split(separator: number, maxSplits: 1)
          let end = parts[1].range(of: "\n\n")?.upperBound ?? parts[1].endIndex
          frames[key] = (String(parts[0]) + "[Round \"", "\"]" + parts[1][..<end])
        }
        guard let frame = frames[key] else { continue }
        text.append(frame.before)
        text.append("\(content.index + 1)")
        text.append(frame.after)
        append(content.game, to: text)
      }
      if text.count > 1 << 20 { try flush() }
      if stop.isSet { return false }
    }
    try flush()
    try putInPlace(temporary, target)
    isInPlace = true
    return true
  }

  /// Appends the moves and the result of a game from the empty board, exactly as the text of a `Record` has them.
  private static func append(_ game: PackedGame, to text: LineBuffer) {
    var end = text.reserve(80)
    func put(_ byte: UInt8) {
      end.storeBytes(of: byte, as: UInt8.self)
      end += 1
    }
    for ply in 0..<game.count {
      if ply % 2 == 0 {
        put(0x31 + UInt8(ply / 2))
        put(0x2E)
        put(0x20)
      }
      let name = Square(game.cell(ply)).nameBytes
      put(name.column)
      put(name.row)
      put(0x20)
    }
    text.advance(to: end)
    text.append(game.result == 0 ? "1-0\n\n" : game.result == 1 ? "0-1\n\n" : "1/2-1/2\n\n")
  }
}
