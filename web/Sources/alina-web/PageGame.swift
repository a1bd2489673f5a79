import ClientModel
import Interface
import Base
import GameScore
import WindowLogic
import Play
import Records
import ScoreModel
import ScoreFormats
import Screen
import Session
import TicTacToe
import Tintinnabuli

/// The page: one game, its inputs since the last call of `turn`, and its canvas.
final class PageGame {
  let app: App
  let sound: PageSound
  private var input: [InputEvent] = []
  private var surface = Surface(width: 1, height: 1)
  private var isNew = true
  private var toldControls: [RootScreen.Control] = []
  private var toldFocus: Int?
  private var toldPlace = ""
  private var toldTitle = ""
  private var toldPage = ""
  private var toldMusic = ""
  private var toldTouching = false

  init(seed: UInt64) {
    let services = PlatformServices.page()
    let sound = PageSound()
    self.sound = sound
    let shelf = ScoreRulesProvider.page
    guard let rules = try? shelf.load(shelf.names[0]) else { fatalError("the page has no score rules") }
    var opening = LaunchOptions(seed: seed, rulesName: shelf.names[0], rules: rules)
    opening.overrides = { settings in
      if Page.prefers("still") { settings.reducedMotion = true }
      // Browsers allow full screen only in response to a touch.
      settings.fullScreen = false
    }
    var machine = AppEnvironment(
      services: services, sound: sound.output, rules: shelf,
      connect: { _, name, token in
        let fresh = WebConnection(name: name, newToken: token)
        socket = fresh
        return fresh.connection
      },
      milliseconds: { WebConnection.milliseconds },
      keep: { piece, told in
        let name = piece.name
        let music = Rendition(of: piece.record, rules: piece.rules, human: piece.human, trimmed: true)
        Page.download("\(name).pgn", Array(piece.record.text.utf8))
        Page.download("\(name).mid", MIDIFile.bytes(music, title: piece.title))
        Page.download(
          "\(name).musicxml", Array(MusicXML.text(music.bars, rules: music.rules, title: piece.title).utf8))
        let page = ScorePage(
          music.bars, rules: music.rules, title: piece.title, subtitle: ScoreTitle.subtitle(piece.record))
        Page.download("\(name).svg", Array(page.svg.utf8))
        let number = Page.awaiting { problem in
          told(problem.isEmpty ? .kept(name) : .failed(.other(path: name, problem)))
        }
        let words = [number, "\(name).wav"] + PageSound.order(music, piece)
        music.events.withUnsafeBytes { _ = Page.write("sound/" + words.joined(separator: "\t"), Array($0)) }
      })
    if Page.prefers("films") {
      machine.film = { piece, shape, told in
        film = PageFilm(piece, shape: shape, told: told)
        return { Page.tell(.stopFilm) }
      }
    }
    machine.giveCard = { card, draw in
      _ = Page.write("card/alina-\(card.date).png", Array(card.text.utf8))
      let surface = Surface.film(width: DayCard.side, height: DayCard.side)
      draw(surface)
      surface.flush()
      return nil
    }
    machine.readAsset = { Page.ask(.file, "page/" + $0) }
    app = App(machine, opening)
    app.soundWaits = true
    app.screen.onSpeak = { Page.tell(.say, $0) }
  }

  func add(_ event: InputEvent) { input.append(event) }

  func resize(width: Int, height: Int, scale: Double) {
    guard width != surface.width || height != surface.height || scale != app.screen.scale else { return }
    surface = Surface(width: width, height: height)
    app.screen.scale = scale
    isNew = true
  }

  /// Returns the seconds until the next call; a negative number asks for a call with `draws` at the browser's next frame.
  func turn(draws: Bool) -> Double {
    let now = app.services.now()
    let input = input
    self.input = []
    app.update(input: input, at: now)
    tellPlace()
    // A hidden page draws no pictures, but time advances.
    if app.isHidden { return app.nextUpdate(after: now) - now }
    if draws, isNew || app.nextFrame(after: now) <= now {
      _ = app.draw(into: surface, isNew: isNew, at: now)
      surface.flush()
      isNew = false
    }
    let next = app.nextFrame(after: now)
    return isNew || next <= now ? -1 : min(next, app.nextUpdate(after: now)) - now
  }

  func activate(_ id: Int, onlyFocus: Bool) { app.screen.activate(id, onlyFocus: onlyFocus, at: app.services.now()) }

