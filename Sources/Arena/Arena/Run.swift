// Exports `ArenaFiles`, because functions of `Arena` throw its error `ArenaError`.
@_exported import ArenaFiles
import Base
import Foundation
import Opponents
import TicTacToe

package struct Run {
  package private(set) var configuration: RunConfiguration
  /// The number of concurrent games.
  package var threads: Int
  /// The path of the file of games; `nil` to write none.
  package var output: String?
  /// Whether the file at `output` is deleted by `removeTemporary`, and locked until then.
  package var isTemporary = false
  /// The writer of the temporary file; `nil` while this run has created none.
  private var temporary: GameFileWriter?
  package var picksHighlights = false
  /// Called five times a second.
  package var progress: ((RunProgress) -> Void)?
  /// Called with messages about a resumed file.
  package var notice: (String) -> Void = { _ in }
  /// Stops the run: games in progress are dropped, finished games are written.
  package var stop = StopSignal()
  /// The path of the program that runs as the guard of engines.
  package var guardExecutable: String
  private var recorded: (writer: GameFileWriter, reader: GameFileReader)?

  /// Starts each engine once to get its name, and hashes the players' files.
  package init(_ configuration: RunConfiguration, threads: Int, guardExecutable: String) throws(ArenaError) {
    self.configuration = try Run.greeted(Run.hashed(configuration), guardExecutable)
    self.threads = max(1, threads)
    self.guardExecutable = guardExecutable
    try configuration.validate()
  }

  /// Locks the file. `expecting` applies the command line's arguments to a copy of the file's configuration; throws if the copy then
  /// differs. Looks for players' files by name and hash in `folders`, the current folder and the folder of the file. Starts the file's
  /// programs, but only after everything except their names was compared.
  package init(
    resuming path: String, threads: Int, guardExecutable: String, folders: [String] = [],
    expecting change: (inout RunConfiguration) throws(ArenaError) -> Void = { (_) throws(ArenaError) in }
  ) throws(ArenaError) {
    let recorded = (writer: try GameFileWriter(continuing: path), reader: try GameFileReader(path))
    let written = recorded.reader.configuration
    var wanted = written
    // Marks the file's players, to find those that the command line does not give again.
    for index in wanted.entrants.indices { wanted.entrants[index].id = "\(index) of the file" }
    let marked = wanted.entrants
    try change(&wanted)
    var located: [Int] = []
    for index in wanted.entrants.indices {
      guard let place = marked.firstIndex(of: wanted.entrants[index]) else { continue }
      wanted.entrants[index] = written.entrants[place]
      located.append(index)
    }
    let places = folders + [".", URL(filePath: path).deletingLastPathComponent().path]
    let named = wanted.entrants
    for index in located { wanted.entrants[index] = try named[index].located(in: places) }
    func compare(_ configuration: RunConfiguration) throws(ArenaError) {
      // Compare without the folders of the players' files: a file with the right name and hash is the file that the header names, wherever
      // it is.
      var compared = configuration
      for index in located {
        compared.entrants[index].spec = named[index].spec
        compared.entrants[index].engine.folder = named[index].engine.folder
      }
      let differences = compared.differences(from: written)
      guard differences.isEmpty else {
        throw ArenaError("\(path) cannot be resumed: \(differences.joined(separator: "; "))")
      }
    }
    wanted = try Run.hashed(wanted)
    // Compare before a program is started, and again when the engines have said their names.
    var unnamed = wanted
    for (index, entrant) in zip(wanted.entrants.indices, written.entrants) { unnamed.entrants[index].id = entrant.id }
    try compare(unnamed)
    wanted = try Run.greeted(wanted, guardExecutable)
    try compare(wanted)
    configuration = wanted
    self.threads = max(1, threads)
    self.guardExecutable = guardExecutable
    output = path
    self.recorded = recorded
  }

  /// Starts each engine once to get its name.
  private static func greeted(
    _ configuration: RunConfiguration, _ guardExecutable: String
  ) throws(ArenaError) -> RunConfiguration {
    var result = configuration
    for index in result.entrants.indices where result.entrants[index].spec.isEngine {
      let client = EngineClient(configuration.recipe(of: index, guardExecutable), StopSignal())
      try client.start()
      result.entrants[index].id = client.id
      client.stop()
    }
    return result
  }

  /// Checks the files of matchboxes, and hashes the players' files.
  private static func hashed(_ configuration: RunConfiguration) throws(ArenaError) -> RunConfiguration {
    var result = configuration
    for index in result.entrants.indices {
      let spec = result.entrants[index].spec
      if case .menace(let file?) = spec { _ = try MatchboxFile.load(file) }
      result.entrants[index].files = try result.entrants[index].fileHashes()
      if spec.needsValue(in: result.variant) {
        result.entrants[index].values = try UltimateValueFile.sha256()
      }
    }
    return result
  }

  package var trace: EngineTrace?

  /// The player `menace` as it has learnt by the end of a match; `nil` unless exactly one of the two players is `menace`.
  package private(set) var trainedMenace: Menace?

  package mutating func play() throws(ArenaError) -> RunReport {
    let players = try Players(
      configuration, threads: threads, guardExecutable: guardExecutable, stop: stop, trace: trace)
    defer { players.stopEngines() }
    let state = RunState(configuration, picksHighlights: picksHighlights)
    let begun = monotonicMilliseconds()
    let writer = try openWriter()
    defer { if temporary == nil { writer?.close() } }
    var schedule = Schedule(configuration)
    var isWhole = true
    while isWhole, !state.isDecided, let stage = schedule.next() {
      state.begin(stage)
      let indices = stage.indices.clamped(to: configuration.indices ?? stage.indices)
      guard !indices.isEmpty else { continue }
      var replay = Replay(stage, indices, players, state)
      if let recorded, recorded.reader.isAtEnd == false {
        try replay.run(recorded.reader)
        if recorded.reader.isAtEnd { try resume(recorded) }
      }
      if stop.isSet {
        isWhole = false
      } else if !state.isDecided, replay.next < indices.upperBound {
        isWhole = try play(stage, replay, players, state, writer)
      }
      schedule.finish(stage, doubledPoints: state.doubledPoints)
    }
    if let recorded, isWhole, !recorded.reader.isAtEnd {
      guard try recorded.reader.next() == nil else {
        throw recorded.reader.lines.refusal("the run was over before this game")
      }
      try resume(recorded)
    }
    if isWhole || state.isDecided {
      state.close(schedule)
      try writeFooter(of: state, writer)
    } else {
      state.interrupt()
      try writer?.flush()
    }
    progress?(state.progress)
    var report = state.report
    report.highlights = try highlights(of: state)
    if configuration.entrants.count == 2 {
      let boxes = (0..<2).compactMap {
        players.learner($0, in: Pairing(a: 0, b: 1), isSecond: $0 == 1)?.player as? Menace
      }
      trainedMenace = boxes.count == 1 ? boxes[0] : nil
    }
    report.seconds = (monotonicMilliseconds() - begun) / 1000
    return report
  }

  private mutating func openWriter() throws(ArenaError) -> GameFileWriter? {
    if let recorded { return recorded.writer }
    guard let output else { return nil }
    let writer = try GameFileWriter(output, header: configuration.headerLine)
    if isTemporary { temporary = writer }
    return writer
  }

  /// If the file has a footer already, checks it instead.
  private func writeFooter(of state: RunState, _ writer: GameFileWriter?) throws(ArenaError) {
    if let reader = recorded?.reader, let footer = reader.footer {
      guard footer.text == reader.hash.sealed(state.footer) else {
        throw reader.lines.refusal("the footer is not that of these games")
      }
    } else {
      try writer?.finish(state.footer)
    }
  }

  private func highlights(of state: RunState) throws(ArenaError) -> [Highlight] {
    try (state.highlights?.chosen ?? []).map { (chosen) throws(ArenaError) in
      let game = chosen.line
      return Highlight(
        choices: chosen.choices.map(\.rawValue), game: game.index,
        drama: Drama.points(of: game.game, start: game.start, game.moves, configuration.variant),
        record: try PGNExport.record(game, configuration))
    }
  }

  /// Deletes the temporary file, unless it is another run's: this run has then created none.
  package mutating func removeTemporary() {
    guard let temporary, let output else { return }
    unlink(output)
    temporary.close()
    self.temporary = nil
  }

  /// Prepares the file, which was read to its end, for more games.
  private func resume(_ recorded: (writer: GameFileWriter, reader: GameFileReader)) throws(ArenaError) {
    let (path, reader) = (output ?? "", recorded.reader)
    if !reader.lines.rest.isEmpty {
      notice("\(path): dropped \(reader.lines.rest.count) bytes of a line that was cut off")
    }
    if reader.footer != nil { notice("\(path) is finished already") } else { try recorded.writer.go(on: reader) }
  }

  /// Returns whether the stage is complete.
  private func play(
    _ stage: Stage, _ replay: Replay, _ players: Players, _ state: RunState, _ writer: GameFileWriter?
  ) throws(ArenaError) -> Bool {
    if let reader = recorded?.reader, reader.footer != nil {
      throw reader.lines.refusal("the file ends before game \(replay.next)")
    }
    let counter = GameCounter(stage, configuration, state, writer)
    let consumer = GamePool.Consumer(prepare: counter.prepare) { (batch, summary) throws(ArenaError) in
      try counter.take(batch, summary)
      return !state.isDecided
    } progress: {
      progress?(state.progress)
    }
    let indices = replay.next..<replay.indices.upperBound
    let pool = GamePool(stage, indices: indices, known: replay.open, players: players, consumer: consumer)
    return try pool.run(threads: threads)
  }
}

