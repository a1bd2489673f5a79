/// A number that an animator may move; reading it gives its value at the animator's clock.
package final class Motion {
  package fileprivate(set) var value: Double {
    didSet { if value != oldValue { view?.moved() } }
  }

  unowned(unsafe) var view: View?

  package init(_ value: Double) { self.value = value }
}

/// What an animator plays: tweens, in sequence or together, nested at will.
package indirect enum Animation {
  /// Moves a number from wherever it is when the tween begins, along any function of time.
  case tween(Motion, to: Double, seconds: Double, Easing)
  /// Lets time pass.
  case pause(seconds: Double)
  /// One after the other.
  case sequence([Animation])
  /// All at once; lasts as long as the longest.
  case together([Animation])
}

/// Moves numbers along time.
///
/// Values depend on absolute time only, not on how often or how evenly the clock is advanced. An animation that touches
/// a number under way takes it over from its current value. Each completion is called exactly once.
package final class Animator {
  /// With reduced motion tweens jump to their ends; pauses keep their length.
  package var isReduced = false
  /// The clock in seconds.
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

  /// Starts an animation at the clock; `completion` is told whether it ran to its end undisturbed.
  package func play(_ animation: Animation, completion: ((_ finished: Bool) -> Void)? = nil) {
    var tracks: [Track] = []
    let length = flatten(animation, at: now, into: &tracks) - now
    for track in tracks { stop(track.motion) }
    runs.append(Run(id: nextID, tracks: tracks, end: now + length, completion: completion))
    nextID += 1
  }

  /// Moves a number, or sets it at once where nothing is to be seen of the way.
  package func bring(
    _ motion: Motion, to target: Double, animated: Bool, seconds: Double, after delay: Double = 0, _ easing: Easing
  ) {
    if animated { move(motion, to: target, seconds: seconds, after: delay, easing) } else { set(motion, to: target) }
  }

  /// Moves one number; see `play`.
  package func move(
    _ motion: Motion, to target: Double, seconds: Double, after delay: Double = 0, _ easing: Easing = .cubicOut,
    completion: ((_ finished: Bool) -> Void)? = nil
  ) {
    // What rests where it is wanted asks for no frame, and what is on its way there does not begin anew.
    if completion == nil {
      let last = runs.lazy.flatMap { $0.tracks }.last { $0.motion === motion }
      if last?.target ?? motion.value == target { return }
    }
    let tween = Animation.tween(motion, to: target, seconds: seconds, easing)
    play(delay > 0 ? .sequence([.pause(seconds: delay), tween]) : tween, completion: completion)
  }

  /// Sets a number at once, ending whatever moved it.
  package func set(_ motion: Motion, to value: Double) {
    stop(motion)
    motion.value = value
  }

  /// Takes a number out of every animation; it stays where it is.
  package func stop(_ motion: Motion) {
    for index in runs.indices where runs[index].tracks.contains(where: { $0.motion === motion }) {
      runs[index].tracks.removeAll { $0.motion === motion }
      runs[index].wasInterrupted = true
      if runs[index].tracks.isEmpty { runs[index].end = min(runs[index].end, now) }
    }
  }

  /// When something moves next: at once, a planned moment, or never (`.infinity`).
  package func nextChange(after moment: Double) -> Double {
    var next = Double.infinity
    for run in runs {
      next = min(next, run.tracks.map { max(moment, $0.start) }.min() ?? max(moment, run.end))
    }
    return next
  }

  /// Brings the clock to `moment`, which is never before it, and calls the completions that fall due, in their order.
  package func advance(to moment: Double) {
    let moment = max(now, moment)
    // A completion may start an animation; it starts when its predecessor ended, not when the frame happened to come.
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

  /// Appends the tweens of an animation that starts at `start`, in order of time; returns when it ends.
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
