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
  private let session: Mutex<Session>

  private struct Session {
    /// The open lock file, or −1.
    var lock: Int32
    /// Whether this client may use the saved tokens. Two windows with one session would end each other's connection in turn, so the second
    /// window logs in as a new guest and stores no tokens.
    var isOurs: Bool
  }

  /// An unprotected connection (`isExposed`), which others can read, has its own file of tokens. Without `hasSession` only the server's
  /// certificate is remembered, and the saved session stays free for another window.
  init(_ folder: String, host: String, port: Int, isExposed: Bool = false, hasSession: Bool = true) {
    self.folder = folder
    server = "\(host):\(port)"
    let name =
      String(server.map { $0.isLetter || $0.isNumber || $0 == "." || $0 == "-" ? $0 : "_" })
      + (isExposed ? ".plain" : "")
    credentialsFile = "\(folder)/servers/\(name).json"
    ClientFolder.makeFolder(of: credentialsFile)
    let lock = hasSession ? open("\(folder)/servers/\(name).lock", O_CREAT | O_RDWR | O_CLOEXEC, 0o600) : -1
    let isOurs = hasSession && (lock < 0 || flock(lock, LOCK_EX | LOCK_NB) == 0)
    session = Mutex(Session(lock: lock, isOurs: isOurs))
  }

  deinit { release() }

  /// Leaves the saved session to the next client. From then on this object neither reads nor saves tokens.
  func release() {
    session.withLock { session in
      if session.lock >= 0 { close(session.lock) }
      session = Session(lock: -1, isOurs: false)
    }
  }

  private let credentialsFile: String
  private var knownFile: String { "\(folder)/known_servers" }

  /// The tokens for this server; `nil` if there are none, or another client has the session.
  var credentials: Credentials? {
    guard session.withLock({ $0.isOurs }), let data = FileManager.default.contents(atPath: credentialsFile) else {
      return nil
    }
    return try? JSONDecoder().decode(Credentials.self, from: data)
  }

  /// Saves the tokens with mode 0600; false if that failed. If another client has the session: true, without saving.
  func save(_ credentials: Credentials) -> Bool {
    session.withLock { session in
      guard session.isOurs, let data = try? JSONEncoder().encode(credentials) else { return !session.isOurs }
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
      session.withLock { _ in
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