/// Counts the games of a stage, whether they were just played or read from a file.
struct GameCounter {
  private let stage: Stage
  private let configuration: RunConfiguration
  private let state: RunState
  private let writer: GameFileWriter?
  private let picksHighlights: Bool

  init(_ stage: Stage, _ configuration: RunConfiguration, _ state: RunState, _ writer: GameFileWriter?) {
    (self.stage, self.configuration, self.state, self.writer) = (stage, configuration, state, writer)
    picksHighlights = state.highlights != nil
  }

  /// May be called from any thread.
  func prepare(_ batch: GameBatch) -> GameBatch.Summary {
    var summary = batch.counted(pairings: stage.pairings.count)
    if picksHighlights { summary.highlights = Highlights(batch, stage, configuration) }
    if let writer { summary.format(batch, stage, configuration, in: writer.emptyBuffer()) }
    return summary
  }

  /// Batches must come in order. If the test decides within the batch, only the games up to the deciding pair are written.
  func take(_ batch: GameBatch, _ prepared: GameBatch.Summary, isRecorded: Bool = false) throws(ArenaError) {
    state.take(batch, prepared, isRecorded: isRecorded)
    try writer?.write(batch, state.isDecided ? prepare(batch) : prepared)
  }
}

/// Counts and checks the games of a stage that a file already contains. Plays a game again if neither player is an engine or searches: a
/// difference reveals a changed file or program.
struct Replay {
  let indices: Range<Int>
  /// The index of the first game that was not counted.
  private(set) var next: Int
  /// The file's last game, at index `next`, if it is the first game of a pair. A resumed run plays the second game, and then counts both.
  private(set) var open: PlayedGame?

