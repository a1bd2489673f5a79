import Base

/// A key as the game knows it; letters and digits arrive as `character` (lower case).
package enum Key: Sendable, Hashable {
  case character(Character)
  case up, down, left, right
  case enter, escape, tab, backspace, delete, home, end, pageUp, pageDown
  /// F1…F12.
  case function(Int)
  /// Two buttons of a controller, which write letters in a text field.
  case controllerX, controllerY
}

/// The modifier keys held with a key.
package struct KeyModifiers: OptionSet, Sendable, Hashable {
  package let rawValue: UInt8
  package init(rawValue: UInt8) { self.rawValue = rawValue }
  package static let shift = KeyModifiers(rawValue: 1)
  package static let control = KeyModifiers(rawValue: 2)
  package static let alt = KeyModifiers(rawValue: 4)
}

/// One input of the platform, in device pixels of the bitmap.
package enum InputEvent: Sendable, Hashable {
  case pointerMoved(x: Double, y: Double)
  /// The primary button or a finger went down.
  case pointerDown(x: Double, y: Double, isTouch: Bool)
  /// The primary button or a finger went up.
  case pointerUp(x: Double, y: Double, isTouch: Bool)
  case pointerLeft
  /// The system has taken the gesture over: nothing is pressed by it.
  case pointerCancelled
  /// The wheel turned, in lines, up positive.
  case scrolled(lines: Double)
  /// A key went down; `isRepeat` while it is held.
  case key(Key, KeyModifiers, isRepeat: Bool)
  /// Text was typed into a focused field.
  case text(String)
  /// An input method composes this at the caret; empty when it is done or has given up.
  case composing(String)
  case dropped(path: String)
  /// The window gained or lost the focus.
  case focus(Bool)
  /// The window was hidden (minimised) or shown again.
  case visible(Bool)
  case closeRequested
}

/// The outcome of sharing an address.
package enum ShareOutcome: Sendable, Hashable {
  /// It is in the clipboard.
  case copied
  /// The system has asked the player where to send it.
  case sent
  case failed
}

/// What the platform does for the game, as plain functions; a headless platform fills the same struct.
package struct PlatformServices: Sendable {
  /// Monotonic seconds.
  package var now: @Sendable () -> Double = { 0 }
  package var clipboard: @Sendable () -> String? = { nil }
  /// Puts a text into the clipboard; `told` is called once, perhaps later, with whether that was done.
  package var setClipboard: @Sendable (String, _ told: @escaping (Bool) -> Void) -> Void = { $1(true) }
  package var setFullScreen: @Sendable (Bool) -> Void = { _ in }
  /// Keeps the screen saver away while true.
  package var inhibitScreenSaver: @Sendable (Bool) -> Void = { _ in }
  /// Asks for the user's attention (taskbar) without taking the focus.
  package var requestAttention: @Sendable () -> Void = {}
  /// Goes back to where the browser was before the page.
  package var leavePage: @Sendable () -> Void = {}
  /// Says that attention may be wanted from here on: a browser asks the player once whether it may.
  package var expectAttention: @Sendable () -> Void = {}
  /// Shows the hand or the arrow cursor.
  package var setPointingHand: @Sendable (Bool) -> Void = { _ in }
  /// The folder for settings, made on demand; empty where there is none.
  package var configFolder: @Sendable () -> String = { "" }
  /// The folder for games and saved pieces, made on demand; empty where there is none.
  package var dataFolder: @Sendable () -> String = { "" }
  /// A file's bytes, or `nil` where it cannot be read.
  package var readFile: @Sendable (_ path: String) -> [UInt8]? = { _ in nil }
  /// Replaces a file as a whole or not at all.
  package var writeFile: @Sendable (_ path: String, _ bytes: [UInt8]) throws(WriteFault) -> Void = {
    (_, _) throws(WriteFault) in
  }
  /// The names in a folder, in no order; empty where it cannot be read.
  package var listFolder: @Sendable (_ path: String) -> [String] = { _ in [] }
  /// The names of the sound devices that can play; empty where there is none or it cannot be known.
  package var soundDevices: @Sendable () -> [String] = { [] }
  /// A number that changes whenever a file does; `nil` where there is none.
  package var fileStamp: @Sendable (_ path: String) -> UInt64? = { _ in nil }
  /// Begins to take text (input methods and screen keyboards come up) at a place of the bitmap, or ends it; `caption` says what text.
  package var takeText: @Sendable (_ place: PixelRect?, _ caption: String) -> Void = { _, _ in }
  /// The local time as names of files have it: `2026-11-22-154210`.
  package var timeStamp: @Sendable () -> String = { "" }
  /// Minutes by which the local time is ahead of UTC.
  package var zoneMinutes: @Sendable () -> Int = { 0 }
  /// Whether the game is a page in a browser: it has no folders, no choice of devices and no program to leave.
  package var isPage = false
  /// The whole address of a path like `r/CODE`, where the program has one.
  package var address: (@Sendable (_ path: String) -> String)?
  /// Gives away the page's address with `r/CODE` or `g/GAME` behind it; `told` is called once, perhaps later, with what came of
  /// it. `nil` where there is no such address.
  package var share: (@Sendable (_ path: String, _ told: @escaping (ShareOutcome) -> Void) -> Void)?
  /// Hands over the clipboard's text later, as a browser does, which asks first; `nil` where `clipboard` has it at once.
  package var paste: (@Sendable (@escaping (String) -> Void) -> Void)?
  /// Shows a file or folder in the system's own program.
  package var openFolder: @Sendable (_ path: String) -> Void = { _ in }
  /// Required, so that no platform that keeps games can do without.
  package let locks: FileLocks
  package var deleteFile: @Sendable (_ path: String) -> Bool = { _ in false }
  /// The language of the system as its locale spells it.
  package var systemLanguage: @Sendable () -> String = { "" }
  /// Whether the system's pages are dark.
  package var prefersDark: @Sendable () -> Bool = { false }
  /// Whether the system's pages have the strongest contrast.
  package var prefersContrast: @Sendable () -> Bool = { false }
  /// The size of the system's text, in hundredths of the usual one.
  package var textPercent: @Sendable () -> Int = { 100 }
  /// The least width and height, in points, of what can be pressed: what a finger needs, where one presses.
  package var leastTarget = 0.0
  /// Has `update` called soon, from any thread.
  package var wake: @Sendable () -> Void = {}
  /// Runs work on a worker pool; the work must not touch the screen.
  package var inBackground: @Sendable (_ work: @escaping @Sendable () -> Void) -> Void = { $0() }

  /// Services that do nothing yet.
  package init(locks: FileLocks) { self.locks = locks }
}

/// What the platform runs: it hands in input and a bitmap, and asks how long nothing will move.
package protocol PlatformGame: AnyObject {
  /// Takes the inputs since the last call, and lets time pass; called at least once a frame and on every input.
  func update(input: [InputEvent], at now: Double)

  /// When the next picture is due: at or before `now` at once, `.infinity` when nothing moves and nothing is planned.
  func nextFrame(after now: Double) -> Double

  /// When `update` is due again though nothing is drawn and nothing comes in.
  func nextUpdate(after now: Double) -> Double

  /// Draws into the bitmap, whose content is what the last call left (undefined when `isNew`); returns what changed.
  func draw(into bitmap: Surface, isNew: Bool, at now: Double) -> [PixelRect]

  /// Whether the game wants to end.
  var wantsToQuit: Bool { get }

  var windowTitle: String { get }
}
