import Base

/// Letters and digits arrive as lower-case `character`.
package enum Key: Sendable, Hashable {
  case character(Character)
  case up, down, left, right
  case enter, escape, tab, backspace, delete, home, end, pageUp, pageDown
  /// F1…F12.
  case function(Int)
  /// Controller buttons. In a text field X turns the letter before the caret into the next letter of the alphabet, and Y adds a letter.
  case controllerX, controllerY
}

package struct KeyModifiers: OptionSet, Sendable, Hashable {
  package let rawValue: UInt8
  package init(rawValue: UInt8) { self.rawValue = rawValue }
  package static let shift = KeyModifiers(rawValue: 1)
  package static let control = KeyModifiers(rawValue: 2)
  package static let alt = KeyModifiers(rawValue: 4)
}

/// Positions in device pixels of the bitmap.
package enum InputEvent: Sendable, Hashable {
  case pointerMoved(x: Double, y: Double)
  /// The primary button or a finger was pressed.
  case pointerDown(x: Double, y: Double, isTouch: Bool)
  /// Another finger was pressed while the first finger was still down.
  case alsoDown(x: Double, y: Double)
  case pointerUp(x: Double, y: Double, isTouch: Bool)
  case pointerLeft
  /// The system has taken over the gesture: releasing the finger must not press anything.
  case pointerCancelled
  /// Positive if the wheel turned upwards.
  case scrolled(lines: Double)
  case key(Key, KeyModifiers, isRepeat: Bool)
  /// Text was typed into a focused field.
  case text(String)
  /// The text that an input method is composing at the caret; empty once the composition has ended.
  case composing(String)
  case dropped(path: String)
  case focus(Bool)
  case visible(Bool)
  case closeRequested
}

package enum ShareOutcome: Sendable, Hashable {
  /// The address was copied to the clipboard.
  case copied
  /// The address was passed to the system's share dialog.
  case sent
  case failed
}

/// The services of a platform, as functions.
package struct PlatformServices: Sendable {
  /// Seconds of a monotonic clock.
  package var now: @Sendable () -> Double = { 0 }
  package var clipboard: @Sendable () -> String? = { nil }
  /// Calls `told` once, possibly later, with `true` if the text was copied.
  package var setClipboard: @Sendable (String, _ told: @escaping (Bool) -> Void) -> Void = { $1(true) }
  package var setFullScreen: @Sendable (Bool) -> Void = { _ in }
  package var inhibitScreenSaver: @Sendable (Bool) -> Void = { _ in }
  /// Asks for the user's attention (taskbar) without taking the focus.
  package var requestAttention: @Sendable () -> Void = {}
  /// Returns to the web page shown before Alina.
  package var leavePage: @Sendable () -> Void = {}
  /// Attention may be requested later: a browser asks the player once for permission.
  package var expectAttention: @Sendable () -> Void = {}
  package var setPointingHand: @Sendable (Bool) -> Void = { _ in }
  /// The folder for settings, created on demand; empty on a platform without such a folder.
  package var configFolder: @Sendable () -> String = { "" }
  /// The folder for games and saved pieces, created on demand; empty on a platform without such a folder.
  package var dataFolder: @Sendable () -> String = { "" }
  package var files: FileFunctions
  /// The names of the output devices; empty if unknown.
  package var soundDevices: @Sendable () -> [String] = { [] }
  /// Whether the program can speak without a screen reader: speech-dispatcher is installed.
  package var canSpeak: @Sendable () -> Bool = { false }
  /// Changes whenever the file changes; `nil` without a file.
  package var fileStamp: @Sendable (_ path: String) -> UInt64? = { _ in nil }
  /// Starts text input (input methods, screen keyboards) at `place`; `nil` ends text input. `caption` is the field's label.
  package var takeText: @Sendable (_ place: PixelRect?, _ caption: String) -> Void = { _, _ in }
  /// The local time for file names: `2026-11-22-154210`.
  package var timeStamp: @Sendable () -> String = { "" }
  /// The minutes by which local time is ahead of UTC.
  package var zoneMinutes: @Sendable () -> Int = { 0 }
  /// Whether the game runs in a browser.
  package var isPage = false
  /// The web page's URL followed by a path such as `r/CODE`; `nil` without a web page.
  package var address: (@Sendable (_ path: String) -> String)?
  /// Shares the web page's URL followed by `path`; calls `told` once, possibly later. `nil` without a web page.
  package var share: (@Sendable (_ path: String, _ told: @escaping (ShareOutcome) -> Void) -> Void)?
  /// Reads the clipboard later, because browsers ask the user first; `nil` where `clipboard` reads the clipboard at once.
  package var paste: (@Sendable (@escaping (String) -> Void) -> Void)?
  /// Shows a file or folder in the system's file manager.
  package var openFolder: @Sendable (_ path: String) -> Void = { _ in }
  /// The system's language as its locale spells it.
  package var systemLanguage: @Sendable () -> String = { "" }
  package var prefersDark: @Sendable () -> Bool = { false }
  package var prefersContrast: @Sendable () -> Bool = { false }
  /// The system's text size in per cent of the usual size.
  package var textPercent: @Sendable () -> Int = { 100 }
  /// The least width and height of controls in points; 0 on devices without touch.
  package var leastTarget = 0.0
  /// Makes the platform call `update` soon. Safe from any thread.
  package var wake: @Sendable () -> Void = {}
  /// Runs `work` on a worker thread; `work` must not access the screen.
  package var inBackground: @Sendable (_ work: @escaping @Sendable () -> Void) -> Void = { $0() }

  /// The functions do nothing until the platform replaces them.
  package init(locks: FileLocks) { files = FileFunctions(locks: locks) }
}

/// The game as a platform runs it.
package protocol PlatformGame: AnyObject {
  /// Called at least once a frame and at every input.
  func update(input: [InputEvent], at now: Double)

  /// In seconds of the platform's clock. `now` or earlier means at once, `.infinity` not before the next input or update.
  func nextFrame(after now: Double) -> Double

  /// The time, in seconds of the platform's clock, at which `update` is due even without a frame or input.
  func nextUpdate(after now: Double) -> Double

  /// `bitmap` contains the last frame (undefined if `isNew`). Returns the changed rectangles.
  func draw(into bitmap: Surface, isNew: Bool, at now: Double) -> [PixelRect]

  var wantsToQuit: Bool { get }

  var windowTitle: String { get }
}
