import ScoreModel

extension ScoreRules {
  /// How a voice plays its bars.
  public struct Manner: Sendable, Hashable {
    /// Octaves added to the written pitch.
    public var octaves = 0
    /// The place, −100 left … +100 right.
    public var pan = 0
    /// Milliseconds T sounds before M.
    public var rollMilliseconds = 0

    mutating func visit<V: RuleVisitor>(_ v: inout V) {
      v.int("octaves", &octaves, -3...2)
      v.int("pan", &pan, -100...100)
      v.int("roll-ms", &rollMilliseconds, 0...300)
    }
  }

  /// What tells one player from others who have the same voice at other times.
  public struct Colour: Sendable, Hashable {
    /// Whose it is: `Conductor.names` has the same.
    public var name = ""
    /// Velocity, in per cent.
    public var touch = 100
    /// When T sounds, where a sign leaves it together with M.
    public var tPace = SignRule.TPace.together
    /// The chain of the long notes, where nothing else has one.
    public var chain: String?

    package mutating func visit<V: RuleVisitor>(_ v: inout V) {
      v.name("name", &name)
      v.int("touch", &touch, 50...120)
      v.word("t-pace", &tPace)
      v.chain("chain", &chain)
    }
  }

  /// How many pairs bars have and how long their notes are.
  public struct BarLaw: Sendable, Hashable {
    /// Pairs of the longest bar.
    public var longest = 8
    /// Pairs of the shortest closing bar.
    public var shortest = 2
    /// Pairs of the last bar of the arch.
    public var last = 3
    /// Seconds of a short note at pace 1.
    public var short = 1.0
    /// Short notes in a long one.
    public var long = 4
    /// Seconds of a short note in the last bar of the arch.
    public var lastShort = 0.8
    /// Seconds a move is thought to take before the game has shown it.
    public var expected = 4.0
    /// Per cent of the median thinking time that are over when the long note begins.
    public var reach = 38
    /// The shortest short note, in seconds, of a bar that has little time.
    public var quickest = 0.55
    /// Seconds from one long note to the next at most, while people play.
    public var apart = 19.0
    /// Pairs before the long note of a bar that an opponent answers in musical time: the least and the most.
    public var answered = 2...4

    mutating func visit<V: RuleVisitor>(_ v: inout V) {
      v.int("longest", &longest, 3...16)
      v.int("shortest", &shortest, 2...8)
      v.int("last", &last, 2...8)
      v.double("short", &short, 0.2...6)
      v.int("long", &long, 1...16)
      v.double("last-short", &lastShort, 0.2...6)
      v.optional { v in
        v.double("expected", &expected, 0.5...60)
        v.int("reach", &reach, 5...100)
        v.double("quickest", &quickest, 0.1...6)
        v.range("answered", .int(1...15), &answered, of: "numbers of pairs")
        v.double("apart", &apart, 5...600)
      }
    }

    /// Pairs of the bar a move begins (`ply` from 1).
    public func pairs(ply: Int) -> Int { min(ply + 1, longest) }

    /// Pairs of the bars that close a game of `plies` moves, in order.
    public func closing(plies: Int) -> [Int] {
      Array(stride(from: pairs(ply: plies) - 1, through: shortest, by: -1)) + [last]
    }
  }

  /// What goes on after the long note of a bar while somebody thinks: phrases that answer it, by both voices in turn.
  public struct Phrases: Sendable, Hashable {
    /// Seconds of rest before each.
    public var after = 0.8
    /// Velocity, in per cent of a bar's.
    public var velocity = 86
    /// Pairs by which the bar of an event may be extended, for each event of the piece so far; 0 for no phrases.
    public var growth = 0

    package mutating func visit<V: RuleVisitor>(_ v: inout V) {
      v.double("after", &after, 0...30)
      v.int("velocity", &velocity, 10...100)
      v.int("growth", &growth, 0...8)
    }
  }

  /// What pieces of many events have besides: bars by phase, sentences that close, a bed that leads.
  public struct Sentences: Sendable, Hashable {
    /// Pairs of an event's bar: where the piece begins, and where all is decided.
    public var pairs = 2...4
    /// Pairs of the first bar of half an arch, by the same; each bar after it has one fewer, down to `BarLaw.shortest`.
    public var arch = 3...4
    /// Velocity, in per cent of T's, of the T that answers what is taken away.
    public var leaves = 110
    /// Seconds the bed takes to come to another root.
    public var bed = 3.0

    package mutating func visit<V: RuleVisitor>(_ v: inout V) {
      v.range("pairs", .int(2...16), &pairs, of: "numbers of pairs")
      v.range("arch", .int(2...16), &arch, of: "numbers of pairs")
      v.int("leaves", &leaves, 10...150)
      v.double("bed", &bed, 0.1...30)
    }

    /// The value of a range that a phase, 0…1, has reached.
    static func value(_ range: ClosedRange<Int>, at phase: Double) -> Int {
      range.lowerBound + Int(min(max(phase, 0), 0.999) * Double(range.count))
    }
  }

  /// One closing arch.
  public struct Ending: Sendable, Hashable {
    /// The contour of its bars.
    public var contour = Contour.arch
    /// The goal of its bars but the last.
    public var goal = Goal.triad
    /// The goal of the last bar.
    public var lastGoal = Goal.tonic
    /// Degrees by which the register moves with each bar of the arch.
    public var climb = 0
    /// Whether the hands take turns; else the winner's plays.
    public var alternates = false
    /// Whether T has the last bar alone.
    public var endsWithTAlone = false
    /// Whether the pedal is let go in the last two bars.
    public var releasesPedal = false
    /// Whether the bars that `drone.bars` names strike the low tonic in the arch, too.
    public var strikesDrone = false
    /// The chain its long notes are sent to, if any.
    public var chain: String?
    /// Per cent by which the short notes of each bar are longer than those of the first.
    public var augment = 0
    /// When T sounds in its bars.
    public var tPace = SignRule.TPace.together

