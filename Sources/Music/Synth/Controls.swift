import Synchronization

/// The controls of the sound that are not in the score: set by the producer thread, read by the audio thread at every 64th frame.
struct Controls: ~Copyable {
  /// Factors on the amplitudes of the whole mix, of the bed and of the preview of a cell; `a4` is the pitch of A4 in Hz.
  let volume = Atomic<Float>(1)
  let drone = Atomic<Float>(1)
  let preview = Atomic<Float>(1)
  let a4 = Atomic<Float>(440)
  /// The tuning for the grand: hundredths of a cent by which A4 is above 440 Hz.
  let tuning = Atomic<Int32>(0)
  let isMuted = Atomic<Bool>(false)
  let isEven = Atomic<Bool>(false)
  let usesGrand = Atomic<Bool>(false)
  let rack = Mailbox<Rack>()
  let piano = Mailbox<ModalPiano>()
  /// The sampled grand, once loaded.
  let instrument = Atomic<UnsafeMutablePointer<Instrument>?>(nil)
}

/// A mailbox for objects built off the audio thread. The audio thread returns each object when it is silent, and so never frees memory.
struct Mailbox<T: ~Copyable>: ~Copyable {
  private let incoming = Atomic<UnsafeMutablePointer<T>?>(nil)
  private let outgoing = Atomic<UnsafeMutablePointer<T>?>(nil)

  deinit { clear(leaving: nil) }

  /// Sends a value to the audio thread. Frees an earlier value that was not taken, and the value that the audio thread returned.
  func send(_ value: consuming T) { clear(leaving: placed(value)) }

  private func clear(leaving next: UnsafeMutablePointer<T>?) {
    free(incoming.exchange(next, ordering: .acquiringAndReleasing))
    free(outgoing.exchange(nil, ordering: .acquiringAndReleasing))
  }

  /// Whether a sent value waits for the audio thread. Real-time safe: yes.
  var isWaiting: Bool { incoming.load(ordering: .relaxed) != nil }

  /// Takes the value that waits, if any, on the audio thread. Real-time safe: yes.
  func take() -> UnsafeMutablePointer<T>? { incoming.exchange(nil, ordering: .acquiringAndReleasing) }

  /// Returns a taken value; `false`, without effect, if the producer has not collected the value returned before. Real-time safe: yes.
  func giveBack(_ value: UnsafeMutablePointer<T>) -> Bool {
    outgoing.compareExchange(expected: nil, desired: value, ordering: .acquiringAndReleasing).exchanged
  }
}