  private let stage: Stage
  private let players: Players
  private let state: RunState
  private let counter: GameCounter

  init(
    _ stage: Stage, _ indices: Range<Int>, _ players: Players, _ state: RunState, copyingTo copy: GameFileWriter? = nil
  ) {
    (self.stage, self.indices, self.players, self.state) = (stage, indices, players, state)
    counter = GameCounter(stage, players.configuration, state, copy)
    next = indices.lowerBound
  }

  mutating func run(_ reader: GameFileReader) throws(ArenaError) {
    let worker = Players.Worker(players)
    defer { worker.end() }
    while next < indices.upperBound, !reader.isAtEnd, !state.isDecided, !players.stop.isSet {
      let size = (next / GameBatch.size + 1) * GameBatch.size
      let batch = GameBatch(next..<min(size, indices.upperBound), parts: 0)
      var index = next
      while index < batch.indices.upperBound, let content = try reader.next() {
        try check(content, worker, reader)
        batch.set(index, PlayedGame(game: content.game, moves: content.moves, notes: content.notes))
        index += 1
      }
      if (index - next) % 2 == 1 {
        index -= 1
        open = batch.played(index)
      }
      batch.cut(to: index)
      guard !batch.indices.isEmpty else { return }
      try counter.take(batch, counter.prepare(batch), isRecorded: true)
      if state.isDecided, batch.indices.upperBound < index || open != nil {
        throw reader.lines.refusal("games after the end of the run")
      }
      next = index
    }
  }

