import ScoreModel

extension ScoreRules {
  /// The way in which a voice plays: its register, pan and roll.
  public struct Manner: Sendable, Hashable {
    /// Octaves by which the composed melody is moved up, or down if negative; T moves with it.
    public var octaves = 0
    /// The pan, −100 (left) … +100 (right).
    public var pan = 0
    /// Milliseconds by which T precedes M.
    public var rollMilliseconds = 0

    mutating func visit<V: RuleVisitor>(_ v: inout V) {
      v.int("octaves", &octaves, -3...2)
      v.int("pan", &pan, -100...100)
      v.int("roll-ms", &rollMilliseconds, 0...300)
    }
  }

  /// The touch, timing and effects that distinguish players of the same voice.
  public struct Colour: Sendable, Hashable {
    /// The player's name, as in `Conductor.names`.
    public var name = ""
    /// The player's velocity, in per cent of the usual velocity.
    public var touch = 100
    /// When T sounds in bars whose sign lets T sound together with M.
    public var tPace = SignRule.TPace.together
    /// The effect chain of the long notes for which no sign, ending or `longNotes` sets a chain.
    public var chain: String?

    package mutating func visit<V: RuleVisitor>(_ v: inout V) {
      v.name("name", &name)
      v.int("touch", &touch, 50...120)
      v.word("t-pace", &tPace)
      v.chain("chain", &chain)
    }
  }

  /// The lengths of bars and notes. The values are for a rule file without the key; the game's own are in `Assets/score.yaml`.
  public struct BarLaw: Sendable, Hashable {
    /// The number of pairs of the longest bar.
    public var longest = 8
    /// The number of pairs of the shortest closing bar.
    public var shortest = 2
    /// The number of pairs of the last closing bar.
    public var last = 3
    /// Seconds of a short note at the tempo factor 1.
    public var short = 1.0
    /// How many short notes last as long as a long note.
    public var long = 4
    /// Seconds of a short note in the last closing bar.
    public var lastShort = 0.8
    /// The thinking time in seconds that is assumed at the start of a game.
    public var expected = 4.0
    /// The latest start of the long note after the bar's start, in per cent of the median thinking time.
    public var reach = 38
    /// The shortest short note in seconds, in a bar with little time.
    public var quickest = 0.55
    /// The most seconds between two long notes while people play.
    public var apart = 19.0
    /// The range of the number of pairs before a bar's long note if the music chooses the time of the reply, but not of the event.
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

    /// The number of pairs of a move's bar (`ply` from 1) before `Conductor.barSize` fits the bar to the time.
    public func usualPairs(ply: Int) -> Int { min(ply + 1, longest) }

    /// The numbers of pairs of the closing bars of a game with `plies` moves: one fewer from bar to bar down to `shortest`, then `last`.
    public func closing(plies: Int) -> [Int] {
      Array(stride(from: usualPairs(ply: plies) - 1, through: shortest, by: -1)) + [last]
    }
  }

  /// The phrases after a bar's long note while a player thinks, by both voices in turn.
  public struct Phrases: Sendable, Hashable {
    /// The rest, in seconds, before each phrase.
    public var after = 0.8
    /// The velocity of phrases in per cent of the velocity that a move's bar would have.
    public var velocity = 86
    /// The phrases after an event's bar have at most this number of pairs times the number of events so far; 0 for no phrases.
    public var growth = 0

    package mutating func visit<V: RuleVisitor>(_ v: inout V) {
      v.double("after", &after, 0...30)
      v.int("velocity", &velocity, 10...100)
      v.int("growth", &growth, 0...8)
    }
  }

