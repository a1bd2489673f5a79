import Base
import TestSupport
import Testing

@testable import SDLPlatform

#if canImport(Glibc)
  import Glibc
#endif

@Suite struct FileAccessTests {
  private let temporary = TemporaryFolder()
  private var folder: String { temporary.path }

  @Test("A file is written with its folders, read back and replaced as a whole")
  func roundTrip() throws {
    let path = "\(folder)/a/b/c.txt"
    try FileAccess.write(path, [1, 2, 3])
    #expect(FileAccess.read(path) == [1, 2, 3])
    try FileAccess.write(path, [])
    #expect(FileAccess.read(path) == [])
  }

  @Test("A symbolic link is kept, and its target replaced")
  func link() throws {
    try FileAccess.write("\(folder)/kept/settings", [1])
    #expect(symlink("kept/settings", "\(folder)/settings") == 0)
    try FileAccess.write("\(folder)/settings", [2])
    #expect(FileAccess.read("\(folder)/kept/settings") == [2])
  }

  @Test("Threads that write the same file all succeed, and the file has the bytes of one of them")
  func twoWriters() async throws {
    let path = "\(folder)/shared"
    let long = 1 << 16
    try await withThrowingTaskGroup(of: Void.self) { group in
      for byte in UInt8(1)...8 {
        group.addTask {
          for _ in 0..<8 { try FileAccess.write(path, [UInt8](repeating: byte, count: long)) }
        }
      }
      try await group.waitForAll()
    }
    let bytes = try #require(FileAccess.read(path))
    #expect(bytes.count == long && Set(bytes).count == 1)
    #expect(FileAccess.list(folder) == ["shared"])
  }

  @Test("A failed write leaves the old bytes and no other file")
  func failedWrite() throws {
    #expect(throws: WriteFault.notAllowed) { try FileAccess.write("/proc/alina/x", [1]) }
    // A pipe stands for a device file, which a regular file must not replace.
    #expect(mkfifo("\(folder)/pipe", 0o644) == 0)
    #expect(throws: WriteFault.notAllowed) { try FileAccess.write("\(folder)/pipe", [1]) }
    #expect(unlink("\(folder)/pipe") == 0 && WriteFault(ENOSPC) == .noRoom)
    let path = "\(folder)/kept"
    try FileAccess.write("\(path)/7", [7])
    // A file does not replace a folder of the same name.
    #expect(throws: WriteFault.self) { try FileAccess.write(path, [8]) }
    #expect(FileAccess.read("\(path)/7") == [7] && FileAccess.list(folder) == ["kept"])
  }

  @Test("A game locked by one window is locked for others until released or the window ends")
  func lock() {
    var one: LockFiles? = LockFiles()
    let other = LockFiles()
    #expect(one?.take("\(folder)/game") == true && one?.take("\(folder)/game") == true)
    #expect(!other.take("\(folder)/game") && other.take("\(folder)/other"))
    one?.release("\(folder)/game")
    #expect(other.take("\(folder)/game"))
    other.release("\(folder)/game")
    #expect(one?.take("\(folder)/game") == true && !other.take("\(folder)/game"))
    one = nil
    #expect(other.take("\(folder)/game"))
    #expect(other.take("/proc/alina/none"), "no locks are no reason not to play")
  }

  @Test("The locks of a thousand games use one descriptor")
  func descriptors() {
    func count() -> Int { FileAccess.list("/proc/self/fd").count }
    let locks = LockFiles()
    _ = locks.take("\(folder)/game")
    let before = count()
    for number in 0..<1_000 { #expect(locks.take("\(folder)/game-\(number)")) }
    // Allows for 500 descriptors that other tests open at the same time.
    #expect(count() < before + 500)
  }

  @Test("Settings and games have a folder of the user, and relative XDG folders are ignored")
  func folders() {
    let variable = "ALINA_TEST_XDG"
    setenv(variable, folder, 1)
    #expect(FileAccess.xdgFolder(variable, fallback: ".x") == "\(folder)/alina")
    setenv(variable, "relative", 1)
    let home = FileAccess.home
    #expect(home?.hasPrefix("/") != true || FileAccess.xdgFolder(variable, fallback: "../\(folder)/.x").hasPrefix("/"))
    unsetenv(variable)
    #expect(!FileAccess.xdgFolder(variable, fallback: ".").hasPrefix("/tmp/."))
  }

  @Test("Folders, devices and missing files read as nil")
  func unreadable() {
    #expect(FileAccess.read(folder) == nil)
    #expect(FileAccess.read("/dev/zero") == nil)
    #expect(FileAccess.read("\(folder)/missing") == nil)
  }
}
