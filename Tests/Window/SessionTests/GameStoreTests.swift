import Base
import Records
import ScoreModel
import Testing
import TicTacToe

@testable import Session

@Suite struct GameStoreTests {
  /// A folder in memory, with the names locked by other windows.
  private final class Files: @unchecked Sendable {
    var content: [String: [UInt8]] = [:]
    var fault: WriteFault?
    /// Paths that cannot be written.
    var refused: Set<String> = []
    var writes = 0
    var owners: [String: Int] = [:]
    var store: GameStore { store(window: 1) }

    func store(window: Int) -> GameStore {
      var files = FileFunctions(
        locks: FileLocks(
          take: { path in
            if self.owners[path] == nil { self.owners[path] = window }
            return self.owners[path] == window
          },
          release: { if self.owners[$0] == window { self.owners[$0] = nil } }))
      files.read = { self.content[$0] }
      files.write = { (path, bytes) throws(WriteFault) in
        if let fault = self.fault { throw fault }
        if self.refused.contains(path) { throw .notAllowed }
        self.writes += 1
        self.content[path] = bytes
      }
      files.list = { folder in
        self.content.keys.filter { $0.hasPrefix(folder + "/") }.map { String($0.dropFirst(folder.count + 1)) }
      }
      files.delete = { self.content.removeValue(forKey: $0) != nil }
      return GameStore(folder: "games", files: files)
    }
  }

  /// The work runs when the test calls for it, instead of on another thread.
  private final class Workers: @unchecked Sendable {
    var work: [@Sendable () -> Void] = []
    func run() {
      let due = work
      work = []
      for body in due { body() }
    }
  }

  private func record(_ squares: [Int]) throws -> Record {
    var game = Game()
    for square in squares { try game.play(Square(square)) }
    return Record(game: game)
  }

  private static let won = [4, 0, 1, 2, 7]

  @Test("An unfinished game is found under its name, a finished one is not")
  func unfinished() throws {
    let files = Files()
    #expect(try files.store.unfinished() == nil)
    let begun = try record([4, 0])
    try files.store.save(begun, as: "a", isResumable: true)
    let found = try #require(try files.store.unfinished())
    #expect(found.name == "a" && found.record == begun)
    try files.store.save(try record(GameStoreTests.won), as: "a", isResumable: true)
    #expect(try files.store.unfinished() == nil)
  }

  @Test("A game marked by an older version is found, and its marker is removed at the game's end")
  func oldMarker() throws {
    let files = Files()
    files.content["games/a.pgn"] = Array(try record([4]).text.utf8)
    files.content["games/unfinished"] = Array("a\n".utf8)
    #expect(try files.store.unfinished()?.name == "a")
    try files.store.save(try record(GameStoreTests.won), as: "a", isResumable: true)
    #expect(files.content["games/unfinished"] == nil)
  }

  @Test("When a window ends its game, another window's unfinished game can be resumed")
  func twoWindows() throws {
    let files = Files()
    let (one, other) = (files.store(window: 1), files.store(window: 2))
    #expect(one.take("a") && other.take("b"))
    try one.save(try record([4, 0]), as: "a", isResumable: true)
    try other.save(try record([4]), as: "b", isResumable: true)
    try other.save(try record(GameStoreTests.won), as: "b", isResumable: true)
    one.release("a")
    #expect(try files.store(window: 3).unfinished()?.name == "a")
  }

  @Test("Of two unfinished games a second window resumes the game that the first window has not opened")
  func secondWindow() throws {
    let files = Files()
    for name in ["a", "b"] { try files.store.save(try record([4]), as: name, isResumable: true) }
    #expect(try files.store(window: 1).unfinished()?.name == "b")
    #expect(try files.store(window: 2).unfinished()?.name == "a")
    #expect(try files.store(window: 3).unfinished() == nil)
  }

  @Test("A damaged file is copied aside, reported once and not read again")
  func damaged() throws {
    let files = Files()
    try files.store.save(try record([4]), as: "a", isResumable: true)
    files.content["games/a.pgn"] = Array("1. b2 b2 *".utf8)
    #expect(throws: GameStore.Damaged.self) { try files.store.unfinished() }
    #expect(files.content["games/a.pgn.damaged"] == Array("1. b2 b2 *".utf8))
    #expect(try files.store.unfinished() == nil)
  }

  @Test("A marker without a game is removed, and a marker that names a file outside the folder is ignored")
  func strayMarkers() throws {
    let files = Files()
    files.content["games/unfinished"] = Array("../../etc/passwd\n".utf8)
    files.content["games/gone.unfinished"] = []
    #expect(try files.store.unfinished() == nil)
    #expect(files.content["games/gone.unfinished"] == nil && files.owners.keys.allSatisfy { !$0.contains("..") })
  }

