import Synchronization

/// What is not score: knobs the producer thread turns and the audio thread reads at each grid frame.
struct Controls: ~Copyable {
  /// Amplitudes and Hz as the bits of a `Float`.
  let volume = Atomic<UInt32>(Float(1).bitPattern)
  let drone = Atomic<UInt32>(Float(1).bitPattern)
  let preview = Atomic<UInt32>(Float(1).bitPattern)
  let a4 = Atomic<UInt32>(Float(440).bitPattern)
  /// The same tuning for the grand: hundredths of a cent over 440 Hz.
  let tuning = Atomic<Int32>(0)
  let isMuted = Atomic<Bool>(false)
  let isHidden = Atomic<Bool>(false)
  let usesGrand = Atomic<Bool>(false)
  let rack = Handover<Rack>()
  let piano = Handover<ModalPiano>()
  /// The sampled grand, once it is loaded: the bits of a pointer, 0 for none.
  let instrument = Atomic<UInt>(0)

  static func read(_ atomic: borrowing Atomic<UInt32>) -> Float { Float(bitPattern: atomic.load(ordering: .relaxed)) }
}

/// The way of what is built off the audio thread to it, and back when its sound is over: nothing is freed on that thread.
struct Handover<T: ~Copyable>: ~Copyable {
  /// The bits of a pointer, 0 for none.
  private let incoming = Atomic<UInt>(0)
  private let outgoing = Atomic<UInt>(0)

  deinit { clear(leaving: 0) }

  /// Sends a value in place of one that still waits, and frees what came back.
  func send(_ value: consuming T) { clear(leaving: UInt(bitPattern: placed(value))) }

  private func clear(leaving bits: UInt) {
    free(UnsafeMutablePointer<T>(bitPattern: incoming.exchange(bits, ordering: .acquiringAndReleasing)))
    free(UnsafeMutablePointer<T>(bitPattern: outgoing.exchange(0, ordering: .acquiringAndReleasing)))
  }

  /// Whether a value waits. Real-time safe: yes.
  var isWaiting: Bool { incoming.load(ordering: .relaxed) != 0 }

  /// Takes the value that waits, if any. Real-time safe: yes.
  func take() -> UnsafeMutablePointer<T>? {
    UnsafeMutablePointer(bitPattern: incoming.exchange(0, ordering: .acquiringAndReleasing))
  }

  /// Gives a value back; false, and nothing given, while the last one has not been fetched. Real-time safe: yes.
  func giveBack(_ value: UnsafeMutablePointer<T>) -> Bool {
    let bits = UInt(bitPattern: value)
    return outgoing.compareExchange(expected: 0, desired: bits, ordering: .acquiringAndReleasing).exchanged
  }
}