  /// Tells the script what has changed, such as the title, the address, and how many presses of Back stay in Alina.
  private func tellPlace() {
    if app.windowTitle != toldTitle {
      toldTitle = app.windowTitle
      Page.tell(.title, toldTitle)
    }
    let place = "\(app.stepsBack)\t\(app.place)"
    if place != toldPlace {
      toldPlace = place
      Page.tell(.place, place)
    }
    let music = app.isListening ? "\(app.screen.model.isMuted ? "1" : "")\t\(app.screen.text(.listen))" : "\t"
    if music != toldMusic {
      toldMusic = music
      Page.tell(.listening, music)
    }
    if app.screen.model.isFree != toldTouching {
      toldTouching.toggle()
      Page.tell(.touching, toldTouching ? "1" : "")
    }
    let words = [app.screen.title, app.screen.text(.trapped), app.screen.text(.reload)]
    let page = ([app.screen.settings.language.rawValue] + words).joined(separator: "\t")
    if page != toldPage {
      toldPage = page
      Page.tell(.page, page)
    }
  }

  func tellControls() {
    let controls = app.screen.accessible(hidden: true)
    if controls != toldControls {
      toldControls = controls
      let scale = app.screen.scale
      let lines = controls.map { control in
        let place = control.place
        let box = [place.x, place.y, place.width, place.height].map { "\(Int(Double($0) / scale))" }
        let numbers = control.numbers.map { "\($0)" }.joined(separator: " ")
        let words = [control.name, control.state].map { $0.replacing("\n", by: " ").replacing("\t", by: " ") }
        return (["\(control.id)", control.role] + words + box + ["\(control.row)", numbers]).joined(separator: "\t")
      }
      Page.tell(.controls, lines.joined(separator: "\n"))
    }
    let focus = app.screen.accessibleFocus
    if focus != toldFocus {
      toldFocus = focus
      if let focus { Page.tell(.focus, "\(focus)") }
    }
  }
}

nonisolated(unsafe) private var game: PageGame?
/// The connection that receives the socket's lines.
nonisolated(unsafe) private var socket: WebConnection?
nonisolated(unsafe) private var film: PageFilm?
nonisolated(unsafe) private var incoming: [UInt8] = []

private func text() -> String { String(decoding: incoming, as: UTF8.self) }

/// The script writes a text into this buffer before a call that takes a text.
@_expose(wasm, "buffer") @_cdecl("alinaBuffer")
package func alinaBuffer(_ count: Int32) -> UnsafeMutablePointer<UInt8>? {
  incoming = [UInt8](repeating: 0, count: Int(count))
  return incoming.withUnsafeMutableBufferPointer { $0.baseAddress }
}

@_expose(wasm, "start") @_cdecl("alinaStart")
package func alinaStart(_ seed: Double) { game = PageGame(seed: UInt64(seed)) }

/// The size is in device pixels; `scale` is the number of device pixels per CSS pixel.
@_expose(wasm, "resize") @_cdecl("alinaResize")
package func alinaResize(_ width: Int32, _ height: Int32, _ scale: Double) {
  game?.resize(width: Int(width), height: Int(height), scale: scale)
}

/// Like `PageGame.turn`; `draws` is 0 or 1.
@_expose(wasm, "turn") @_cdecl("alinaTurn")
package func alinaTurn(_ draws: Int32) -> Double { game?.turn(draws: draws != 0) ?? 1 }

@_expose(wasm, "controls") @_cdecl("alinaControls")
package func alinaControls() { game?.tellControls() }

/// Handles an event of a pointer: 0 moved, 1 down, 2 up, 3 cancelled, 4 left the canvas, 6 second finger down; or 5, a wheel by `y` lines.
@_expose(wasm, "pointer") @_cdecl("alinaPointer")
package func alinaPointer(_ kind: Int32, _ x: Double, _ y: Double, _ isTouch: Int32) {
  switch kind {
  case 0: game?.add(.pointerMoved(x: x, y: y))
  case 1: game?.add(.pointerDown(x: x, y: y, isTouch: isTouch != 0))
  case 2: game?.add(.pointerUp(x: x, y: y, isTouch: isTouch != 0))
  case 3: game?.add(.pointerCancelled)
  case 4: game?.add(.pointerLeft)
  case 6: game?.add(.alsoDown(x: x, y: y))
  default: game?.add(.scrolled(lines: y))
  }
}

/// Handles a key with the browser's name in the buffer; returns 0 if the game has no such key.
@_expose(wasm, "key") @_cdecl("alinaKey")
package func alinaKey(_ modifiers: Int32, _ isRepeat: Int32) -> Int32 {
  let name = text()
  guard let key = Key(name: name.hasPrefix("Arrow") ? String(name.dropFirst(5)) : name) else { return 0 }
  game?.add(.key(key, KeyModifiers(rawValue: UInt8(truncatingIfNeeded: modifiers)), isRepeat: isRepeat != 0))
  return 1
}

