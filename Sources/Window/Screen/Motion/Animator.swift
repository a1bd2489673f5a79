/// A number that an `Animator` animates.
package final class Motion {
  package fileprivate(set) var value: Double {
    didSet { if value != oldValue { view?.moved() } }
  }

  unowned(unsafe) var view: View?

  package init(_ value: Double) { self.value = value }
}

/// Tweens in sequence or in parallel, nested as needed.
package indirect enum Animation {
  /// Moves a number from its value at the start of the tween, with an easing function.
  case tween(Motion, to: Double, seconds: Double, Easing)
  case pause(seconds: Double)
  case sequence([Animation])
  /// Lasts as long as the longest animation of the group.
  case together([Animation])
}

/// Animates numbers. Values depend on absolute time only, not on the number of clock updates. A new animation of a moving number continues
/// from the number's current value. Each completion is called exactly once.
package final class Animator {
  /// Reduced motion: tweens jump to their ends, pauses keep their length.
  package var isReduced = false
  /// The animator's time in seconds.
  package private(set) var now: Double = 0

  private struct Track {
    var motion: Motion
    var target: Double
    var start: Double
    var duration: Double
    var easing: Easing
    var from: Double?
  }

  private struct Run {
    var id: Int
    var tracks: [Track]
    var end: Double
    var wasInterrupted = false
    var completion: ((Bool) -> Void)?
  }

  private var runs: [Run] = []
  private var nextID = 0

  package init() {}

  /// `completion` gets whether the animation finished without interruption.
  package func play(_ animation: Animation, completion: ((_ finished: Bool) -> Void)? = nil) {
    var tracks: [Track] = []
    let length = flatten(animation, at: now, into: &tracks) - now
    for track in tracks { stop(track.motion) }
    runs.append(Run(id: nextID, tracks: tracks, end: now + length, completion: completion))
    nextID += 1
  }

  package func bring(
    _ motion: Motion, to target: Double, animated: Bool, seconds: Double, after delay: Double = 0, _ easing: Easing
  ) {
    if animated { move(motion, to: target, seconds: seconds, after: delay, easing) } else { set(motion, to: target) }
  }

  /// Animates one number, beginning `delay` seconds from now.
  package func move(
    _ motion: Motion, to target: Double, seconds: Double, after delay: Double = 0, _ easing: Easing = .cubicOut,
    completion: ((_ finished: Bool) -> Void)? = nil
  ) {
    // Do nothing if the number is at the target or already moves there.
    if completion == nil {
      let last = runs.lazy.flatMap { $0.tracks }.last { $0.motion === motion }
      if last?.target ?? motion.value == target { return }
    }
    let tween = Animation.tween(motion, to: target, seconds: seconds, easing)
    play(delay > 0 ? .sequence([.pause(seconds: delay), tween]) : tween, completion: completion)
  }

  /// Sets a number at once and ends its animations.
  package func set(_ motion: Motion, to value: Double) {
    stop(motion)
    motion.value = value
  }

  /// Removes a number from all animations; the number keeps its value.
  package func stop(_ motion: Motion) {
    for index in runs.indices where runs[index].tracks.contains(where: { $0.motion === motion }) {
      runs[index].tracks.removeAll { $0.motion === motion }
      runs[index].wasInterrupted = true
      if runs[index].tracks.isEmpty { runs[index].end = min(runs[index].end, now) }
    }
  }

  /// The time of the next change or completion: `moment` while a number moves, `.infinity` without animations.
  package func nextChange(after moment: Double) -> Double {
    var next = Double.infinity
    for run in runs {
      next = min(next, run.tracks.map { max(moment, $0.start) }.min() ?? max(moment, run.end))
    }
    return next
  }

  /// Advances to `moment` (in seconds, never backwards) and calls due completions in order.
  package func advance(to moment: Double) {
    let moment = max(now, moment)
    // An animation started by a completion begins at the end of its predecessor, not at the time of the frame.
    while let due = runs.filter({ $0.end <= moment }).min(by: { ($0.end, $0.id) < ($1.end, $1.id) }) {
      now = max(now, due.end)
      step()
      runs.removeAll { $0.id == due.id }
      due.completion?(!due.wasInterrupted)
    }
    now = moment
    step()
  }

  private func step() {
    for run in runs.indices {
      for index in runs[run].tracks.indices where runs[run].tracks[index].start <= now {
        let track = runs[run].tracks[index]
        let from = track.from ?? track.motion.value
        runs[run].tracks[index].from = from
        let share = track.easing(now - track.start, track.duration)
        track.motion.value = from + (track.target - from) * share
      }
      runs[run].tracks.removeAll { $0.start + $0.duration <= now }
    }
  }

  /// Appends the tweens of an animation that begins at `start`, in time order; returns the animation's end.
  private func flatten(_ animation: Animation, at start: Double, into tracks: inout [Track]) -> Double {
    switch animation {
    case .tween(let motion, let target, let seconds, let easing):
      let duration = isReduced ? 0 : max(0, seconds)
      tracks.append(Track(motion: motion, target: target, start: start, duration: duration, easing: easing))
      return start + duration
    case .pause(let seconds):
      return start + max(0, seconds)
    case .sequence(let parts):
      return parts.reduce(start) { flatten($1, at: $0, into: &tracks) }
    case .together(let parts):
      return parts.map { flatten($0, at: start, into: &tracks) }.max() ?? start
    }
  }
}
