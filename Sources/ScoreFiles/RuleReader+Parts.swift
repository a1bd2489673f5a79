import Composer
import ScoreModel

/// The parts of a rule file, each with its keys and ranges.
extension RuleReader {
  static let seconds = 0.0...600.0
  static let decibels = -120.0...24.0

  static func hand(_ node: RuleNode?) -> ScoreRules.Hand {
    let f = node?.fields(["octaves", "pan", "roll-ms"])
    return ScoreRules.Hand(
      octaves: f?.int("octaves", -3...2) ?? 0, pan: f?.int("pan", -100...100) ?? 0,
      rollMilliseconds: f?.int("roll-ms", 0...300) ?? 0)
  }

  static func bars(_ node: RuleNode?) -> ScoreRules.BarLaw {
    let f = node?.fields(["longest", "shortest", "last", "short", "long", "last-short"])
    return ScoreRules.BarLaw(
      longest: f?.int("longest", 3...16) ?? 8, shortest: f?.int("shortest", 2...8) ?? 2,
      last: f?.int("last", 2...8) ?? 3, short: f?.double("short", 0.2...6) ?? 1, long: f?.int("long", 1...16) ?? 4,
      lastShort: f?.double("last-short", 0.2...6) ?? 1)
  }

  static func melody(_ node: RuleNode?) -> ScoreRules.MelodyRules {
    let f = node?.fields([
      "candidates", "compass", "register", "widest", "drift", "recalls", "quotes", "bridge", "contours", "weights",
    ])
    let contours = f?["contours"]?.fields(["ahead", "even", "behind"])
    func list(_ name: String) -> [ScoreRules.Contour] {
      contours?[name]?.elements(1...12, of: "contours").compactMap { $0.choice(ScoreRules.Contour.self) } ?? []
    }
    let names = ScoreRules.MelodyRule.allCases
    let w = f?["weights"]?.fields(names.map(\.name))
    var weights: [ScoreRules.MelodyRule: Int] = [:]
    for rule in names { weights[rule] = w?.int(rule.name, rule == .chance ? 0...10_000 : -10_000...10_000) }
    let whole = Pitch(21)...Pitch(108)
    return ScoreRules.MelodyRules(
      weights: weights, candidates: f?.int("candidates", 1...100) ?? 1,
      widest: f?.int("widest", 4...14) ?? 7, compass: f?["compass"]?.pair("pitches") { $0.pitch() } ?? whole,
      register: f?["register"]?.pair("pitches") { $0.pitch() } ?? whole,
      drift: f?.int("drift", 0...7) ?? 0,
      recalls: f?["recalls"]?.elements(0...8, of: "bar lengths").map { $0.int(3...16) } ?? [],
      bridge: f?.int("bridge", 1...14) ?? 5, quotes: f?.int("quotes", 0...100) ?? 0, ahead: list("ahead"),
      even: list("even"), behind: list("behind"))
  }

  static func signs(_ node: RuleNode, chains: [String]) -> [SignRule] {
    node.elements(1...40, of: "rules").map { place in
      let f = place.fields(["name", "when", "then"], optional: ["unless", "covers"])
      func facts(_ name: String) -> [Fact] {
        f[name]?.elements(0...12, of: "facts").compactMap { $0.choice(Fact.self) } ?? []
      }
      let covers = f["covers"]?.elements(0...40, of: "names of rules").map { $0.name() } ?? []
      var rule = SignRule(f["name"]?.name() ?? "", when: facts("when"), unless: facts("unless"), covers: covers)
      if let then = f["then"] { actions(then, &rule, chains: chains) }
      return rule
    }
  }

  private static let actionNames = [
    "t", "t-octaves", "lean", "goal", "contour", "turn", "visit-line", "second-pair", "second-velocity", "awaken",
    "bass", "drone", "bell", "chain",
  ]

