import ScoreModel

extension ScoreRules {
  /// The drone: the low tonic, which is struck, and the bed, a sustained tone of three sines.
  public struct Drone: Sendable, Hashable {
    /// The pitches that are struck together as the low tonic.
    public var notes: [Pitch] = []
    /// The velocity of the struck notes.
    public var velocity = 36
    /// Seconds for which each struck note is held.
    public var seconds = 12.0
    /// The bars of a game, counted from 1, that strike the low tonic again.
    public var bars: [Int] = []
    /// Seconds between strokes of the low tonic while a player thinks.
    public var every = 40.0
    /// The pitch of the bed.
    public var bed = Pitch(47)
    /// The level of the bed, 0–127.
    public var level = 100
    /// Seconds in which the bed fades in.
    public var fade = 4.0

    /// Moves the bed to a level (default: `level`) within `seconds`.
    public func bed(at moment: Tick, level: Int? = nil, seconds: Double, generation: UInt32) -> ScoreEvent {
      ScoreEvent(
        frame: moment, generation: generation, kind: .drone, pitch: bed, amount: UInt8(clamping: level ?? self.level),
        duration: Int32(clamping: Tick.seconds(seconds).rawValue))
    }

    mutating func visit<V: RuleVisitor>(_ v: inout V) {
      v.list("notes", .pitch, &notes, 0...4, of: "pitches")
      v.int("velocity", &velocity, 1...127)
      v.double("seconds", &seconds, 0.1...60)
      v.list("bars", .int(1...30), &bars, 0...30, of: "bar numbers")
      v.double("every", &every, 5...3_600)
      v.pitch("bed", &bed)
      v.int("level", &level, 0...127)
      v.double("fade", &fade, 0.05...60)
    }
  }

  /// The sustain pedal; times in seconds.
  public struct Pedal: Sendable, Hashable {
    /// Seconds of a quick movement of the pedal.
    public var fade = 0.06
    /// Seconds of the pedal's rise before a new game and at the end of a piece.
    public var newGame = 0.3
    /// Seconds by which the pedal rises before the pair of an awakening.
    public var lift = 0.18
    /// Seconds after the start of an awakening's pair at which the pedal falls again.
    public var retake = 0.12
    /// The position to which the pedal rises at every `hurryPedal`th hurried move (a half change), 0 (up) … 127 (down).
    public var half = 64
    /// Seconds from the rise of the pedal in a half change until the pedal falls again.
    public var halfSeconds = 0.16

    mutating func visit<V: RuleVisitor>(_ v: inout V) {
      v.double("fade", &fade, 0.01...1)
      v.double("new-game", &newGame, 0.05...3)
      v.double("lift", &lift, 0...2)
      v.double("retake", &retake, 0...2)
      v.int("half", &half, 0...127)
      v.double("half-seconds", &halfSeconds, 0.02...2)
    }
  }

  /// The performance, after the KTH rules (Friberg, Bresin and Sundberg 2006); a factor 0 turns a rule off.
  public struct Performance: Sendable, Hashable {
    /// The factor on `archSlower` and `archSofter` (the phrase arch): the music is slower and softer at both ends of a bar.
    public var phraseArch = 1.0
    /// Per cent by which the ends of a bar are slower than its middle.
    public var archSlower = 6.0
    /// The velocity by which both ends of a bar are softer than its middle.
    public var archSofter = 5.0
    /// The factor on `ritardSlower`, the ritard into the long note.
    public var finalRitard = 1.0
    /// Per cent by which each of the last short notes is longer than usual, from the first of these notes to the last.
    public var ritardSlower: [Double] = []
    /// The factor on `highLouder`, the loudness of high notes.
    public var highLoud = 1.0
    /// The velocity added to a note for each octave above the middle of the register.
    public var highLouder = 4.0
    /// The factor on `timingSpread`, the random timing.
    public var timing = 1.0
    /// The most by which the length of a note varies at random, up or down, in per cent.
    public var timingSpread = 1.2
    /// The factor on `touchSpread`, the random touch.
    public var touch = 1.0
    /// The most by which the velocity of a note varies at random, up or down.
    public var touchSpread = 2.0
    /// The velocity of M in the middle of the register.
    public var m = 46
    /// The velocity of T where M has the velocity `m`.
    public var t = 40
    /// The softest and the loudest velocity of notes; notes that are softened on purpose may go down to `softest`.
    public var range = 30...58
    /// The loudness of a piece's quietest bar and of its loudest bar, in per cent of the usual velocity.
    public var dynamics = 100...100
    /// The softest velocity of any note.
    public var softest = 20

