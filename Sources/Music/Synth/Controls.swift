import Synchronization

/// What is not score: knobs the producer thread turns and the audio thread reads at each grid frame.
struct Controls: ~Copyable {
  /// Amplitudes, and a pitch in Hz.
  let volume = Atomic<Float>(1)
  let drone = Atomic<Float>(1)
  let preview = Atomic<Float>(1)
  let a4 = Atomic<Float>(440)
  /// The same tuning for the grand: hundredths of a cent over 440 Hz.
  let tuning = Atomic<Int32>(0)
  let isMuted = Atomic<Bool>(false)
  let usesGrand = Atomic<Bool>(false)
  let rack = Handover<Rack>()
  let piano = Handover<ModalPiano>()
  /// The sampled grand, once it is loaded.
  let instrument = Atomic<UnsafeMutablePointer<Instrument>?>(nil)
}

/// The way of what is built off the audio thread to it, and back when its sound is over: nothing is freed on that thread.
struct Handover<T: ~Copyable>: ~Copyable {
  private let incoming = Atomic<UnsafeMutablePointer<T>?>(nil)
  private let outgoing = Atomic<UnsafeMutablePointer<T>?>(nil)

  deinit { clear(leaving: nil) }

  /// Sends a value in place of one that still waits, and frees what came back.
  func send(_ value: consuming T) { clear(leaving: placed(value)) }

  private func clear(leaving next: UnsafeMutablePointer<T>?) {
    free(incoming.exchange(next, ordering: .acquiringAndReleasing))
    free(outgoing.exchange(nil, ordering: .acquiringAndReleasing))
  }

  /// Whether a value waits. Real-time safe: yes.
  var isWaiting: Bool { incoming.load(ordering: .relaxed) != nil }

  /// Takes the value that waits, if any. Real-time safe: yes.
  func take() -> UnsafeMutablePointer<T>? { incoming.exchange(nil, ordering: .acquiringAndReleasing) }

  /// Gives a value back; false, and nothing given, while the last one has not been fetched. Real-time safe: yes.
  func giveBack(_ value: UnsafeMutablePointer<T>) -> Bool {
    outgoing.compareExchange(expected: nil, desired: value, ordering: .acquiringAndReleasing).exchanged
  }
}