  private static func actions(_ node: RuleNode, _ rule: inout SignRule, chains: [String]) {
    let f = node.fields([], optional: actionNames)
    if let t = f["t"] {
      rule.t =
        t.choice([
          (name: "-1", value: SignRule.TPosition.fixed(-1)), ("-2", .fixed(-2)), ("1", .fixed(1)), ("2", .fixed(2)),
          ("nearest", .nearest), ("alternate-1", .alternating(1)), ("alternate-2", .alternating(2)),
        ]) ?? rule.t
    }
    func at(_ fields: RuleFields?) -> Place { fields?["at"]?.choice(Place.self) ?? .first }
    if let place = f["t-octaves"] {
      let fields = place.fields(["add", "at"])
      rule.tOctaves = fields.int("add", -2...2)
      rule.tOctavesAt = at(fields)
    }
    if let place = f["lean"] { rule.leans = place.bool() }
    if let place = f["goal"] { rule.goal = place.choice(ScoreRules.Goal.self) }
    if let place = f["contour"] { rule.contour = place.choice(ScoreRules.Contour.self) }
    if let place = f["turn"] { rule.turns = place.bool() }
    if let place = f["visit-line"] { rule.visitsLine = place.bool() }
    if let place = f["second-pair"] { rule.secondPair = place.int(-4...4) }
    if let place = f["second-velocity"] { rule.secondVelocity = place.int(20...150) }
    if let place = f["awaken"] {
      let fields = place.fields(["m", "t"])
      rule.awakenM = fields.int("m", 1...7)
      rule.awakenT = fields.int("t", 1...7)
    }
    if let place = f["bass"] {
      let fields = place.fields(["pitch", "at"])
      rule.bass = fields.pitch("pitch")
      rule.bassAt = at(fields)
    }
    if let place = f["drone"] { rule.drone = place.choice(Place.self) }
    if let place = f["bell"] { rule.bells = place.elements(0...4, of: "places").compactMap { $0.choice(Place.self) } }
    if let place = f["chain"] {
      let fields = place.fields(["name", "at"])
      rule.chain = fields["name"].flatMap { chainName($0, chains) }
      rule.chainAt = at(fields)
    }
  }

  static func ending(_ node: RuleNode?, chains: [String]) -> ScoreRules.Ending {
    let f = node?.fields([
      "contour", "goal", "last-goal", "climb", "hands", "t-alone", "release-pedal", "drone", "chain",
    ])
    return ScoreRules.Ending(
      contour: f?["contour"]?.choice(ScoreRules.Contour.self) ?? .arch,
      goal: f?["goal"]?.choice(ScoreRules.Goal.self) ?? .triad,
      lastGoal: f?["last-goal"]?.choice(ScoreRules.Goal.self) ?? .tonic, climb: f?.int("climb", -3...3) ?? 0,
      alternates: f?["hands"]?.choice([(name: "winner", value: false), ("alternate", true)]) ?? false,
      endsWithTAlone: f?.bool("t-alone") ?? false, releasesPedal: f?.bool("release-pedal") ?? false,
      strikesDrone: f?.bool("drone") ?? false, chain: f?["chain"].flatMap { chainName($0, chains) })
  }

  static func opening(_ node: RuleNode?) -> ScoreRules.Opening {
    let f = node?.fields(["drone", "center", "phrase", "pairs", "echoes"])
    return ScoreRules.Opening(
      drone: f?.double("drone", 0...0.3) ?? 0, center: f?.double("center", 0.5...60) ?? 1,
      phrase: f?.double("phrase", 1...120) ?? 2, pairs: f?.int("pairs", 2...8) ?? 2,
      echoes: f?.double("echoes", 2...300) ?? 3)
  }

  static func echoes(_ node: RuleNode?) -> ScoreRules.Echoes {
    let f = node?.fields(["after", "velocity", "octaves", "rest", "growth", "until", "memory"])
    return ScoreRules.Echoes(
      after: f?.double("after", 1...300) ?? 8, velocity: f?.int("velocity", 10...100) ?? 50,
      octaves: f?.int("octaves", 0...1) ?? 0, rest: f?.double("rest", 0.5...120) ?? 1,
      growth: f?.int("growth", 1...300) ?? 1, until: f?.double("until", 0...3_600) ?? 0,
      memory: f?.int("memory", 1...100) ?? 1)
  }

  static func drone(_ node: RuleNode?) -> ScoreRules.Drone {
    let f = node?.fields(["notes", "velocity", "seconds", "bars", "every", "bed", "level", "fade"])
    return ScoreRules.Drone(
      notes: f?["notes"]?.elements(0...4, of: "pitches").map { $0.pitch() } ?? [],
      velocity: f?.int("velocity", 1...127) ?? 1, seconds: f?.double("seconds", 0.1...60) ?? 1,
      bars: f?["bars"]?.elements(0...30, of: "bar numbers").map { $0.int(1...30) } ?? [],
      every: f?.double("every", 5...3_600) ?? 40, bed: f?.pitch("bed") ?? Pitch(47),
      level: f?.int("level", 0...127) ?? 0, fade: f?.double("fade", 0.05...60) ?? 1)
  }

  static func pedal(_ node: RuleNode?) -> ScoreRules.Pedal {
    let f = node?.fields(["fade", "new-game", "lift", "retake", "half", "half-seconds"])
    return ScoreRules.Pedal(
      fade: f?.double("fade", 0.01...1) ?? 0, newGame: f?.double("new-game", 0.05...3) ?? 0,
      lift: f?.double("lift", 0...2) ?? 0, retake: f?.double("retake", 0...2) ?? 0, half: f?.int("half", 0...127) ?? 0,
      halfSeconds: f?.double("half-seconds", 0.02...2) ?? 0)
  }