  private func check(
    _ content: GameLine.Content, _ worker: Players.Worker, _ reader: GameFileReader
  ) throws(ArenaError) {
    let game = stage.game(content.index)
    guard content.x == game.x, content.o == game.o else {
      throw reader.lines.refusal("the game's players are not those of the header")
    }
    switch players.configuration.variant {
    case .classic: try check(content, Classic.self, worker, reader)
    case .infinite: try check(content, Infinite.self, worker, reader)
    case .misere: try check(content, Misere.self, worker, reader)
    case .ultimate: try check(content, Ultimate.self, worker, reader)
    }
  }

  private func check<R: ArenaRules>(
    _ content: GameLine.Content, _ rules: R.Type, _ worker: Players.Worker, _ reader: GameFileReader
  ) throws(ArenaError) {
    let (configuration, game) = (players.configuration, stage.game(content.index))
    let tables = gameOfTables(content.index, worker)
    if tables == content.game, content.start == configuration.openings.start(pair: game.opening) { return }
    let opening = configuration.openings.opening(pair: game.opening, seed: configuration.seed, R.self)
    let moves = content.anyMoves
    if let fault = R.fault(in: moves, content.game, opening: opening, configuration.adjudication) {
      throw reader.lines.refusal(fault)
    }
    if tables == nil {
      let specs = [game.x, game.o].map { configuration.entrants[$0].spec }
      let isPlayedAgain = !specs.contains { $0.isEngine || $0.isSearch(in: R.variant) }
      guard isPlayedAgain || specs.contains(where: { $0.isLearner(in: R.variant) }) else { return }
      let (a, b) = try worker.players(of: stage.pairings[game.pairing], R.self)
      let (x, o) = game.isSwapped ? (b, a) : (a, b)
      guard isPlayedAgain else {
        x.learn(from: moves.cells, opening, as: .x, content.game.outcome)
        o.learn(from: moves.cells, opening, as: .o, content.game.outcome)
        return
      }
      var generator = SplitMix64(seed: configuration.seed, index: UInt64(content.index))
      let again = try R.playGame(
        x: x, o: o, opening: opening, adjudication: configuration.adjudication, stop: players.stop, using: &generator)
      if again?.moves == content.moves && again?.game == content.game || players.stop.isSet { return }
    }
    throw reader.lines.refusal("the game differs from the one of these players and this seed")
  }

  private func gameOfTables(_ index: Int, _ worker: Players.Worker) -> PackedGame? {
    let (configuration, game) = (players.configuration, stage.game(index))
    guard let (a, b) = worker.tables(of: stage.pairings[game.pairing]) else { return nil }
    if a.isRandom, b.isRandom, configuration.openings == .none {
      return worker.random.play(seed: configuration.seed, index: UInt64(index))
    }
    let opening = configuration.openings.opening(pair: game.opening, seed: configuration.seed, Classic.self)
    let (x, o) = game.isSwapped ? (b, a) : (a, b)
    var generator = SplitMix64(seed: configuration.seed, index: UInt64(index))
    return playTables(x, o, opening, using: &generator)
  }
}
