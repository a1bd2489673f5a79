import Base
import Glibc
import Processes
import Synchronization

enum FileAccess {
  /// 64 MiB: a huge file that the player drops on the window must not exhaust the memory.
  static let largestRead = 64 << 20

  /// `nil` if the file cannot be read, is larger than `largestRead`, or is not a regular file.
  static func read(_ path: String) -> [UInt8]? {
    guard let file = fopen(path, "re") else { return nil }
    defer { fclose(file) }
    var status = stat()
    guard fstat(fileno(file), &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size <= largestRead else {
      return nil
    }
    var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
    let count = fread(&bytes, 1, bytes.count, file)
    bytes.removeLast(bytes.count - count)
    return bytes
  }

  /// Replaces a file atomically and creates its folder if needed.
  static func write(_ path: String, _ bytes: [UInt8]) throws(WriteFault) {
    do throws(AtomicFile.Refusal) {
      do throws(AtomicFile.Refusal) { try AtomicFile.write(bytes, to: path) } catch {
        guard error.number == ENOENT, let slash = path.lastIndex(of: "/"), makeFolder(String(path[..<slash])) else {
          throw error
        }
        try AtomicFile.write(bytes, to: path)
      }
    } catch { throw WriteFault(error.number) }
  }

  /// A number that changes whenever a file is written or replaced; `nil` without a file.
  static func stamp(_ path: String) -> UInt64? {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    let parts = [Int(status.st_ino), status.st_mtim.tv_sec, status.st_mtim.tv_nsec, Int(status.st_size)]
    return UInt64(bitPattern: Int64(parts.hashValue))
  }

  /// The names in a folder except hidden ones, unordered.
  static func list(_ path: String) -> [String] {
    guard let folder = opendir(path) else { return [] }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = readdir(folder) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      if !name.hasPrefix(".") { names.append(name) }
    }
    return names
  }

  /// Creates a folder and its parents; `true` also if the folder exists.
  @discardableResult
  static func makeFolder(_ path: String) -> Bool {
    if mkdir(path, 0o755) == 0 || errno == EEXIST { return true }
    guard errno == ENOENT, let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return false }
    return makeFolder(String(path[..<slash])) && (mkdir(path, 0o755) == 0 || errno == EEXIST)
  }

  /// Creates the folder `alina` in `xdgBase`. Empty without a home folder: in a shared folder others could read the player's tokens.
  static func xdgFolder(_ variable: String, fallback: String) -> String {
    guard let folder = xdgBase(variable, fallback: fallback).map({ "\($0)/alina" }) else { return "" }
    makeFolder(folder)
    return folder
  }

  /// The folder that `variable` names, else the folder `fallback` in the home folder; `nil` if neither is an absolute path.
  static func xdgBase(_ variable: String, fallback: String) -> String? {
    func absolute(_ path: String?) -> String? { path.flatMap { $0.hasPrefix("/") ? $0 : nil } }
    return absolute(environment(variable)) ?? absolute(home).map { "\($0)/\(fallback)" }
  }

  static var home: String? {
    environment("HOME") ?? getpwuid(getuid()).flatMap { $0.pointee.pw_dir }.map { String(cString: $0) }
  }

  /// `nil` if the variable is unset or empty.
  static func environment(_ name: String) -> String? {
    guard let value = getenv(name), value.pointee != 0 else { return nil }
    return String(cString: value)
  }
}

extension WriteFault {
  /// The fault for an `errno`.
  package init(_ number: Int32) {
    switch number {
    case ENOSPC, EDQUOT, EFBIG: self = .noRoom
    case EACCES, EPERM, EROFS, ENOENT, ENOTDIR: self = .notAllowed
    default: self = .other
    }
  }
}

/// The locks that a window holds on files. Every write replaces a file, so a lock on the file itself would be lost. Therefore one byte of
/// the folder's file `.lock`, chosen by a hash of the file's name, stands for the file.
final class LockFiles: Sendable {
  private let descriptors = Mutex<[String: Int32]>([:])

  deinit { for descriptor in descriptors.withLock({ $0.values }) { close(descriptor) } }

  /// Locks a path until `release` or the end of the process; `false` if another window holds the lock. `true` where locking is impossible.
  func take(_ path: String) -> Bool { set(F_WRLCK, path) }

  func release(_ path: String) { _ = set(F_UNLCK, path) }

  private func set(_ kind: Int32, _ path: String) -> Bool {
    guard let slash = path.lastIndex(of: "/"), let descriptor = descriptor(of: String(path[..<slash])) else {
      return true
    }
    var range = flock()
    (range.l_type, range.l_whence, range.l_len) = (Int16(kind), Int16(SEEK_SET), 1)
    range.l_start = off_t(path[slash...].utf8.reduce(0) { ($0 &* 31 &+ Int($1)) & 0xFFFF_FFFF_FFFF })
    let setOwnLock: Int32 = 37  // F_OFD_SETLK, which Glibc's module leaves out
    return fcntl(descriptor, setOwnLock, &range) == 0 || errno != EAGAIN && errno != EACCES
  }

  private func descriptor(of folder: String) -> Int32? {
    descriptors.withLock { descriptors in
      if let known = descriptors[folder] { return known }
      FileAccess.makeFolder(folder)
      let opened = open("\(folder)/.lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
      guard opened >= 0 else { return nil }
      descriptors[folder] = opened
      return opened
    }
  }
}