  @Test("A full disk is reported, and no partial file is left")
  func fullDisk() throws {
    let files = Files()
    files.fault = .noRoom
    #expect(throws: WriteFault.noRoom) { try files.store.save(try record([4]), as: "a", isResumable: true) }
    #expect(files.content.isEmpty)
  }

  @Test("A new game avoids names in use by other windows or files")
  func newNames() throws {
    let files = Files()
    try files.store.save(try record([4, 0]), as: "a", isResumable: true)
    #expect(!files.store.takeNew("a") && files.store.takeNew("b"))
    #expect(!files.store(window: 2).takeNew("b"))
  }

  @Test("A worker writes one file per move, the newest record wins, and a move counts as saved once written")
  func keeping() throws {
    let (files, workers) = (Files(), Workers())
    let keeper = GameKeeper(files.store) { workers.work.append($0) }
    keeper.keep(.init(try record([4]), as: "a", isResumable: true))
    keeper.keep(.init(try record([4, 0]), as: "a", isResumable: true))
    #expect(files.writes == 0 && workers.work.count == 1)
    workers.run()
    #expect(files.writes == 2)  // the game and its marker
    #expect(try files.store.unfinished()?.record.game.moves.count == 2)
    keeper.keep(.init(try record([4, 0, 8]), as: "a", isResumable: true))
    workers.run()
    #expect(files.writes == 3 && keeper.failures.count == 0)
  }

  @Test("A failed write is not counted as saved, is reported with the reason, and is repeated when possible")
  func refused() throws {
    let (files, workers) = (Files(), Workers())
    let keeper = GameKeeper(files.store) { workers.work.append($0) }
    files.fault = .noRoom
    keeper.keep(.init(try record([4]), as: "a", isResumable: true))
    workers.run()
    #expect(keeper.failures == (1, .noRoom) && files.content.isEmpty)
    keeper.retry()
    workers.run()
    #expect(keeper.failures.count == 2)
    files.fault = nil
    keeper.retry()
    workers.run()
    #expect(keeper.failures.count == 0 && files.content["games/a.pgn"] != nil)
    keeper.keep(.init(try record([4, 0]), as: "a", isResumable: true))
    keeper.flush()
    #expect(try files.store.unfinished()?.record.game.moves.count == 2)
    workers.run()
  }

  @Test("A finished game refused by a full disk is written later, even after the next game has started")
  func queued() throws {
    let (files, workers) = (Files(), Workers())
    let keeper = GameKeeper(files.store) { workers.work.append($0) }
    files.fault = .noRoom
    keeper.keep(.init(try record(GameStoreTests.won), as: "a", isResumable: true))
    workers.run()
    keeper.keep(.init(try record([4]), as: "b", isResumable: true))
    workers.run()
    files.fault = nil
    files.refused = ["games/a.pgn"]
    keeper.retry()
    workers.run()
    #expect(files.content["games/b.pgn"] != nil && keeper.failures.count > 0, "one that is refused holds up no other")
    files.refused = []
    keeper.retry()
    workers.run()
    #expect(files.content["games/a.pgn"] != nil && keeper.failures.count == 0)
    #expect(try files.store.unfinished()?.name == "b")
  }

  @Test("A saved copy is not resumed in place of the running game")
  func copy() throws {
    let (files, workers) = (Files(), Workers())
    let keeper = GameKeeper(files.store) { workers.work.append($0) }
    keeper.keep(.init(try record([4]), as: "a", isResumable: true))
    workers.run()
    try keeper.save(try record([4, 0]), as: "b")
    #expect(try files.store.unfinished()?.name == "a" && files.content["games/b.unfinished"] == nil)
  }

  @Test("An abandoned game is not resumed, and a deleted one is not written again")
  func left() throws {
    let (files, workers) = (Files(), Workers())
    let keeper = GameKeeper(files.store) { workers.work.append($0) }
    for name in ["a", "b"] {
      #expect(files.store.take(name))
      keeper.keep(.init(try record([4]), as: name, isResumable: true))
      workers.run()
    }
    #expect(try files.store(window: 2).unfinished() == nil && files.owners["games/a"] == nil)
    keeper.keep(.init(try record([4, 0]), as: "b", isResumable: true))
    #expect(keeper.delete("b"))
    workers.run()
    #expect(files.content.keys.sorted() == ["games/a.pgn"])
  }
}
