import Foundation
import TicTacToe

package enum Merge {
  /// Writes the file that a run without shards would have written. Checks every game of the shards as a resumed run does.
  /// - Parameters:
  ///   - target: If `nil`, only counts the games; then shards may be missing or unfinished.
  ///   - sprt: A test over all games of a match, whose shards were played without a test.
  ///   - folders: Where to look for the players' files of matchboxes, besides the current folder.
  package static func write(
    _ paths: [String], to target: String?, sprt: SPRT? = nil, folders: [String] = []
  ) throws(ArenaError) -> RunReport {
    let shards = try openShards(paths, isComplete: target != nil)
    var configuration = shards[0].reader.configuration
    configuration.shard = nil
    guard sprt == nil || configuration.format == .match else { throw ArenaError("--sprt needs a match of two players") }
    try sprt?.validate()
    var located = configuration
    for index in located.entrants.indices where !located.entrants[index].spec.isEngine {
      located.entrants[index] = try located.entrants[index].located(in: folders + ["."])
    }
    let players = try Players(located, threads: 1, guardExecutable: "", stop: StopSignal())
    let state = RunState(configuration, picksHighlights: false)
    // Write to `part` first, so that only a complete file replaces a file at `target`.
    let part = target.map { $0 + ".merging" }
    let writer = try part.map { (part) throws(ArenaError) in
      try GameFileWriter(part, header: configuration.headerLine)
    }
    var isInPlace = false
    defer {
      // Unlink while holding the lock: later the file may be that of another merge.
      if let part, !isInPlace { unlink(part) }
      writer?.close()
    }
    var schedule = Schedule(configuration)
    guard let stage = schedule.next() else { throw ArenaError("the run has no games") }
    state.begin(stage)
    for (shard, reader) in shards {
      let indices = reader.configuration.indices ?? stage.indices
      var replay = Replay(stage, indices, players, state, copyingTo: writer)
      try replay.run(reader)
      guard try reader.next() == nil else { throw reader.lines.refusal("the shard was over before this game") }
      guard target == nil || (reader.footer != nil && replay.next == indices.upperBound) else {
        throw ArenaError("\(reader.lines.path): shard \(shard.text) is not finished; resume it first")
      }
    }
    schedule.finish(stage, doubledPoints: state.doubledPoints)
    state.close(schedule)
    try writer?.finish(state.footer)
    if let part, let target {
      try putInPlace(part, target)
      isInPlace = true
    }
    var report = state.report
    report.configuration.sprt = sprt
    return report
  }

  /// The shards in order, at least one. Throws if they are not of one run, or if `isComplete` and one is missing.
  private static func openShards(
    _ paths: [String], isComplete: Bool
  ) throws(ArenaError) -> [(shard: Shard, reader: GameFileReader)] {
    var shards: [(shard: Shard, reader: GameFileReader)] = []
    for path in paths {
      let reader = try GameFileReader(path)
      guard let shard = reader.configuration.shard else { throw ArenaError("\(path) is not a shard of a run") }
      shards.append((shard, reader))
    }
    shards.sort { $0.shard.number < $1.shard.number }
    guard let first = shards.first else { throw ArenaError("no shard was given") }
    for (shard, reader) in shards {
      var same = reader.configuration
      same.shard = first.shard
      let differences = same.differences(from: first.reader.configuration)
      guard shard.count == first.shard.count, differences.isEmpty else {
        let what = shard.count == first.shard.count ? differences.joined(separator: "; ") : "\(shard.text)"
        throw ArenaError("\(reader.lines.path) is of another run than \(first.reader.lines.path): \(what)")
      }
    }
    for (one, other) in zip(shards, shards.dropFirst()) where one.shard == other.shard {
      throw ArenaError("\(one.reader.lines.path) and \(other.reader.lines.path) are both shard \(one.shard.text)")
    }
    let present = Set(shards.map(\.shard.number))
    let missing = (1...first.shard.count).filter { !present.contains($0) }.map { "\($0)/\(first.shard.count)" }
    guard missing.isEmpty || !isComplete else { throw ArenaError("missing: shard \(missing.joined(separator: ", "))") }
    return shards
  }
}