  /// Additional rules for pieces with many events: bar lengths by progress, sentences, and a moving drone.
  public struct Sentences: Sendable, Hashable {
    /// The usual number of pairs of an event's bar: the lower bound at the start of a piece, the upper bound when the piece is decided.
    public var pairs = 2...4
    /// The number of pairs of the first bar of a half arch: the lower bound at the start of a piece, the upper bound when the piece is
    /// decided.
    public var arch = 3...4
    /// The velocity of the T that answers a removed mark, in per cent of T's usual velocity.
    public var leaves = 110
    /// The time in seconds in which the bed reaches another root.
    public var bed = 3.0
    /// The rhythms of the bars of a half arch, one after the other; if empty, all these bars are `even`.
    public var rhythms: [Bar.Rhythm] = []
    /// The change that a closed sentence makes lasts for this number of events.
    public var lasting = 10
    /// Each closed sentence changes the bars of the next `lasting` events by one of these changes, in turn.
    public var changes: [Change] = []

    /// A change that a closed sentence makes to the bars after it.
    public struct Change: Sendable, Hashable {
      /// The position of T in bars whose sign has the same position of T as the last row of `signs`; `nil` leaves it unchanged.
      public var t: SignRule.TPosition?
      /// When T sounds in bars whose sign lets T sound together with M.
      public var tPace = SignRule.TPace.together
      /// The degree above the bar's root (1 is the root itself) that is struck low under each downbeat; `nil` for none.
      public var bass: Int?
      /// Degrees by which the register moves up, or down if negative.
      public var register = 0
      /// The effect chain of pairs for which no sign sets a chain; a long pair keeps the chain `longNotes` if there is one.
      public var chain: String?
      /// Two degrees, counted from the bar's root as 1: the bed's low tone and its highest tone. Empty for the root and its fifth.
      public var bed: [Int] = []

      package mutating func visit<V: RuleVisitor>(_ v: inout V) {
        v.optional { v in
          v.word("t", &t)
          v.word("t-pace", &tPace)
          v.int("bass", &bass, 1...7)
          v.int("register", &register, -7...7)
          v.chain("chain", &chain)
          v.list("bed", .int(1...7), &bed, 0...2, of: "degrees")
        }
      }
    }

    package mutating func visit<V: RuleVisitor>(_ v: inout V) {
      v.range("pairs", .int(2...16), &pairs, of: "numbers of pairs")
      v.range("arch", .int(2...16), &arch, of: "numbers of pairs")
      v.int("leaves", &leaves, 10...150)
      v.double("bed", &bed, 0.1...30)
      v.words("rhythms", &rhythms, 0...8, of: "rhythms")
      v.int("lasting", &lasting, 0...100)
      v.each("changes", 0...12, of: "changes", &changes, new: Change()) { $0.visit(&$1) }
    }

    /// The number in `range` for a phase 0…1: the lower bound for the phase 0, the upper bound for phases near 1.
    static func value(_ range: ClosedRange<Int>, at phase: Double) -> Int {
      range.lowerBound + Int(min(max(phase, 0), 0.999) * Double(range.count))
    }
  }

  /// A closing arch: the bars after the end of a piece, which recall the piece.
  public struct Ending: Sendable, Hashable {
    /// The contour of the closing bars.
    public var contour = Contour.arch
    /// The kind of note on which the closing bars end, except the last.
    public var goal = Goal.triad
    /// The kind of note on which the last closing bar ends.
    public var lastGoal = Goal.tonic
    /// Degrees by which the register moves up with each closing bar, or down if negative.
    public var climb = 0
    /// Whether the voices alternate in the closing bars; else the winner's voice plays them all.
    public var alternates = false
    /// Whether T plays the last closing bar alone.
    public var endsWithTAlone = false
    /// Whether the pedal is released in the last two closing bars.
    public var releasesPedal = false
    /// Whether the closing bars whose numbers are in `drone.bars` strike the low tonic, too.
    public var strikesDrone = false
    /// The effect chain of the long notes of the closing bars, if any.
    public var chain: String?
    /// With each closing bar, short notes get longer by this number of per cent of a short note of the first closing bar.
    public var augment = 0
    /// The time at which T sounds in the closing bars, relative to M.
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
    /// The time of the low tonic in seconds from the first sound.
    public var drone = 0.1
    /// The time of the opening's first pair in seconds from the first sound; M plays the pitch of the centre cell.
    public var center = 2.0
    /// The time of the opening bar in seconds from the first sound; the seed determines the melody of this bar.
    public var phrase = 6.0
    /// The number of pairs of the opening bar.
    public var pairs = 3
    /// The time of the first echo in seconds from the first sound.
    public var echoes = 16.0

