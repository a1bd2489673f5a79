import Interface
import TicTacToe

/// The measures of a page in device pixels.
struct Metrics: Sendable, Hashable {
  let bounds: Rect
  /// The size of running text.
  let em: Double
  let margin: Double
  /// Whether the page is wide enough for text beside the board.
  var isLandscape: Bool { bounds.width > bounds.height * 1.25 }
  let target: Double

  /// `scale`: device pixels per point. `textScale`: text size relative to the usual size. `target`: minimal size of controls in points.
  init(width: Double, height: Double, scale: Double, textScale: Double, target: Double = 0) {
    self.target = (target * scale).rounded(.up)
    bounds = Rect(0, 0, width, height)
    // Text grows less than the page: 17 px at 1280×720, 30 px at 2560×1440, 14 px at 320×480.
    let page = (width * height).squareRoot()
    let grown = 17.2 * power(page / 960, 0.8)
    let fitting = min(grown, width / 22 * 1.15)
    // About ten letters must fit side by side even in the largest text size.
    em = min(max(13.5 * scale, fitting) * textScale, width / 11, height / 11)
    margin = max(14 * scale, min(width * 0.05, height * 0.058))
  }
}

/// The state shared by a window's views.
final class ViewContext {
  let typeface = Typeface()
  let animator = Animator()
  var theme = Theme.light
  var metrics = Metrics(width: 1280, height: 720, scale: 1, textScale: 1)
  var language = Language.english
  var model = BoardModel()
  let services: PlatformServices
  let settings: Settings
  var pages = PagesModel()
  var pianos: [PianoKind] = [.modal]
  var piano = PianoKind.modal
  var themes = [Theme.light]

  init(services: PlatformServices) {
    self.services = services
    settings = Settings(services: services)
  }

  private var lastNumber = 0

  func nextNumber() -> Int {
    lastNumber += 1
    return lastNumber
  }

  /// The time of the current input or frame, in seconds of the platform's clock.
  var now = 0.0
  /// Whether the last input came from the keyboard, so that the focus must be visible.
  var showsFocus = false
  unowned(unsafe) var hovered: View?
  unowned(unsafe) var focus: View?
  /// Whether a page is being opened.
  var isTurning = false
  private(set) var damage: [Rect] = []
  /// Pixels by which the page is shifted down: two, for a moment, when a winning line is complete.
  let winBounce = Motion(0)
  /// Whether the static layer, the cached picture of the parts that depend only on the layout, must be redrawn.
  var staticIsStale = true

  /// Passes announcements to a screen reader.
  var onSpeak: ((String) -> Void)?

  /// Passes answers to the player's questions to a screen reader; if `nil`, `onSpeak` gets the answers.
  var onReply: ((String) -> Void)?

  func announce(_ text: String?) {
    if let text, !text.isEmpty { onSpeak?(text) }
  }

  func reply(_ text: String) { (onReply ?? onSpeak)?(text) }

  func damage(_ rect: Rect) {
    guard !rect.isEmpty, !damage.contains(where: { $0.contains(rect) }) else { return }
    damage.removeAll { rect.contains($0) }
    damage.append(rect)
  }

  func takeDamage() -> [Rect] {
    defer { damage = [] }
    return damage
  }

  func text(_ phrase: Phrase) -> String { phrase.text(in: language) }

  func text(_ phrase: Phrase, _ values: String...) -> String { phrase.text(in: language, values) }
}

extension ViewContext {
  func moveFocus(to view: View?) {
    guard focus !== view else { return }
    let old = focus
    focus = view
    old?.focusChanged(false)
    view?.focusChanged(true)
    guard let view else { return }
    for above in view.responders { (above as? Scene)?.focusMoved(to: view) }
    announce(view.accessibilityLabel)
  }
}
