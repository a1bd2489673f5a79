import Records
import ScoreModel
import Testing
import TicTacToe

@testable import Session

/// Where games are kept.
@Suite struct GameStoreTests {
  /// A folder in memory.
  private final class Files: @unchecked Sendable {
    var content: [String: [UInt8]] = [:]
    var isFull = false
    var writes = 0
    var taken: Set<String> = []
    var store: GameStore {
      GameStore(
        folder: "games", read: { self.content[$0] },
        write: { path, bytes in
          if self.isFull { return false }
          self.writes += 1
          self.content[path] = bytes
          return true
        }, lock: { self.taken.insert($0).inserted })
    }
  }

  /// Work for another thread, done when the test says.
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

  @Test("An unfinished game is found again under its name, a finished one is not")
  func unfinished() throws {
    let files = Files()
    #expect(try files.store.unfinished() == nil)
    let begun = try record([4, 0])
    #expect(files.store.save(begun, as: "a"))
    let found = try #require(try files.store.unfinished())
    #expect(found.name == "a" && found.record == begun)
    files.store.save(try record([4, 0, 1, 2, 7]), as: "a")
    #expect(try files.store.unfinished() == nil)
  }

  @Test("A damaged file is copied aside, named once and not asked for again")
  func damaged() throws {
    let files = Files()
    files.store.save(try record([4]), as: "a")
    files.content["games/a.pgn"] = Array("1. b2 b2 *".utf8)
    #expect(throws: GameStore.Damaged.self) { try files.store.unfinished() }
    #expect(files.content["games/a.pgn.damaged"] == Array("1. b2 b2 *".utf8))
    #expect(try files.store.unfinished() == nil)
  }

  @Test("A marker that leads out of the folder is not followed")
  func hostileMarker() throws {
    let files = Files()
    files.content["games/unfinished"] = Array("../../etc/passwd\n".utf8)
    #expect(throws: GameStore.Damaged.self) { try files.store.unfinished() }
  }

  @Test("A full disk is reported and nothing is half-written")
  func fullDisk() throws {
    let files = Files()
    files.isFull = true
    #expect(!files.store.save(try record([4]), as: "a"))
    #expect(files.content.isEmpty)
  }

  @Test("A game that one window plays is not taken up by another, nor is its file written by two")
  func locked() throws {
    let files = Files()
    files.store.save(try record([4, 0]), as: "a")
    #expect(try files.store.unfinished()?.name == "a")
    #expect(try files.store.unfinished() == nil)
    #expect(!files.store.take("a") && files.store.take("b"))
  }

  @Test("A move is written by a worker, one file a move, the newest wins, and it counts as kept once it is there")
  func keeping() throws {
    let (files, workers) = (Files(), Workers())
    let keeper = GameKeeper(files.store) { workers.work.append($0) }
    keeper.keep(.init(try record([4]), as: "a", isResumable: true))
    keeper.keep(.init(try record([4, 0]), as: "a", isResumable: true))
    #expect(files.writes == 0 && workers.work.count == 1)
    workers.run()
    #expect(files.writes == 2)  // the game, and which one it is
    #expect(try files.store.unfinished()?.record.game.moves.count == 2)
    keeper.keep(.init(try record([4, 0, 8]), as: "a", isResumable: true))
    workers.run()
    #expect(files.writes == 3 && keeper.failures == 0)
  }

  @Test("What a disk refuses is not kept, is told of, and is written when it can be")
  func refused() throws {
    let (files, workers) = (Files(), Workers())
    let keeper = GameKeeper(files.store) { workers.work.append($0) }
    files.isFull = true
    keeper.keep(.init(try record([4]), as: "a", isResumable: true))
    workers.run()
    #expect(keeper.failures == 1 && files.content.isEmpty)
    keeper.retry()
    workers.run()
    #expect(keeper.failures == 2)
    files.isFull = false
    keeper.retry()
    workers.run()
    #expect(keeper.failures == 0 && files.content["games/a.pgn"] != nil)
    keeper.keep(.init(try record([4, 0]), as: "a", isResumable: true))
    keeper.flush()
    #expect(try files.store.unfinished()?.record.game.moves.count == 2)
    workers.run()
  }
}
