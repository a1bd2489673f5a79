import Base
import Glibc
import Play
import SDLPlatform
import ScoreModel
import Screen
import Synth

/// Writes the window's next frame to each path in `wanted`.
final class Pictures {
  var wanted: [String] = []
  private(set) var failed: [String] = []
  private let services: PlatformServices

  init(_ services: PlatformServices) { self.services = services }

  var areWanted: Bool { !wanted.isEmpty }

  func write(_ bitmap: Bitmap, tell: (_ path: String, _ isWritten: Bool) -> Void) {
    for path in wanted {
      let isWritten = (try? services.files.write(path, bitmap.png())) != nil
      if !isWritten { failed.append(path) }
      tell(path, isWritten)
    }
    wanted = []
  }
}

/// The game with the additions of the command line: scripted inputs, saved pictures, lines for a screen reader and a log of the controls.
final class ScriptedGame: PlatformGame {
  private let app: App
  private let engine: Engine
  private let pictures: Pictures
  private var script: Script?
  private var controlLog: ControlLog?
  private var end: (frame: Tick, picture: String?)?
  private var quits = false
  private var speaker: SpeechDispatcher?

  init(_ app: App, _ engine: Engine, _ pictures: Pictures, script: Script?, controlLog path: String?) {
    (self.app, self.engine, self.pictures, self.script) = (app, engine, pictures, script)
    controlLog = path.map { ControlLog(path: $0) }
    app.looksAround = script == nil
  }

  var windowTitle: String { app.windowTitle }
  var wantsToQuit: Bool { quits || app.wantsToQuit }

  /// Ends the program once the script is done and the audio frame `frame` is reached. `picture` is the path of a last picture.
  func endsWithScript(after frame: Tick, picture: String?) { end = (frame, picture) }

  /// Answers to the player's questions are spoken even if the setting `speech` is off.
  func speak(by speaker: SpeechDispatcher?, prints: Bool) {
    guard prints || speaker != nil else { return }
    let screen = app.screen
    let say = { (line: String, isSpoken: Bool) in
      if prints {
        // A terminal would obey the control characters of a file's or device's name.
        let line = line.split(separator: "\n").map { String($0).withoutControls }.joined(separator: "\n")
        // `print` would buffer the line, and `fflush(nil)` would wait for every stream, even for one that libspeechd keeps locked.
        let bytes = Array("\(line)\n".utf8)
        _ = write(STDOUT_FILENO, bytes, bytes.count)
      }
      if isSpoken { speaker?.add(line) }
    }
    screen.onSpeak = { say($0, screen.settings.speech) }
    screen.onReply = { say($0, true) }
    self.speaker = speaker
  }

  func update(input: [InputEvent], at now: Double) {
    app.take(input, at: now)
    playScript(at: now)
    endIfDone()
    app.update(input: [], at: now)
    controlLog?.write(app.screen, with: app.services)
    speaker?.speak(in: app.screen.settings.language.rawValue)
  }

  func nextFrame(after now: Double) -> Double { pictures.areWanted ? now : app.nextFrame(after: now) }
  func nextUpdate(after now: Double) -> Double {
    // The times of a script are audio frames, but the audio thread cannot wake the window: look for due actions every 20 ms.
    min(app.nextUpdate(after: now), script?.isDone == false || end != nil ? now + 0.02 : .infinity)
  }

  func draw(into bitmap: Bitmap, isNew: Bool, at now: Double) -> [PixelRect] {
    let damage = app.draw(into: bitmap, isNew: isNew, at: now)
    pictures.write(bitmap) { path, isWritten in
      app.screen.say("\(isWritten ? .pictureAs : .writeFailed) \(path)")
    }
    return damage
  }

  private func playScript(at now: Double) {
    guard let actions = script?.take(upTo: engine.framesBegun) else { return }
    for action in actions {
      switch action {
      case .input(let events): app.take(events, at: now)
      case .play(let name): if let cell = app.variant.cell(named: name) { app.want(.play(cell)) }
      case .shot(let path): pictures.wanted.append(path)
      case .quit: quits = true
      }
    }
  }

  private func endIfDone() {
    guard let end, script?.isDone ?? true, engine.framesBegun >= end.frame else { return }
    if let picture = end.picture {
      pictures.wanted.append(picture)
      self.end = (end.frame, nil)
    } else if !pictures.areWanted {
      quits = true
    }
  }
}

extension SoundState {
  /// `nil` if an option has turned sound off, because the window then shows no state of the sound.
  init?(_ state: AudioDevice.State) {
    switch state {
    case .playing: self = .playing
    case .none: self = .none
    case .lost: self = .lost
    case .off: return nil
    }
  }
}
