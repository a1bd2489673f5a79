import Glibc

/// Files and folders as the platform services offer them: whole reads, atomic writes, XDG places.
enum FileAccess {
  /// Nothing the window reads is larger; a drop of something huge must not fill the memory.
  static let largestRead = 64 << 20

  /// A file's bytes; `nil` where it is no regular file, cannot be read or is larger than `largestRead`.
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

  /// Replaces a file as a whole or not at all, making its folder where needed: a kill at any moment leaves the old bytes or the new ones.
  static func write(_ path: String, _ bytes: [UInt8]) -> Bool {
    let temporary = "\(path).\(getpid()).new"
    var created = fopen(temporary, "we")
    if created == nil, errno == ENOENT, let slash = path.lastIndex(of: "/"), makeFolder(String(path[..<slash])) {
      created = fopen(temporary, "we")
    }
    guard let file = created else { return false }
    let isWritten = fwrite(bytes, 1, bytes.count, file) == bytes.count && fflush(file) == 0
    // Data before name: a crash of the machine must not leave an empty file under the old name.
    let isSafe = fsync(fileno(file)) == 0
    guard fclose(file) == 0, isWritten, isSafe, rename(temporary, path) == 0 else {
      unlink(temporary)
      return false
    }
    return true
  }

  /// Takes a file for this process until it ends; false where another process has it. A lock that cannot be had at all
  /// (a file system without them) is no reason not to play.
  static func lock(_ path: String) -> Bool {
    guard let slash = path.lastIndex(of: "/") else { return true }
    makeFolder(String(path[..<slash]))
    // One file a folder holds all its locks, a byte each, so that none is left behind for every name there ever was; not the
    // file itself, which every write replaces.
    let file = open("\(path[..<slash])/.lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
    var range = flock()
    (range.l_type, range.l_whence, range.l_len) = (Int16(F_WRLCK), Int16(SEEK_SET), 1)
    range.l_start = off_t(path[slash...].utf8.reduce(0) { ($0 &* 31 &+ Int($1)) & 0xFFFF_FFFF_FFFF })
    let setOwnLock: Int32 = 37  // F_OFD_SETLK, which Glibc's module leaves out
    guard file >= 0, fcntl(file, setOwnLock, &range) != 0, errno == EAGAIN || errno == EACCES else { return true }
    close(file)
    return false
  }

  /// A number that changes whenever a file is written or replaced; `nil` where there is none.
  static func stamp(_ path: String) -> UInt64? {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    let parts = [Int(status.st_ino), status.st_mtim.tv_sec, status.st_mtim.tv_nsec, Int(status.st_size)]
    return UInt64(bitPattern: Int64(parts.hashValue))
  }

  /// The names in a folder but those that begin with a dot, in no order.
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

  /// Makes a folder and those above it; false where that failed.
  @discardableResult
  static func makeFolder(_ path: String) -> Bool {
    if mkdir(path, 0o755) == 0 || errno == EEXIST { return true }
    guard errno == ENOENT, let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return false }
    return makeFolder(String(path[..<slash])) && (mkdir(path, 0o755) == 0 || errno == EEXIST)
  }

  /// `$variable/alina`, or `alina` in the fallback under the home folder; XDG says relative values are ignored.
  static func xdgFolder(_ variable: String, fallback: String) -> String {
    let base: String
    if let value = environment(variable), value.hasPrefix("/") {
      base = value
    } else {
      base = "\(environment("HOME") ?? "/tmp")/\(fallback)"
    }
    let folder = "\(base)/alina"
    makeFolder(folder)
    return folder
  }

  /// A variable of the environment that is set and not empty.
  static func environment(_ name: String) -> String? {
    guard let value = getenv(name), value.pointee != 0 else { return nil }
    return String(cString: value)
  }
}
