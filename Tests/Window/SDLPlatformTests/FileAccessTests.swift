import TestSupport
import Testing

@testable import SDLPlatform

#if canImport(Glibc)
  import Glibc
#endif

/// Files as the services offer them.
@Suite struct FileAccessTests {
  private let temporary = TemporaryFolder()
  private var folder: String { temporary.path }

  @Test("A file is written with its folders, read back and replaced as a whole")
  func roundTrip() {
    let path = "\(folder)/a/b/c.txt"
    #expect(FileAccess.write(path, [1, 2, 3]))
    #expect(FileAccess.read(path) == [1, 2, 3])
    #expect(FileAccess.write(path, []))
    #expect(FileAccess.read(path) == [])
  }

  @Test("A write that fails leaves the old bytes and nothing else")
  func failedWrite() {
    #expect(!FileAccess.write("/proc/alina/x", [1]))
    let path = "\(folder)/kept"
    #expect(FileAccess.write(path, [7]))
    // A folder under the temporary file's name stands in the way of the new bytes.
    #expect(mkdir("\(path).\(getpid()).new", 0o755) == 0)
    #expect(!FileAccess.write(path, [8]))
    #expect(FileAccess.read(path) == [7])
  }

  @Test("A file that is taken is not given away a second time, not even to ourselves")
  func lock() {
    #expect(FileAccess.lock("\(folder)/game.lock"))
    #expect(!FileAccess.lock("\(folder)/game.lock"))
    #expect(FileAccess.lock("\(folder)/other.lock"))
    #expect(FileAccess.lock("/proc/alina/none"))
  }

  @Test("Folders, devices and what is missing read as nothing")
  func unreadable() {
    #expect(FileAccess.read(folder) == nil)
    #expect(FileAccess.read("/dev/zero") == nil)
    #expect(FileAccess.read("\(folder)/missing") == nil)
  }
}