/// Handles an event with a text: 0 typed, 1 composing, 2 a game to open, 3 a room's code, 4 a match to watch, 5 a line of the
/// server, 6 the socket has opened, 7 the socket has closed, 8 a film's progress, 9 a letter (a game played by sending links) to open,
/// 10 a tournament's code, 11 a player's own music. A match to watch in a room is its id, a slash and the room's code.
@_expose(wasm, "text") @_cdecl("alinaText")
package func alinaText(_ kind: Int32) {
  guard let game else { return }
  let words = text()
  switch kind {
  case 0: game.add(.text(words))
  case 1: game.add(.composing(words))
  case 2: game.app.files.open(words: words)
  case 3: game.app.connect(to: .page, destination: .room(code: words))
  case 4:
    let parts = words.split(separator: "/").map { String($0) }
    game.app.connect(to: .page, destination: .watch(id: parts.first ?? "", code: parts.count > 1 ? parts[1] : nil))
  case 5: socket?.received(incoming)
  case 6: socket?.cameUp()
  case 7: socket?.cameDown(words)
  case 9: game.app.want(.letter(.open(words)))
  case 10: game.app.want(.tournament(.open(path: words)))
  case 11: game.app.want(.ownMusic(.open(words)))
  default: if film?.hear(words) == false { film = nil }
  }
}

@_expose(wasm, "answer") @_cdecl("alinaAnswer")
package func alinaAnswer(_ number: Int32) { Page.answered(number, text()) }

/// Sets a state. 0: whether the page is visible. 1: whether the page has the focus. 2: the sound, 1 if it plays, 0 without an output, 2 if
/// the browser cannot play it. 3: whether the page fills the screen. 4: whether the user has muted the page on the lock screen.
@_expose(wasm, "state") @_cdecl("alinaState")
package func alinaState(_ kind: Int32, _ isOn: Int32) {
  switch kind {
  case 0: game?.add(.visible(isOn != 0))
  case 1: game?.add(.focus(isOn != 0))
  case 3: game?.app.screen.settings.fullScreen = isOn != 0
  case 4: game?.app.want(.setMuted(isOn != 0))
  default:
    game?.app.soundWaits = false
    if isOn != 1 { game?.app.soundChanged(to: isOn == 0 ? .none : .impossible) }
  }
}

/// Draws a film's picture at a time in seconds from the film's start.
@_expose(wasm, "film") @_cdecl("alinaFilm")
package func alinaFilm(_ seconds: Double) { film?.draw(at: seconds) }

@_expose(wasm, "back") @_cdecl("alinaBack")
package func alinaBack(_ steps: Int32) { for _ in 0..<steps { game?.app.goBack() } }

@_expose(wasm, "resume") @_cdecl("alinaResume")
package func alinaResume() { game?.app.resumeMatch() }

/// Moves the focus to a control and, if `onlyFocus` is 0, presses it. `id` is one of those that `tellControls` has sent to the script.
@_expose(wasm, "activate") @_cdecl("alinaActivate")
package func alinaActivate(_ id: Int32, _ onlyFocus: Int32) { game?.activate(Int(id), onlyFocus: onlyFocus != 0) }

/// A batch of events sounded `lateness` frames late. Its first event belongs to the bar numbered `generation` and sounded at `frame`.
@_expose(wasm, "late") @_cdecl("alinaLate")
package func alinaLate(_ generation: Int32, _ frame: Double, _ lateness: Double) {
  game?.sound.wasLate(
    .init(
      generation: UInt32(bitPattern: generation), frame: Tick(rawValue: Int64(frame)), lateness: Int64(lateness)))
}

extension ServerAddress {
  static let page = ServerAddress("localhost")!
}

extension ScoreRulesProvider {
  static var page: ScoreRulesProvider {
    var pack: RulePack?
    do throws(RuleErrors) {
      pack = try RulePack(Page.ask(.file, "page/rules.json") ?? [])
    } catch {
      Page.tell(.say, error.description)
    }
    let found = pack
    var shelf = ScoreRulesProvider { name throws(ScoreRulesProvider.Refusal) in
      guard let entry = found?.entries.first(where: { $0.reference.name == name }) else {
        throw ScoreRulesProvider.Refusal("\(name): no such rules")
      }
      return (entry.rules, entry.reference)
    }
    shelf.names = ["score"] + (found?.entries ?? []).map { $0.reference.name }.filter { $0 != "score" }
    shelf.tree = { found?.tree($0) }
    return shelf
  }
}