    mutating func visit<V: RuleVisitor>(_ v: inout V) {
      v.word("contour", &contour)
      v.word("goal", &goal)
      v.word("last-goal", &lastGoal)
      v.int("climb", &climb, -3...3)
      v.bool("hands", &alternates, ["winner", "alternate"])
      v.bool("t-alone", &endsWithTAlone)
      v.bool("release-pedal", &releasesPedal)
      v.bool("drone", &strikesDrone)
      v.chain("chain", &chain)
      v.optional { v in
        v.int("augment", &augment, 0...50)
        v.word("t-pace", &tPace)
      }
    }
  }

  /// The phrase before the first move; times in seconds from the first sound.
  public struct Opening: Sendable, Hashable {
    /// The low tonic.
    public var drone = 0.1
    /// The pair on the centre.
    public var center = 2.0
    /// The seeded bar.
    public var phrase = 6.0
    /// Pairs of the seeded bar.
    public var pairs = 3
    /// The first echo.
    public var echoes = 16.0

    mutating func visit<V: RuleVisitor>(_ v: inout V) {
      v.double("drone", &drone, 0...0.3)
      v.double("center", &center, 0.5...60)
      v.double("phrase", &phrase, 1...120)
      v.int("pairs", &pairs, 2...8)
      v.double("echoes", &echoes, 2...300)
    }
  }

  /// What sounds while everyone waits; times in seconds.
  public struct Echoes: Sendable, Hashable {
    /// Silence after a bar before the first.
    public var after = 8.0
    /// Velocity, in per cent of the bar's.
    public var velocity = 72
    /// Octaves added to every second one.
    public var octaves = 1
    /// Rest after the first.
    public var rest = 5.0
    /// Per cent by which each rest is longer than the one before.
    public var growth = 25
    /// Pairs of an echo at most: the last ones of its bar.
    public var most = 4
    /// Waiting after which echoes have three pairs at most, and are softer.
    public var thin = 30.0
    /// Waiting after which the game is told once more, a bar's ends with each low tonic, softer and softer.
    public var sparse = 120.0
    /// Waiting after which there is silence.
    public var until = 600.0
    /// What no echo rises above.
    public var ceiling = Pitch(93)
    /// How many of the latest bars are drawn from.
    public var memory = 12

    mutating func visit<V: RuleVisitor>(_ v: inout V) {
      v.double("after", &after, 1...300)
      v.int("velocity", &velocity, 10...100)
      v.int("octaves", &octaves, 0...1)
      v.double("rest", &rest, 0.5...120)
      v.int("growth", &growth, 1...300)
      v.double("until", &until, 0...3_600)
      v.int("memory", &memory, 1...100)
      v.optional { v in
        v.int("most", &most, 1...16)
        v.double("thin", &thin, 0...3_600)
        v.double("sparse", &sparse, 0...3_600)
        v.pitch("ceiling", &ceiling)
      }
    }
  }

  /// Small answers to what players do.
  public struct Gestures: Sendable, Hashable {
    /// Seconds between the notes of a bar taken back.
    public var undoShort = 0.35
    /// Velocity of a bar taken back, in per cent.
    public var undoVelocity = 72
    /// Seconds below which the next move counts as hurried.
    public var hurry = 0.7
    /// Velocity of T in hurried moves, in per cent (71 is 6 dB softer).
    public var hurryT = 71
    /// Velocity lost with each hurried move in a row, in per cent.
    public var hurryFade = 6
    /// The number of hurried moves in a row that count for that.
    public var hurryMost = 6
    /// Every how many hurried moves the pedal is half changed.
    public var hurryPedal = 3
    /// Seconds between pulses of the drone while a clock is low.
    public var pulse = 1.0
    /// The bed's level between pulses, 0–127.
    public var pulseLevel = 64
    /// A pulse's swelling, the moment it begins to sink and its sinking, as shares of the pulse.
    public var pulseShape = [0.2, 0.4, 0.5]
    /// Velocity of the refusal's knock.
    public var knock = 40
    /// Seconds a note must sound to count as heard; a sign cut earlier is owed.
    public var heard = 0.1
    /// Slots of the long note before which no opponent answers in musical time.
    public var reply = 1
    /// Slots of the long note after which an answer comes where nobody is waited for, as few and as many: seeded.
    public var breath = 4...5
    /// Velocity, in per cent, of the long note that was cut off and sounds with the next downbeat; 0 for none.
    public var resolve = 0

    mutating func visit<V: RuleVisitor>(_ v: inout V) {
      v.double("undo-short", &undoShort, 0.05...3)
      v.int("undo-velocity", &undoVelocity, 10...100)
      v.double("hurry", &hurry, 0...5)
      v.int("hurry-t", &hurryT, 10...100)
      v.int("hurry-fade", &hurryFade, 0...15)
      v.int("hurry-most", &hurryMost, 0...6)
      v.int("hurry-pedal", &hurryPedal, 1...20)
      v.double("pulse", &pulse, 1...10)
      v.int("pulse-level", &pulseLevel, 0...127)
      v.list("pulse-shape", .double(0...1), &pulseShape, 3...3, of: "shares of a pulse, 0–1")
      v.int("knock", &knock, 0...127)
      v.double("heard", &heard, 0...2)
      v.int("reply", &reply, 1...16)
      v.optional { v in
        v.int("resolve", &resolve, 0...100)
        v.range("breath", .int(1...16), &breath, of: "numbers of slots")
      }
    }
  }
}
