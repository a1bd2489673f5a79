import Dispatch

/// The signals sent to the process, in order.
struct Signals {
  let sequence: AsyncStream<Int32>
  private let sources: [any DispatchSourceSignal]

  init(_ numbers: [Int32]) {
    let (sequence, signals) = AsyncStream<Int32>.makeStream()
    self.sequence = sequence
    sources = numbers.map { number in
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler { signals.yield(number) }
      // Waits until Dispatch has registered the handler; before that the signal would end the process.
      let isRegistered = DispatchSemaphore(value: 0)
      source.setRegistrationHandler { isRegistered.signal() }
      source.resume()
      isRegistered.wait()
      return source
    }
  }
}
