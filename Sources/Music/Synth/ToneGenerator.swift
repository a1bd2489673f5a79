import ScoreModel

/// A sine tone with equal-power fades, so that even a very short tone does not click. A stop during the fade-in fades out from there.
public struct ToneGenerator: ~Copyable, AudioNode {
  /// The state of the generator.
  public enum State: UInt8, Sendable, Hashable, BitwiseCopyable {
    case idle, fadeIn, sustain, fadeOut
  }

  /// The settings of a tone generator.
  public struct Parameters: Sendable, Hashable, BitwiseCopyable {
    /// Level at full sustain in dBFS, −120…0.
    public var level: Float
    /// Fade-in in milliseconds, 1…60,000.
    public var fadeIn: Float
    /// Fade-out in milliseconds, 1…60,000.
    public var fadeOut: Float
    /// The pitch of A4 in Hz, 415…466.
    public var a4: Float

    /// Makes settings; the defaults are those of the tone that previews a cell.
    public init(level: Float = -30, fadeIn: Float = 60, fadeOut: Float = 180, a4: Float = 440) {
      self.level = min(max(level, -120), 0)
      self.fadeIn = min(max(fadeIn, 1), 60_000)
      self.fadeOut = min(max(fadeOut, 1), 60_000)
      self.a4 = min(max(a4, 415), 466)
    }
  }

  private let sampleRate: Double
  private var parameters = Parameters()
  private var place = GridPlace()
  private var phase = 0.0
  private var turn = 0.0
  private var fade = 0.0
  private var amplitude: Ramp<Float>
  private var waiting = -1.0
  private var pitch = 69.0
  /// The current state.
  public private(set) var state = State.idle

  package init(sampleRate: Double) {
    self.sampleRate = sampleRate
    amplitude = Ramp(Arithmetic.amplitude(decibels: parameters.level))
  }

  /// Applies new settings: the level ramps, A4 changes within 64 frames, a running fade keeps its position.
  package mutating func set(_ parameters: Parameters) {
    self.parameters = parameters
    let target = Arithmetic.amplitude(decibels: parameters.level)
    if state == .idle { amplitude.jump(target) } else { amplitude.aim(target, frames: 1_024) }
  }

  /// Starts a tone of a MIDI pitch (0…127, fractions allowed); a sounding tone of another pitch fades out first.
  public mutating func start(midi: Double) {
    let midi = min(max(midi, 0), 127)
    if state == .idle {
      begin(midi)
    } else if midi == pitch {
      waiting = -1
      state = .fadeIn
    } else {
      waiting = midi
      state = .fadeOut
    }
  }

  /// Fades the tone out.
  public mutating func stop() {
    waiting = -1
    if state != .idle { state = .fadeOut }
  }

  package mutating func reset() {
    state = .idle
    fade = 0
    phase = 0
    waiting = -1
    place = GridPlace()
    amplitude.jump(amplitude.target)
  }

  /// Adds the tone to both channels.
  package mutating func render(_ block: StereoBlock) {
    var rest = block
    while let (part, starts) = place.next(&rest) {
      if starts { tick() }
      if state != .idle { sound(part) }
    }
  }

  private mutating func begin(_ midi: Double) {
    pitch = midi
    turn = Pitch.frequency(midi: midi, a4: Double(parameters.a4)) / sampleRate
    phase = 0
    fade = 0
    state = .fadeIn
  }

  private mutating func tick() {
    amplitude.tick()
    if state == .idle { return }
    turn = Pitch.frequency(midi: pitch, a4: Double(parameters.a4)) / sampleRate
  }

  private mutating func sound(_ block: StereoBlock) {
    let up = 1_000 / (Double(parameters.fadeIn) * sampleRate)
    let down = 1_000 / (Double(parameters.fadeOut) * sampleRate)
    for i in block.indices {
      switch state {
      case .idle:
        _ = amplitude.next()
        continue
      case .fadeIn:
        fade += up
        if fade >= 1 {
          fade = 1
          state = .sustain
        }
      case .sustain: break
      case .fadeOut:
        fade -= down
        if fade <= 0 {
          fade = 0
          state = .idle
          if waiting >= 0 {
            begin(waiting)
            waiting = -1
          }
        }
      }
      // Equal power: the gain rises like the first quarter of a sine.
      let gain = fade >= 1 ? 1 : Arithmetic.sine(turns: fade * 0.25)
      let sample = Float(Arithmetic.sine(turns: phase) * gain) * amplitude.next()
      phase += turn
      if phase >= 1 { phase -= 1 }
      block[i] += sample
    }
  }
}
