import Dispatch

/// What the system asks of the process, one after the other, as long as it lives.
struct Signals {
  let sequence: AsyncStream<Int32>
  private let sources: [any DispatchSourceSignal]

  init(_ numbers: [Int32]) {
    let (sequence, signals) = AsyncStream<Int32>.makeStream()
    self.sequence = sequence
    sources = numbers.map { number in
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler { signals.yield(number) }
      // Until a thread of its own has registered it, the signal would still end the program.
      let isRegistered = DispatchSemaphore(value: 0)
      source.setRegistrationHandler { isRegistered.signal() }
      source.resume()
      isRegistered.wait()
      return source
    }
  }
}
