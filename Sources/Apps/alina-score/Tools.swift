import ArgumentParser
import ScoreIO
import ScoreModel
import Synth

struct Effects: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "fx", abstract: "Send a sound through a chain of effect units.",
    discussion: """
      Units: comb:metallic-ring|light-delay|wax-comb, ringmod:bell|shimmer, matcher:breath|follow,
      reverb:church|room, gain:DB. Values that differ from the preset follow it, as in
      "comb:wax-comb delay=300 feedback=0.9"; the preset custom starts from plain values.
      """)

  @Argument(help: "The sound to read.") var input: String
  @Option(help: ArgumentHelp("Units in order, such as \"comb:wax-comb, ringmod:bell\".", valueName: "units"))
  var chain: String
  @Option(help: ArgumentHelp("Silence added at the end for the decay of the effects.", valueName: "seconds")) var tail =
    3.0
  @Argument(help: "The sound to write (.wav or .flac).") var output: String

  func validate() throws {
    guard (0...60).contains(tail) else { throw ValidationError("--tail \(tail): 0–60 seconds") }
  }

  func run() throws {
    let chain = try RuleReader.chain(chain)
    var sound = try Sound(path: input)
    sound.pass(through: chain, ringing: tail)
    try sound.write(to: output)
  }
}

struct Tone: ParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Write a sine of a pitch, with its fades.")

  @Argument(help: "The pitch: F#5, Bb3 or a MIDI number 0–127, fractions allowed.") var pitch: String
  @Option(help: ArgumentHelp("Time from the start to the fade-out.", valueName: "seconds")) var seconds = 2.0
  @Option(help: ArgumentHelp("Its level, dBFS.", valueName: "dB")) var level: Float = -12
  @Option(help: ArgumentHelp("A4, 415–466.", valueName: "Hz")) var a4: Float = 440
  @Option(help: ArgumentHelp("Fade in.", valueName: "ms")) var fadeIn: Float = 60
  @Option(help: ArgumentHelp("Fade out.", valueName: "ms")) var fadeOut: Float = 180
  @Argument(help: "The sound to write (.wav or .flac).") var output: String

  func validate() throws {
    guard (0.001...600).contains(seconds) else { throw ValidationError("--seconds \(seconds): 0.001–600") }
    guard (415...466).contains(a4) else { throw ValidationError("--a4 \(a4): 415–466 Hz") }
    guard (-120...0).contains(level) else { throw ValidationError("--level \(level): -120–0 dBFS") }
    guard (1...60_000).contains(fadeIn), (1...60_000).contains(fadeOut) else {
      throw ValidationError("--fade-in and --fade-out: 1–60000 ms")
    }
  }

  func run() throws {
    let midi = Spelling(pitch).map { Double($0.midi) } ?? Double(pitch)
    guard let midi, (0...127).contains(midi) else {
      throw ScoreFileError("\(pitch): a pitch such as F#5, or a MIDI number 0–127")
    }
    let sound = Sound.tone(
      midi: midi, seconds: seconds,
      ToneGenerator.Parameters(level: level, fadeIn: fadeIn, fadeOut: fadeOut, a4: a4))
    try sound.write(to: output)
  }
}

struct Envelope: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Take a sound's envelope, or give a sound the envelope of another.",
    subcommands: [Extract.self, Match.self])

  struct Window: ParsableArguments {
    @Option(help: ArgumentHelp("The window, 1–1000.", valueName: "ms")) var window: Float = 50
    @Option(help: ArgumentHelp("peak or average (root mean square).", valueName: "kind")) var detector = "average"

    func validate() throws {
      guard (1...1_000).contains(window) else { throw ValidationError("--window \(window): 1–1000 ms") }
      guard kind != nil else { throw ValidationError("--detector \(detector): peak or average") }
    }

    var kind: EnvelopeExtractor.Detector? { ["peak": .peak, "average": .average][detector] }
  }

  struct Extract: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Write a sound's envelope: as a sound, or every 10 ms as text if OUT ends in .csv.")
    @OptionGroup var window: Window
    @Argument(help: "The sound to read.") var input: String
    @Argument(help: "Where to write (.wav, .flac or .csv).") var output: String

    func run() throws {
      let sound = try Sound(path: input)
      let envelope = sound.envelope(
        EnvelopeExtractor.Parameters(window: window.window, detector: window.kind ?? .average))
      guard output.hasSuffix(".csv") else { return try envelope.write(to: output) }
      var text = "seconds,amplitude\n"
      let step = envelope.sampleRate / 100
      for index in stride(from: 0, to: envelope.frames.count, by: step) {
        text += "\(Double(index) / Double(envelope.sampleRate)),\(envelope.frames[index].x)\n"
      }
      try OutputFile.write(Array(text.utf8), to: output)
    }
  }

  struct Match: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Give IN the envelope of MODEL.")
    @OptionGroup var window: Window
    @Option(help: ArgumentHelp("The strength: 0 changes nothing, 100 gives the whole envelope.", valueName: "%"))
    var match: Float = 100
    @Option(help: ArgumentHelp("Gain after matching, -60–24.", valueName: "dB")) var gain: Float = 0
    @Argument(help: "The sound to change.") var input: String
    @Argument(help: "The sound whose envelope it takes.") var model: String
    @Argument(help: "The sound to write (.wav or .flac).") var output: String

    func validate() throws {
      guard (0...100).contains(match) else { throw ValidationError("--match \(match): 0–100 %") }
      guard (-60...24).contains(gain) else { throw ValidationError("--gain \(gain): -60–24 dB") }
    }

    func run() throws {
      var sound = try Sound(path: input)
      let other = try Sound(path: model)
      guard sound.sampleRate == other.sampleRate else {
        throw ScoreFileError("\(input) has \(sound.sampleRate) Hz, \(model) \(other.sampleRate): they must be the same")
      }
      sound.match(
        to: other,
        EnvelopeMatcher.Parameters(window: window.window, detector: window.kind ?? .average, match: match, gain: gain))
      try sound.write(to: output)
    }
  }
}

struct Devices: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "List the sound devices that `alina --device NAME` can open.")

  func run() throws {
    let names = SoundDevices.names()
    guard let names else { throw ScoreFileError("SDL2 is not installed, so no device can be listed") }
    try writeOut(
      (names.isEmpty ? "no sound device: alina plays on in silence" : names.joined(separator: "\n")) + "\n")
  }
}
