import ScoreModel

extension ScoreRules {
  /// How one side plays its bars.
  public struct Hand: Sendable, Hashable {
    /// Octaves added to the written pitch.
    public var octaves: Int
    /// The place, −100 left … +100 right.
    public var pan: Int
    /// Milliseconds T sounds before M.
    public var rollMilliseconds: Int

    /// Makes a hand.
    public init(octaves: Int, pan: Int, rollMilliseconds: Int) {
      self.octaves = octaves
      self.pan = pan
      self.rollMilliseconds = rollMilliseconds
    }
  }

  /// How many pairs bars have and how long their notes are.
  public struct BarLaw: Sendable, Hashable {
    /// Pairs of the longest bar.
    public var longest: Int
    /// Pairs of the shortest closing bar.
    public var shortest: Int
    /// Pairs of the last bar of the arch.
    public var last: Int
    /// Seconds of a short note at pace 1.
    public var short: Double
    /// Short notes in a long one.
    public var long: Int
    /// Seconds of a short note in the last bar of the arch.
    public var lastShort: Double

    /// Makes a law.
    public init(longest: Int, shortest: Int, last: Int, short: Double, long: Int, lastShort: Double) {
      self.longest = longest
      self.shortest = shortest
      self.last = last
      self.short = short
      self.long = long
      self.lastShort = lastShort
    }

    /// Pairs of the bar a move begins (`ply` from 1).
    public func pairs(ply: Int) -> Int { min(ply + 1, longest) }

    /// Pairs of the bars that close a game of `plies` moves, in order.
    public func closing(plies: Int) -> [Int] {
      Array(stride(from: pairs(ply: plies) - 1, through: shortest, by: -1)) + [last]
    }
  }

  /// One closing arch.
  public struct Ending: Sendable, Hashable {
    /// The contour of its bars.
    public var contour: Contour
    /// The goal of its bars but the last.
    public var goal: Goal
    /// The goal of the last bar.
    public var lastGoal: Goal
    /// Degrees by which the register moves with each bar of the arch.
    public var climb: Int
    /// Whether the hands take turns; else the winner's plays.
    public var alternates: Bool
    /// Whether T has the last bar alone.
    public var endsWithTAlone: Bool
    /// Whether the pedal is let go in the second last bar.
    public var releasesPedal: Bool
    /// Whether bars 4 and 8 strike the low tonic within the arch.
    public var strikesDrone: Bool
    /// The chain its long notes are sent to, if any.
    public var chain: String?

    /// Makes an ending.
    public init(
      contour: Contour, goal: Goal, lastGoal: Goal, climb: Int = 0, alternates: Bool = false,
      endsWithTAlone: Bool = false,
      releasesPedal: Bool = false, strikesDrone: Bool = true, chain: String? = nil
    ) {
      self.contour = contour
      self.goal = goal
      self.lastGoal = lastGoal
      self.climb = climb
      self.alternates = alternates
      self.endsWithTAlone = endsWithTAlone
      self.releasesPedal = releasesPedal
      self.strikesDrone = strikesDrone
      self.chain = chain
    }
  }

  /// The phrase before the first move; times in seconds from the first sound.
  public struct Opening: Sendable, Hashable {
    /// The low tonic.
    public var drone: Double
    /// The pair on the centre.
    public var center: Double
    /// The seeded bar.
    public var phrase: Double
    /// Pairs of the seeded bar.
    public var pairs: Int
    /// The first echo.
    public var echoes: Double

    /// Makes an opening.
    public init(drone: Double, center: Double, phrase: Double, pairs: Int, echoes: Double) {
      self.drone = drone
      self.center = center
      self.phrase = phrase
      self.pairs = pairs
      self.echoes = echoes
    }
  }

  /// What sounds while everyone waits; times in seconds.
  public struct Echoes: Sendable, Hashable {
    /// Silence after a bar before the first.
    public var after: Double
    /// Velocity, in per cent of the bar's.
    public var velocity: Int
    /// Octaves added to every second one.
    public var octaves: Int
    /// Rest after the first.
    public var rest: Double
    /// Per cent by which each rest is longer than the one before.
    public var growth: Int
    /// Waiting after which only the drone goes on.
    public var until: Double
    /// How many of the latest bars are drawn from.
    public var memory: Int

    /// Makes echoes.
    public init(
      after: Double, velocity: Int, octaves: Int, rest: Double, growth: Int, until: Double, memory: Int
    ) {
      self.after = after
      self.velocity = velocity
      self.octaves = octaves
      self.rest = rest
      self.growth = growth
      self.until = until
      self.memory = memory
    }
  }

  /// Small answers to what players do.
  public struct Gestures: Sendable, Hashable {
    /// Seconds between the notes of a bar taken back.
    public var undoShort: Double
    /// Velocity of a bar taken back, in per cent.
    public var undoVelocity: Int
    /// Seconds below which the next move counts as hurried.
    public var hurry: Double
    /// Velocity of T in hurried moves, in per cent (71 is 6 dB softer).
    public var hurryT: Int
    /// Velocity lost with each hurried move in a row, in per cent.
    public var hurryFade: Int
    /// The number of hurried moves in a row that count for that.
    public var hurryMost: Int
    /// Every how many hurried moves the pedal is half changed.
    public var hurryPedal: Int
    /// Seconds between pulses of the drone while a clock is low.
    public var pulse: Double
    /// The bed's level between pulses, 0–127.
    public var pulseLevel: Int
    /// A pulse's swelling, the moment it begins to sink and its sinking, as shares of the pulse.
    public var pulseShape: [Double]
    /// Velocity of the refusal's knock.
    public var knock: Int
    /// Seconds a note must sound to count as heard; a sign cut earlier is owed.
    public var heard: Double
    /// Slots after a downbeat before which no opponent answers in musical time.
    public var reply: Int

    /// Makes gestures.
    public init(
      undoShort: Double, undoVelocity: Int, hurry: Double, hurryT: Int, hurryFade: Int, hurryMost: Int, hurryPedal: Int,
      pulse: Double, pulseLevel: Int, pulseShape: [Double], knock: Int, heard: Double, reply: Int
    ) {
      self.undoShort = undoShort
      self.undoVelocity = undoVelocity
      self.hurry = hurry
      self.hurryT = hurryT
      self.hurryFade = hurryFade
      self.hurryMost = hurryMost
      self.hurryPedal = hurryPedal
      self.pulse = pulse
      self.pulseLevel = pulseLevel
      self.pulseShape = pulseShape
      self.knock = knock
      self.heard = heard
      self.reply = reply
    }
  }
}
