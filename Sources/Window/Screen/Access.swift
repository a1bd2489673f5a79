enum Role: Hashable {
  case button
  case cell(row: Int)
  /// A radio group; `selected` is the index of the chosen answer.
  case choice(selected: Int)
  /// A slider; `numbers` are the slider's value, its lower and its upper bound.
  case slider(caption: String, value: String, numbers: [Double])
  case field(caption: String, text: String)
}

extension RootScreen {
  /// An accessible element of the open page, for screen readers and tests.
  package struct Control: Sendable, Hashable {
    /// Constant while the element exists.
    package var id: Int
    /// The ARIA role: `button`, `gridcell`, `radio`, `slider`, `textbox`, or `paragraph` for text that is only read.
    package var role: String
    package var name: String
    /// `on` or `off` for an answer, `disabled` for a disabled button, a slider's value, a field's text, else empty.
    package var state: String
    /// In device pixels.
    package var place: PixelRect
    package var row: Int
    /// A slider's value, lower and upper bound; empty for other elements.
    package var numbers: [Double] = []
    /// The text that a screen reader speaks when the element gets the focus.
    package var words: String
  }

  /// Element `i` of a view has the id `view.number * placesOfView + i`.
  private static let placesOfView = 64

  /// The open page's elements in reading order. `hidden` adds elements scrolled out of sight, disabled buttons, and text that is only read.
  package func accessible(hidden: Bool = false) -> [Control] {
    var result: [Control] = []
    eachPlace(also: hidden) { view, index, place, words in
      guard hidden || view.parent?.childClip?.contains(place.center) ?? true else { return }
      var control = Control(
        id: view.number * RootScreen.placesOfView + index, role: "button", name: words, state: "",
        place: place.pixels(width: .max, height: .max), row: 0, words: words)
      switch view.role {
      case .button where !view.isClickable:
        if view is TextButton { control.state = "disabled" } else { control.role = "paragraph" }
      case .button: break
      case .cell(let row): (control.role, control.row) = ("gridcell", row)
      case .choice(let selected): (control.role, control.state) = ("radio", index == selected ? "on" : "off")
      case .slider(let caption, let value, let numbers):
        (control.role, control.name, control.state, control.numbers) = ("slider", caption, value, numbers)
      case .field(let caption, let text): (control.role, control.name, control.state) = ("textbox", caption, text)
      }
      result.append(control)
    }
    return result
  }

  package var accessibleFocus: Int? { context.focus.map { $0.number * RootScreen.placesOfView } }

  /// Moves the focus to an element and, unless `onlyFocus`, presses a button, cell or answer. Ignores the id of a removed element.
  package func activate(_ id: Int, onlyFocus: Bool = false, at now: Double) {
    var target: (view: View, place: Rect)?
    eachPlace { view, index, place, _ in
      if view.number * RootScreen.placesOfView + index == id { target = (view, place) }
    }
    guard let (view, place) = target else { return }
    if view.isClickable { context.moveFocus(to: view) }
    switch view.role {
    case .slider, .field: break
    case .button, .cell, .choice:
      if !onlyFocus {
        _ = view.pointer(.down(isTouch: false), at: place.center)
        _ = view.pointer(.up(isTouch: false), at: place.center)
      }
    }
    handle([], at: now)
  }

  private func eachPlace(also readable: Bool = false, _ body: (View, Int, Rect, String) -> Void) {
    guard isMeasured else { return }
    topScene.visit { view in
      guard view.isClickable || readable && view is TextButton else {
        if readable, let text = view.accessibilityText, !text.isEmpty { body(view, 0, view.frame, text) }
        return
      }
      for (index, (place, words)) in view.accessibilityElements.enumerated() { body(view, index, place, words) }
    }
  }
}
