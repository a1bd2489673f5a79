import Foundation
import Processes
import Synchronization

/// Stored data about one server: the fingerprint in `known_servers`, and the tokens in a file that only the owner can read.
final class ClientFolder: Sendable {
  struct Credentials: Codable, Equatable {
    var token: String?
    /// The registered name that the token belongs to.
    var account: String?
    var guest: String?
    var resume: String?
  }

  private let folder: String
  private let server: String
  private let lock = Mutex(())
  /// The open lock file, or −1.
  private let sessionLock: Int32
  /// Whether another program of this user has the saved session. Two windows with one session would end each other's connection in turn, so
  /// the second window logs in as a new guest and stores no tokens.
  private let isTaken: Bool

  /// An unprotected connection (`isExposed`), which others can read, has its own file of tokens.
  init(_ folder: String, host: String, port: Int, isExposed: Bool = false) {
    self.folder = folder
    server = "\(host):\(port)"
    let name =
      String(server.map { $0.isLetter || $0.isNumber || $0 == "." || $0 == "-" ? $0 : "_" })
      + (isExposed ? ".plain" : "")
    credentialsFile = "\(folder)/servers/\(name).json"
    ClientFolder.makeFolder(of: credentialsFile)
    let file = open("\(folder)/servers/\(name).lock", O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
    isTaken = file >= 0 && flock(file, LOCK_EX | LOCK_NB) != 0
    sessionLock = file
  }

  deinit { if sessionLock >= 0 { close(sessionLock) } }

  private let credentialsFile: String
  private var knownFile: String { "\(folder)/known_servers" }

  /// The tokens for this server; `nil` if there are none, or another program has the session.
  var credentials: Credentials? {
    guard !isTaken, let data = FileManager.default.contents(atPath: credentialsFile) else { return nil }
    return try? JSONDecoder().decode(Credentials.self, from: data)
  }

  /// Saves the tokens with mode 0600; false if that failed. If another program has the session: true, without saving.
  func save(_ credentials: Credentials) -> Bool {
    lock.withLock { _ in
      guard !isTaken, let data = try? JSONEncoder().encode(credentials) else { return isTaken }
      return write(data, to: credentialsFile)
    }
  }

  /// The fingerprint of the server's certificate at the first connection, if no authority had signed this certificate.
  var pin: String? {
    get { entry.flatMap { $0 == "verified" ? nil : $0 } }
    set { if let newValue, newValue != entry { entry = newValue } }
  }

  /// Whether an authority had signed the server's certificate at an earlier connection. A later certificate without a signature is refused.
  var wasVerified: Bool { entry == "verified" }

  func rememberVerified() { if entry == nil { entry = "verified" } }

  private var entry: String? {
    get { lines.last { $0.first == server }.flatMap { $0.count > 1 ? $0[1] : nil } }
    set {
      lock.withLock { _ in
        var rest = lines.filter { $0.first != server }
        if let newValue { rest.append([server, newValue]) }
        _ = write(Data(rest.map { $0.joined(separator: " ") + "\n" }.joined().utf8), to: knownFile)
      }
    }
  }

  private var lines: [[String]] {
    guard let data = FileManager.default.contents(atPath: knownFile) else { return [] }
    return String(decoding: data, as: UTF8.self).split(separator: "\n").map {
      $0.split(separator: " ").map(String.init)
    }
  }

  private static func makeFolder(of path: String) {
    try? FileManager.default.createDirectory(
      atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700])
  }

  private func write(_ data: Data, to path: String) -> Bool {
    ClientFolder.makeFolder(of: path)
    return (try? AtomicFile.write(Array(data), to: path, mode: 0o600)) != nil
  }
}
