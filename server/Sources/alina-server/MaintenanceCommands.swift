import ArgumentParser
import Foundation
import Lobby
import MatchStore
import SQLiteStore
import PostgresStore
import ServerTransport

struct DataOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("Folder of the database (default: $XDG_DATA_HOME/alina).", valueName: "dir"))
  var data: String?
  @Option(
    help: ArgumentHelp("PostgreSQL database instead of the folder (default: none).", valueName: "postgres://…"))
  var store: String?

  var database: String {
    ServerConfiguration.database(in: data ?? ServeOptions.defaultFolder)
  }

  private var address: PGAddress? {
    get throws {
      var address = try store.map { try PGAddress($0) }
      // These commands play no games, so they accept a database that may lose acknowledged data.
      address?.allowsLossyFailover = true
      return address
    }
  }

  /// Throws if there is no store, instead of creating an empty one.
  func opened() throws -> any MatchStore {
    if let address = try address { return try PostgresStore(address) }
    guard FileManager.default.fileExists(atPath: database) else {
      throw StoreError.unusable("there is no database \(database)")
    }
    return try SQLiteStore(path: database)
  }

  /// Fills an empty store; an SQLite file is created if missing.
  func filled<T>(_ fill: (any MatchStore) throws -> T) throws -> T {
    guard let address = try address else { return try SQLiteStore.make(database, by: fill) }
    let store = try PostgresStore(address)
    defer { store.close() }
    try store.requireNoNode()
    return try fill(store)
  }

  /// Throws for a PostgreSQL database; the error names the PostgreSQL tool that copies a database in use.
  func requireFile(_ tool: String) throws {
    guard let address = try address else { return }
    throw ConfigurationError(text: "\(address.description) is a PostgreSQL database: copy it with \(tool)")
  }
}

struct Backup: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Copy the database to a new file; the server may be running.")
  @OptionGroup var options: DataOptions
  @Argument(help: "The file to make.") var file: String

  func run() throws {
    try options.requireFile("pg_dump --format=custom, also while servers run, or archive its log (PITR)")
    try SQLiteStore.backup(of: options.database, to: file)
    try confirm("backed up to \(file)")
  }
}

struct Restore: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract:
      "Check a backup and make it the database; the server must be stopped, and the old database is kept under another name."
  )
  @OptionGroup var options: DataOptions
  @Argument(help: "The file made by backup.") var file: String

  func run() throws {
    try options.requireFile("pg_restore into an empty database, with the servers stopped")
    let aside = try SQLiteStore.restore(file, to: options.database)
    try confirm("restored \(options.database)" + (aside.map { "; the old database is \($0)" } ?? ""))
  }
}

struct Export: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Write accounts and matches as lines of JSON, each log with its hash.",
    discussion: "A server that has the database as a file must be stopped; one on PostgreSQL may be running.")
  @OptionGroup var options: DataOptions
  @Argument(help: "The file to make; - is standard output.") var file: String

  func run() throws {
    let store = try options.opened()
    defer { store.close() }
    let summary =
      if file == "-" {
        try StoreArchive.export(store) { try writeOut($0) }
      } else {
        try NewFile.make(file) { path in
          guard
            FileManager.default.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o600]),
            let out = FileHandle(forWritingAtPath: path)
          else { throw StoreError.unusable("cannot make \(file): \(String(cString: strerror(errno)))") }
          do { return try StoreArchive.export(store) { try out.write(contentsOf: $0) } } catch let error as CocoaError {
            throw StoreError.unusable("cannot write \(file): \(error.localizedDescription)")
          }
        }
      }
    for (m, why) in summary.broken.sorted(by: { $0.key < $1.key }) {
      LineWriter.write("alina-server: match \(m) is broken and left out: \(why)\n".utf8, to: STDERR_FILENO)
    }
    let text = "exported \(summary.accounts) accounts, \(summary.matches) matches, \(summary.events) events\n"
    LineWriter.write(text.utf8, to: STDERR_FILENO)
  }
}

struct Import: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Read an export into an empty database that no server uses; every log is replayed and its hash checked.")
  @OptionGroup var options: DataOptions
  @Argument(help: "The file made by export.") var file: String

  func run() throws {
    let summary = try options.filled { try StoreArchive.load(StoreArchive.lines(of: file), into: $0) }
    try confirm("imported \(summary.accounts) accounts, \(summary.matches) matches, \(summary.events) events")
  }
}

struct Forget: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Remove a player's name and token. (A running server: POST /players/NAME/forget.)",
    discussion: """
      A server that has the database as a file must be stopped; one on PostgreSQL may be running. \
      The logs of past matches keep the name they were played under, because their hashes do.
      """)
  @OptionGroup var options: DataOptions
  @Argument(help: "The player's name.") var name: String

  func run() throws {
    let store = try options.opened()
    defer { store.close() }
    guard case .change(.changed) = try store.answer(.change(.name(name), .forget)) else {
      throw StoreError.unusable("there is no player \(name)")
    }
    // The running server's nodes do not know of this change. After a comparison they close the player's connections and use the new name.
    try store.requestComparison()
    try confirm("forgot \(name)")
  }
}

struct Token: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Issue a new token for a player who has lost the old one. (A running server: POST /players/NAME/token.)",
    discussion: """
      A server that has the database as a file must be stopped; one on PostgreSQL may be running. \
      The old token ends. Make sure that it is the player who asks: nothing but the token is needed to log in.
      """)
  @OptionGroup var options: DataOptions
  @Argument(help: "The player's name.") var name: String

  func run() throws {
    let store = try options.opened()
    defer { store.close() }
    let token = IssuedToken(for: name)
    guard case .change(let result) = try store.answer(token.question) else { return }
    if let why = token.refusal(of: result) { throw StoreError.unusable(why) }
    try writeOut(
      "\(token.text)\n".utf8, done: "the old token of \(name) has ended and the new one is lost, so issue another: ")
  }
}