  static func gestures(_ node: RuleNode?) -> ScoreRules.Gestures {
    let f = node?.fields([
      "undo-short", "undo-velocity", "hurry", "hurry-t", "hurry-fade", "hurry-most", "hurry-pedal", "pulse",
      "pulse-level", "pulse-shape", "knock", "heard", "reply",
    ])
    let shape = f?["pulse-shape"]?.elements(3...3, of: "shares of a pulse, 0–1").map { $0.double(0...1) } ?? []
    return ScoreRules.Gestures(
      undoShort: f?.double("undo-short", 0.05...3) ?? 1, undoVelocity: f?.int("undo-velocity", 10...100) ?? 50,
      hurry: f?.double("hurry", 0...5) ?? 0, hurryT: f?.int("hurry-t", 10...100) ?? 100,
      hurryFade: f?.int("hurry-fade", 0...15) ?? 0, hurryMost: f?.int("hurry-most", 0...6) ?? 0,
      hurryPedal: f?.int("hurry-pedal", 1...20) ?? 1, pulse: f?.double("pulse", 1...10) ?? 1,
      pulseLevel: f?.int("pulse-level", 0...127) ?? 0, pulseShape: shape.count == 3 ? shape : [0, 0, 0],
      knock: f?.int("knock", 0...127) ?? 0, heard: f?.double("heard", 0...2) ?? 0, reply: f?.int("reply", 1...16) ?? 1)
  }

  static func performance(_ node: RuleNode?) -> ScoreRules.Performance {
    let f = node?.fields([
      "phrase-arch", "final-ritard", "high-loud", "timing", "touch", "m", "t", "range", "softest",
    ])
    let arch = f?["phrase-arch"]?.fields(["k", "slower", "softer"])
    let ritard = f?["final-ritard"]?.fields(["k", "slower"])
    let high = f?["high-loud"]?.fields(["k", "louder"])
    let timing = f?["timing"]?.fields(["k", "spread"])
    let touch = f?["touch"]?.fields(["k", "spread"])
    let k = -5.0...5.0
    return ScoreRules.Performance(
      phraseArch: arch?.double("k", k) ?? 0, archSlower: arch?.double("slower", 0...30) ?? 0,
      archSofter: arch?.double("softer", 0...30) ?? 0, finalRitard: ritard?.double("k", k) ?? 0,
      ritardSlower: ritard?["slower"]?.elements(0...8, of: "per cents").map { $0.double(0...30) } ?? [],
      highLoud: high?.double("k", k) ?? 0, highLouder: high?.double("louder", 0...30) ?? 0,
      timing: timing?.double("k", k) ?? 0, timingSpread: timing?.double("spread", 0...10) ?? 0,
      touch: touch?.double("k", k) ?? 0, touchSpread: touch?.double("spread", 0...30) ?? 0,
      m: f?.int("m", 1...127) ?? 1, t: f?.int("t", 1...127) ?? 1,
      range: f?["range"]?.pair("velocities") { $0.int(1...127) } ?? 1...127, softest: f?.int("softest", 1...127) ?? 1)
  }

  static func chains(_ node: RuleNode) -> [ScoreRules.Chain] {
    node.elements(0...7, of: "chains").map { place in
      let f = place.fields(["name", "level", "units"])
      return ScoreRules.Chain(
        name: f["name"]?.name() ?? "", level: f.double("level", -60...24),
        units: f["units"]?.elements(1...4, of: "units").compactMap { unit($0) } ?? [])
    }
  }

  static func mix(_ node: RuleNode?) -> ScoreRules.Mix {
    let f = node?.fields([
      "master", "piano", "grand", "reverb-send", "drone", "preview", "bell", "knock", "bell-seconds", "room", "breath",
      "strings",
    ])
    let strings = f?["strings"]?.fields(["notes", "seconds", "damping", "send"])
    func level(_ name: String) -> Double { f?.double(name, decibels) ?? 0 }
    let none = ScoreRules.Unit(kind: "gain", preset: nil, values: [:])
    return ScoreRules.Mix(
      master: level("master"), piano: level("piano"), grand: level("grand"), reverbSend: level("reverb-send"),
      drone: level("drone"), preview: level("preview"), bell: level("bell"), knock: level("knock"),
      bellSeconds: f?.double("bell-seconds", 0.2...20) ?? 1,
      room: f?["room"].flatMap { unit($0, kinds: ["reverb"]) } ?? none,
      breath: f?["breath"].flatMap { unit($0, kinds: ["matcher"]) } ?? none,
      strings: strings?["notes"]?.elements(0...6, of: "pitches").map { $0.pitch() } ?? [],
      stringSeconds: strings?.double("seconds", 0.1...30) ?? 1,
      stringDamping: strings?.double("damping", 0...0.95) ?? 0,
      stringSend: strings?.double("send", decibels) ?? -120)
  }
}
