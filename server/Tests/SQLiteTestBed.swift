import Foundation
import MatchProtocol
import TicTacToe

@testable import Lobby
@testable import MatchStore

/// Databases as other builds would have left them.
enum SQLiteTestBed {
  static func makeVersion1(at path: String) throws {
    let db = try SQLiteConnection(path, creates: true)
    try db.execute("CREATE TABLE schema (version INTEGER NOT NULL, min_reader INTEGER NOT NULL)")
    try db.execute(SQLiteMigrations.steps[0])
    try db.execute("INSERT INTO schema VALUES (1, 1)")
  }

  /// Matches as a build of version 1 wrote them.
  static func putVersion1(_ matches: [(MatchRecord, [StoredEvent])], at path: String) throws {
    let db = try SQLiteConnection(path)
    for (record, events) in matches {
      try db.run(
        "INSERT INTO match VALUES (?, ?, ?, ?, ?, ?, ?, ?)", .text(record.id.rawValue), .int(record.x), .int(record.o),
        .int(record.opener), .text(record.code), .int(record.created), .int(record.ended), .int(events.count))
      for event in events {
        try db.run(
          "INSERT INTO match_event VALUES (?, ?, ?, ?, ?)", .text(record.id.rawValue), .int(event.seq),
          .text(event.side?.text ?? ""), .text(event.mid), .blob(event.body))
      }
    }
  }

  static func schema(_ path: String) throws -> [Int] {
    let db = try SQLiteConnection(path)
    return try db.run("SELECT version, min_reader FROM schema") { [Int($0.int(0)), Int($0.int(1))] }.first ?? []
  }

  static func setSchema(_ path: String, version: Int, minReader: Int) throws {
    try SQLiteConnection(path).execute("UPDATE schema SET version = \(version), min_reader = \(minReader)")
  }

  /// A finished match and its log.
  static func aMatch() throws -> (MatchRecord, [StoredEvent]) {
    var record = MatchRecord(id: someID(3), x: 1, o: 2, created: 5)
    record.ended = 50
    let info = PlayerInfo(name: "Ann", rating: 1500, guest: false)
    let events = [
      MatchEvent(
        at: 1, .start(Sides(x: info, o: info), MatchTerms(), confirm: false, previous: nil, keys: [])),
      MatchEvent(at: 2, side: .x, mid: "a", .move(ply: 0, cell: CellName(Cell(4), in: .classic), spent: 3)),
      MatchEvent(at: 3, side: .o, mid: "b", .resign), MatchEvent(at: 3, .end(.win(.x), .resign, ratings: nil)),
    ]
    var state = MatchState(id: record.id)
    var stored: [StoredEvent] = []
    for event in events {
      let body = event.body
      try state.append(event, body: body)
      stored.append(StoredEvent(seq: state.seq, side: event.side, mid: event.mid, body: body))
    }
    return (record, stored)
  }
}
