import Dispatch
import Synchronization
import Testing

@testable import ServerTransport

@Suite struct PrunerTests {
  @Test func `when the server stops, the slice of old matches in progress is the last one that is deleted`() async {
    let slices = Mutex(0)
    let (begun, goesOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let pruner = Pruner(logger: Logger(from: nil)) {
      let number = slices.withLock { count in
        count += 1
        return count
      }
      begun.signal()
      goesOn.wait()
      return number < 3 ? 200 : 0
    }
    pruner.start()
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        begun.wait()
        continuation.resume()
      }
    }
    pruner.stop()
    for _ in 0..<3 { goesOn.signal() }
    await pruner.finish()
    #expect(slices.withLock { $0 } == 1)
  }

  @Test func `old matches are deleted slice by slice until none is left`() async {
    let slices = Mutex([200, 200, 7, 0, 1])
    let pruner = Pruner(logger: Logger(from: nil)) { slices.withLock { $0.removeFirst() } }
    pruner.start()
    await pruner.finish()
    #expect(slices.withLock { $0 } == [1])
  }
}
