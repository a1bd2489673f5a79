import Base
import Interface
import ScoreFormats
import Screen

/// The player's own music: ten dials, an example that sounds when a dial has moved, a link and a rule file.
final class MusicEditor {
  private let machine: AppEnvironment
  private let screen: RootScreen
  private let music: Music
  private let files: Files
  private var own: OwnMusic
  /// When the example begins after a dial was turned, in seconds of the platform's clock.
  private var soundsAt: Double?

  /// Seconds after the last movement of a dial until the example begins.
  private static let rest = 0.25
  private static let captions = [
    Phrase.dialShort, .dialLong, .dialLongest, .dialPhrases, .dialFamiliar, .dialLeap, .dialTension, .dialMelody,
    Phrase.dialDrone, .dialReverb,
  ]

  init(_ machine: AppEnvironment, _ screen: RootScreen, _ music: Music, _ files: Files) {
    (self.machine, self.screen, self.music, self.files) = (machine, screen, music, files)
    let names = machine.rules.names
    own = (try? OwnMusic(screen.settings.ownMusic, bases: names)) ?? OwnMusic(base: names.first ?? "")
  }

  var isDue: Bool { soundsAt != nil }

  /// The path in the page's address, which encodes the player's own music.
  var place: String { "m/\(own.word)" }

  /// Begins the example once no dial has moved for `rest` seconds; stops the example when the player leaves the page.
  func carryOn(at now: Double) {
    let isOpen = screen.currentScene == .music
    if !isOpen, screen.pages.ownMusic.isPlaying { music.stop() }
    guard let soundsAt, now >= soundsAt else { return }
    self.soundsAt = nil
    if isOpen { hear() }
  }

  func answer(_ intent: MusicIntent) {
    let settings = screen.settings
    switch intent {
    case .show: break
    case .open(let word):
      do throws(OwnMusic.Fault) { own = try OwnMusic(word, bases: machine.rules.names) } catch {
        return screen.say(message(for: error))
      }
      screen.show(.music)
    case .turn(let dial, let position):
      own.steps[dial] = position
      keep()
      soundsAt = machine.services.now() + MusicEditor.rest
    case .reset:
      own = OwnMusic(base: own.base)
      keep()
    case .hear: if screen.pages.ownMusic.isPlaying { music.stop() } else { hear() }
    case .use: (settings.ownMusic, settings.scoreRules) = (own.word, own.word)
    case .share:
      files.share(place)
    case .saveFile: saveFile()
    }
    fill()
  }

  /// Stores the positions of the dials. Games that use the player's own music use the changed music from now on.
  private func keep() {
    let settings = screen.settings
    let isUsed = (try? OwnMusic(settings.scoreRules, bases: machine.rules.names)) != nil
    settings.ownMusic = own.word
    if isUsed { settings.scoreRules = own.word }
  }

  private func hear() {
    do throws(ScoreRulesProvider.Refusal) { music.playExample(try machine.rules.load(own.word).rules) } catch {
      screen.say(Message(error.description))
    }
  }

  private func saveFile() {
    guard let tree = machine.rules.tree(own.base).map(own.changing) else { return }
    let path = machine.services.exportPath(ScoreRulesProvider.fileName(own), in: "music/")
    do throws(WriteFault) {
      try machine.services.files.write(path.file, Array(tree.yaml.utf8))
      // A browser itself shows that it has downloaded the file.
      if !machine.services.isPage { screen.say("\(.savedAs) \(path.shown)") }
    } catch {
      screen.say("\(.writeFailed) \(path.shown)\(error.reason)")
    }
  }

  private func message(for fault: OwnMusic.Fault) -> Message {
    switch fault {
    case .count(let count): "\(.musicCount, "\(count)", "\(RuleDial.all.count)")"
    case .number(let place, let most): "\(.musicNumber, "\(place)", "\(most)")"
    case .base(let name): "\(.musicBase, Message(name))"
    }
  }

  private func fill() {
    guard let base = machine.rules.tree(own.base) else { return }
    var model = OwnMusicModel()
    model.dials = RuleDial.all.indices.map { index in
      let dial = RuleDial.all[index]
      var texts = (0...dial.steps).map { dial.text(at: $0) }
      guard let steps = own.steps[index] else {
        let text = base.text(of: dial.key) ?? ""
        let number = Double(text) ?? dial.range.lowerBound
        let nearest = min(max(Int(((number - dial.range.lowerBound) / dial.step).rounded()), 0), dial.steps)
        texts[nearest] = text
        return DialModel(MusicEditor.captions[index], position: nearest, texts: texts)
      }
      return DialModel(MusicEditor.captions[index], position: steps, texts: texts)
    }
    model.isUsed = screen.settings.scoreRules == own.word
    model.isPlaying = screen.pages.ownMusic.isPlaying
    model.isUnchanged = own.steps.allSatisfy { $0 == nil }
    screen.pages.ownMusic = model
  }
}
