import Interface
import TicTacToe

/// The measures of a page: everything in device pixels, derived from the window's size.
struct Metrics: Sendable, Hashable {
  let bounds: Rect
  /// The size of running text (one em).
  let em: Double
  /// The white around everything.
  let margin: Double
  /// Whether the page is broad enough for text beside the board.
  var isLandscape: Bool { bounds.width > bounds.height * 1.25 }
  /// The least width and height of what can be pressed.
  let target: Double

  /// Measures for a window of device pixels; `scale` is device pixels per point, `textScale` the size of text
  /// that the reader wants, 1 for the usual one; `target` in points.
  init(width: Double, height: Double, scale: Double, textScale: Double, target: Double = 0) {
    self.target = (target * scale).rounded(.up)
    bounds = Rect(0, 0, width, height)
    // A page grows with its window, its type a little less: 17 px at 1280×720, 30 px at 2560×1440, 14 px at 320×480.
    let page = (width * height).squareRoot()
    let grown = 17.2 * power(page / 960, 0.8)
    let fitting = min(grown, width / 22 * 1.15)
    // However large the reader wants the text, ten letters must fit side by side.
    em = min(max(13.5 * scale, fitting) * textScale, width / 11, height / 11)
    margin = max(14 * scale, min(width * 0.05, height * 0.058))
  }
}

/// What all views of a window share: the page's measures and colours, the clock, the model.
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
  /// The pianos that can be chosen, and the one that plays.
  var pianos: [PianoKind] = [.modal]
  var piano = PianoKind.modal
  /// The themes that can be chosen, by name.
  var themes = [Theme.light]

  init(services: PlatformServices) {
    self.services = services
    settings = Settings(services: services)
  }

  private var lastNumber = 0

  /// A number for a view that is made.
  func nextNumber() -> Int {
    lastNumber += 1
    return lastNumber
  }

  /// Seconds of the platform's clock at the current input or frame.
  var now = 0.0
  /// Whether the last input came from the keyboard, so that the focus must be seen.
  var showsFocus = false
  unowned(unsafe) var hovered: View?
  unowned(unsafe) var focus: View?
  /// Whether a page is being opened.
  var isTurning = false
  /// Changed places of the picture since the last frame.
  private(set) var damage: [Rect] = []
  /// How many pixels the whole page has sunk: two, for a moment, as a winning line lands.
  let settle = Motion(0)
  /// Whether the static layer must be drawn anew.
  var staticIsStale = true

  /// Tells a listener (a screen reader) what has changed.
  var onSpeak: ((String) -> Void)?

  func say(_ text: String?) {
    if let text, !text.isEmpty { onSpeak?(text) }
  }

  func damage(_ rect: Rect) {
    guard !rect.isEmpty, !damage.contains(where: { $0.contains(rect) }) else { return }
    damage.removeAll { rect.contains($0) }
    damage.append(rect)
  }

  func takeDamage() -> [Rect] {
    defer { damage = [] }
    return damage
  }

  /// A line of the string table in the reader's language.
  func text(_ phrase: Phrase) -> String { phrase.text(in: language) }

  /// The same with values in the places of its `%`.
  func text(_ phrase: Phrase, _ values: String...) -> String { phrase.text(in: language, values) }
}

extension ViewContext {
  /// Gives the focus to a view and tells both sides.
  func moveFocus(to view: View?) {
    guard focus !== view else { return }
    let old = focus
    focus = view
    old?.focusChanged(false)
    view?.focusChanged(true)
    guard let view else { return }
    for above in view.responders { (above as? Scene)?.focusMoved(to: view) }
    say(view.spoken)
  }
}