    mutating func visit<V: RuleVisitor>(_ v: inout V) {
      let k = -5.0...5.0
      v.group("phrase-arch") { v in
        v.double("k", &phraseArch, k)
        v.double("slower", &archSlower, 0...30)
        v.double("softer", &archSofter, 0...30)
      }
      v.group("final-ritard") { v in
        v.double("k", &finalRitard, k)
        v.list("slower", .double(0...30), &ritardSlower, 0...8, of: "per cents")
      }
      v.group("high-loud") { v in
        v.double("k", &highLoud, k)
        v.double("louder", &highLouder, 0...30)
      }
      v.group("timing") { v in
        v.double("k", &timing, k)
        v.double("spread", &timingSpread, 0...10)
      }
      v.group("touch") { v in
        v.double("k", &touch, k)
        v.double("spread", &touchSpread, 0...30)
      }
      v.int("m", &m, 1...127)
      v.int("t", &t, 1...127)
      v.range("range", .int(1...127), &range, of: "velocities")
      v.int("softest", &softest, 1...127)
      v.optional { $0.range("dynamics", .int(20...200), &dynamics, of: "per cents") }
    }
  }

  /// An effect unit of a chain.
  public struct Unit: Sendable, Hashable {
    /// The kind of the effect unit, one of `kinds`.
    public var kind: String
    /// The preset that sets the effect unit's parameters; `nil` for `custom`.
    public var preset: String?
    /// By name, the values of the parameters that differ from the preset; `kinds` has the range of each parameter.
    public var values: [String: Double]

    /// Makes an effect unit from its parts.
    public init(kind: String, preset: String?, values: [String: Double] = [:]) {
      (self.kind, self.preset, self.values) = (kind, preset, values)
    }

    /// A kind of effect unit: its name, its presets besides `custom`, and the ranges of its parameters by name.
    public typealias Kind = (name: String, presets: [String], values: [(name: String, range: ClosedRange<Double>)])

    /// All kinds of effect unit.
    public static let kinds: [Kind] = [
      (
        "comb", ["metallic-ring", "light-delay", "wax-comb"],
        [
          ("damping", 0...0.95), ("delay", 4...24_000), ("dry", 0...1), ("feedback", -0.9999...0.9999),
          ("glide", 1...60_000), ("melt", 0...24_000), ("wet", 0...1),
        ]
      ),
      (
        "ring-modulator", ["bell", "shimmer"],
        [("dry", 0...1), ("left", 0...20_000), ("right", 0...20_000), ("wet", 0...1)]
      ),
      ("matcher", ["breath", "follow"], [("gain", -60...24), ("match", 0...100), ("window", 1...1_000)]),
      (
        "reverb", ["church", "room"],
        [("decay", 0.1...20), ("dry", 0...1), ("predelay", 0...150), ("treble", 0...1), ("wet", 0...1)]
      ),
      ("gain", [], [("decibels", -60...24)]),
    ]
  }

  /// A named chain of effect units for notes.
  public struct Chain: Sendable, Hashable {
    /// The most effect units of a chain; more would sound muddy.
    public static let most = 4
    /// The name by which the rest of the rule file refers to the chain.
    public var name: String
    /// The gain in dB after the last effect unit.
    public var level: Double
    /// The effect units in the order in which the sound passes through them.
    public var units: [Unit]

    /// Makes a chain from its parts.
    public init(name: String = "", level: Double = 0, units: [Unit] = []) {
      (self.name, self.level, self.units) = (name, level, units)
    }

    package mutating func visit<V: RuleVisitor>(_ v: inout V) {
      v.name("name", &name)
      v.double("level", &level, -60...24)
      v.list("units", .unit(Unit.kinds.map { $0.name }), &units, 1...Self.most, of: "units")
    }
  }

  /// Levels, room and sympathetic strings.
  public struct Mix: Sendable, Hashable {
    /// The levels of the parts of the sound, such as piano, drone and bells, in dB.
    public var levels = Levels()
    /// Seconds in which a bell falls by 60 dB.
    public var bellSeconds = 4.0
    /// The reverb of the room.
    public var room = Unit(kind: "reverb", preset: "church")
    /// The matcher that lets the bed follow the piano's envelope.
    public var breath = Unit(kind: "matcher", preset: "breath")
    /// The pitches of the strings that resonate while the pedal is down.
    public var strings: [Pitch] = []
    /// Seconds in which the sound of the strings falls by 60 dB.
    public var stringSeconds = 7.5
    /// The strings' `FeedbackComb.Parameters.damping`, 0–0.95: with a greater value the treble dies away faster.
    public var stringDamping = 0.0

    mutating func visit<V: RuleVisitor>(_ v: inout V) {
      let decibels = -120.0...24.0
      v.double("master", &levels.master, decibels)
      v.double("piano", &levels.piano, decibels)
      v.double("grand", &levels.grand, decibels)
      v.double("reverb-send", &levels.reverbSend, decibels)
      v.double("drone", &levels.drone, decibels)
      v.double("preview", &levels.preview, decibels)
      v.double("bell", &levels.bell, decibels)
      v.double("knock", &levels.knock, decibels)
      v.double("bell-seconds", &bellSeconds, 0.2...20)
      v.leaf("room", .unit(["reverb"]), &room)
      v.leaf("breath", .unit(["matcher"]), &breath)
      v.group("strings") { v in
        v.list("notes", .pitch, &strings, 0...6, of: "pitches")
        v.double("seconds", &stringSeconds, 0.1...30)
        v.double("damping", &stringDamping, 0...0.95)
        v.double("send", &levels.stringSend, decibels)
      }
    }
  }
}