    mutating func visit<V: RuleVisitor>(_ v: inout V) {
      v.double("drone", &drone, 0...0.3)
      v.double("center", &center, 0.5...60)
      v.double("phrase", &phrase, 1...120)
      v.int("pairs", &pairs, 2...8)
      v.double("echoes", &echoes, 2...300)
    }
  }

  /// The echoes while no event comes; times in seconds.
  public struct Echoes: Sendable, Hashable {
    /// The silence, in seconds, before the first echo after a bar of at least `bars.longest` pairs. Shorter bars shorten it (`afterShort`).
    public var after = 8.0
    /// The silence after a bar of two pairs, in per cent of `after`. From there to `bars.longest` pairs the silence grows evenly. The
    /// phrases after a bar count as pairs of the bar.
    public var afterShort = 100
    /// The velocity of an echo in per cent of the velocity of the bar that it repeats.
    public var velocity = 72
    /// Octaves added to every second echo.
    public var octaves = 1
    /// The silence after the first echo, in seconds.
    public var rest = 5.0
    /// Per cent by which the silence after each further echo is longer than the silence after the echo before.
    public var growth = 25
    /// The most pairs of an echo, which repeats the last pairs of a bar.
    public var most = 4
    /// When the wait for an event has lasted this many seconds, echoes become softer and have at most three pairs.
    public var thin = 30.0
    /// When the wait for an event has lasted this many seconds, echoes stop, and each stroke of the low tonic recalls an earlier event.
    public var sparse = 120.0
    /// When the wait for an event has lasted this many seconds, both echoes and strokes of the low tonic stop.
    public var until = 600.0
    /// The highest pitch of an echo.
    public var ceiling = Pitch(93)
    /// An echo repeats one of the latest bars; this is the number of bars to choose from.
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
        v.int("after-short", &afterShort, 10...100)
        v.int("most", &most, 1...16)
        v.double("thin", &thin, 0...3_600)
        v.double("sparse", &sparse, 0...3_600)
        v.pitch("ceiling", &ceiling)
      }
    }
  }

  /// Responses to players' actions.
  public struct Gestures: Sendable, Hashable {
    /// Seconds between the pairs of a bar that is taken back.
    public var undoShort = 0.35
    /// Velocity at which a bar that is taken back sounds backwards, in per cent of the velocity with which it was first played.
    public var undoVelocity = 72
    /// A move less than this number of seconds after the move before counts as hurried.
    public var hurry = 0.7
    /// Velocity of T in hurried moves, in per cent of T's usual velocity (71 is 6 dB softer).
    public var hurryT = 71
    /// Per cent of velocity lost with each consecutive hurried move.
    public var hurryFade = 6
    /// The most consecutive hurried moves that count for `hurryFade`.
    public var hurryMost = 6
    /// The pedal rises half way and falls again at every `hurryPedal`th hurried move in a row.
    public var hurryPedal = 3
    /// Seconds between pulses of the bed while a player's clock is low.
    public var pulse = 1.0
    /// The level of the bed between pulses, 0–127.
    public var pulseLevel = 64
    /// The duration of a pulse's rise, the start of its fall and the duration of the fall, in this order, as shares of `pulse`.
    public var pulseShape = [0.2, 0.4, 0.5]
    /// The velocity of a refusal's knock, 0–127.
    public var knock = 40
    /// Seconds after which a note counts as heard. If a note that carries a sign is cut earlier, a later bar plays the sign again.
    public var heard = 0.1
    /// The number of short notes from the start of the long note to the earliest reply, if the music chooses the time of the reply.
    public var reply = 1
    /// Between two computers, the number of short notes from the start of the long note to the reply; the seed chooses in this range.
    public var breath = 4...5
    /// The velocity of a cut long note that the next bar plays again, in per cent of the velocity before the cut; 0 for no repetition.
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
