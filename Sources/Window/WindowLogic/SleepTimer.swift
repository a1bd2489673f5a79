import Interface

/// Ends the listening mode after some minutes.
package struct SleepTimer: Sendable, Hashable {
  package let minutes: Int
  private let end: Double

  /// The times that the player can choose, in minutes.
  package static let choices = [15, 30, 60, 120]
  /// Seconds for which the music fades out, and the level in decibels at the end of the fade.
  static let (fade, floor) = (120.0, -60.0)

  init(minutes: Int, at now: Double) { (self.minutes, end) = (minutes, now + Double(minutes) * 60) }

  /// The timer with the next longer choice than `timer`; `nil` after the longest.
  static func next(after timer: SleepTimer?, at now: Double) -> SleepTimer? {
    choices.first { $0 > timer?.minutes ?? 0 }.map { SleepTimer(minutes: $0, at: now) }
  }

  /// The change of the volume in decibels, 0 until the fade begins.
  func level(at now: Double) -> Double { SleepTimer.floor * min(1, max(0, 1 - (end - now) / SleepTimer.fade)) }

  func isOver(at now: Double) -> Bool { now >= end }

  func minutesLeft(at now: Double) -> Int { max(1, Int(((end - now) / 60).rounded(.up))) }
}

extension WindowState {
  /// The whole minutes until the listening mode ends by itself; `nil` without a timer.
  package func sleepMinutes(at now: Double) -> Int? { sleepTimer?.minutesLeft(at: now) }

  mutating func chooseSleepTimer() -> [Effect] {
    guard mode == .listening else { return .refused(.notListening) }
    sleepTimer = SleepTimer.next(after: sleepTimer, at: now)
    return [.fade(0), .say(sleepTimer.map { "\(.sleepSet, "\($0.minutes)")" } ?? "\(.sleepOff)")]
  }

  /// Fades the music and, when the time is up, ends the listening mode and mutes the sound.
  mutating func watchSleepTimer() -> [Effect] {
    guard let timer = sleepTimer else { return [] }
    guard mode == .listening else {
      sleepTimer = nil
      return [.fade(0)]
    }
    guard timer.isOver(at: now) else { return timer.level(at: now) < 0 ? [.fade(timer.level(at: now))] : [] }
    sleepTimer = nil
    return begin(local.home) + [.mute(true), .fade(0)]
  }
}
