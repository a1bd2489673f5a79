import CSDL2
import Screen

/// Converts SDL events to the game's input events.
struct InputMapping {
  /// Bitmap pixels per window unit, the unit of SDL's mouse positions.
  var scale = 1.0
  /// The bitmap's size in pixels; SDL's touch coordinates are fractions of it, 0…1.
  var pixelSize = (width: 1, height: 1)
  /// The finger that came down first. Until this finger is lifted, each other finger sends only `alsoDown`.
  private var finger: SDL_FingerID?
  /// The last direction of each stick axis (−1, 0 or 1), so that one tilt gives one step.
  private var lean: [UInt8: Int] = [:]

  mutating func inputs(for event: SDL_Event) -> [InputEvent] {
    switch SDL_EventType(event.type) {
    case SDL_MOUSEMOTION:
      return [.pointerMoved(x: Double(event.motion.x) * scale, y: Double(event.motion.y) * scale)]
    case SDL_MOUSEBUTTONDOWN where event.button.button == 1:
      return [.pointerDown(x: Double(event.button.x) * scale, y: Double(event.button.y) * scale, isTouch: false)]
    case SDL_MOUSEBUTTONUP where event.button.button == 1:
      return [.pointerUp(x: Double(event.button.x) * scale, y: Double(event.button.y) * scale, isTouch: false)]
    case SDL_MOUSEWHEEL:
      let sign = event.wheel.direction == SDL_MOUSEWHEEL_FLIPPED.rawValue ? -1.0 : 1.0
      return [.scrolled(lines: sign * Double(event.wheel.preciseY))]
    case SDL_FINGERDOWN where finger == nil:
      finger = event.tfinger.fingerId
      let (x, y) = touch(event)
      return [.pointerDown(x: x, y: y, isTouch: true)]
    case SDL_FINGERDOWN:
      let (x, y) = touch(event)
      return [.alsoDown(x: x, y: y)]
    case SDL_FINGERMOTION where finger == event.tfinger.fingerId:
      let (x, y) = touch(event)
      return [.pointerMoved(x: x, y: y)]
    case SDL_FINGERUP where finger == event.tfinger.fingerId:
      finger = nil
      // Send `pointerLeft` as well: after a finger is lifted, no cell is under the pointer.
      let (x, y) = touch(event)
      return [.pointerUp(x: x, y: y, isTouch: true), .pointerLeft]
    case SDL_KEYDOWN:
      let held = KeyModifiers(sdl: event.key.keysym.mod)
      guard let key = Key(sdl: event.key.keysym, shifted: held.contains(.shift)) else { return [] }
      return [.key(key, held, isRepeat: event.key.repeat != 0)]
    case SDL_TEXTINPUT:
      return text(event)
    case SDL_TEXTEDITING:
      var buffer = event.edit.text
      return [.composing(withUnsafeBytes(of: &buffer) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) })]
    case SDL_DROPFILE:
      guard let file = event.drop.file else { return [] }
      defer { SDL_free(file) }
      return [.dropped(path: String(cString: file))]
    case SDL_CONTROLLERBUTTONDOWN:
      return button(event.cbutton.button)
    case SDL_CONTROLLERAXISMOTION:
      return stick(axis: event.caxis.axis, value: Int(event.caxis.value))
    case SDL_WINDOWEVENT:
      if event.window.event == UInt8(SDL_WINDOWEVENT_FOCUS_LOST.rawValue) { finger = nil }
      return window(SDL_WindowEventID(UInt32(event.window.event)))
    case SDL_QUIT:
      return [.closeRequested]
    default:
      return []
    }
  }

  private func touch(_ event: SDL_Event) -> (Double, Double) {
    (Double(event.tfinger.x) * Double(pixelSize.width), Double(event.tfinger.y) * Double(pixelSize.height))
  }

  private func text(_ event: SDL_Event) -> [InputEvent] {
    var buffer = event.text.text
    let typed = withUnsafeBytes(of: &buffer) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    return typed.isEmpty ? [] : [.text(typed)]
  }

  private func window(_ id: SDL_WindowEventID) -> [InputEvent] {
    switch id {
    case SDL_WINDOWEVENT_LEAVE: [.pointerLeft]
    case SDL_WINDOWEVENT_FOCUS_GAINED: [.focus(true)]
    case SDL_WINDOWEVENT_FOCUS_LOST: [.focus(false)]
    case SDL_WINDOWEVENT_MINIMIZED, SDL_WINDOWEVENT_HIDDEN: [.visible(false)]
    case SDL_WINDOWEVENT_RESTORED, SDL_WINDOWEVENT_SHOWN, SDL_WINDOWEVENT_MAXIMIZED: [.visible(true)]
    case SDL_WINDOWEVENT_CLOSE: [.closeRequested]
    default: []
    }
  }

  /// Maps controller buttons to keys, since everything in the window works with keys.
  private func button(_ button: UInt8) -> [InputEvent] {
    let key: Key
    switch SDL_GameControllerButton(Int32(button)) {
    case SDL_CONTROLLER_BUTTON_DPAD_UP: key = .up
    case SDL_CONTROLLER_BUTTON_DPAD_DOWN: key = .down
    case SDL_CONTROLLER_BUTTON_DPAD_LEFT: key = .left
    case SDL_CONTROLLER_BUTTON_DPAD_RIGHT: key = .right
    case SDL_CONTROLLER_BUTTON_A: key = .enter
    case SDL_CONTROLLER_BUTTON_B: key = .escape
    case SDL_CONTROLLER_BUTTON_X: key = .controllerX
    case SDL_CONTROLLER_BUTTON_Y: key = .controllerY
    case SDL_CONTROLLER_BUTTON_RIGHTSHOULDER, SDL_CONTROLLER_BUTTON_LEFTSHOULDER: key = .tab
    case SDL_CONTROLLER_BUTTON_START: key = .character("n")
    case SDL_CONTROLLER_BUTTON_BACK: key = .character("m")
    default: return []
    }
    let back = SDL_GameControllerButton(Int32(button)) == SDL_CONTROLLER_BUTTON_LEFTSHOULDER
    return [.key(key, back ? .shift : [], isRepeat: false)]
  }

  /// Maps a stick to arrow keys: a tilt beyond 1/2 is one step; the stick must return below 1/4 before the next step.
  private mutating func stick(axis: UInt8, value: Int) -> [InputEvent] {
    let horizontal = axis == UInt8(SDL_CONTROLLER_AXIS_LEFTX.rawValue)
    guard horizontal || axis == UInt8(SDL_CONTROLLER_AXIS_LEFTY.rawValue) else { return [] }
    let before = lean[axis] ?? 0
    let now = value > 16_384 ? 1 : value < -16_384 ? -1 : abs(value) < 8_192 ? 0 : before
    lean[axis] = now
    guard now != before, now != 0 else { return [] }
    let key: Key = horizontal ? (now > 0 ? .right : .left) : (now > 0 ? .down : .up)
    return [.key(key, [], isRepeat: false)]
  }
}

extension KeyModifiers {
  init(sdl mod: UInt16) {
    self = []
    if mod & UInt16(KMOD_SHIFT.rawValue) != 0 { insert(.shift) }
    if mod & UInt16(KMOD_CTRL.rawValue) != 0 { insert(.control) }
    if mod & UInt16(KMOD_ALT.rawValue) != 0 { insert(.alt) }
  }
}

extension Key {
  init?(sdl keysym: SDL_Keysym, shifted: Bool) {
    let named: [UInt32: Key] = [
      SDLK_UP.rawValue: .up, SDLK_DOWN.rawValue: .down, SDLK_LEFT.rawValue: .left, SDLK_RIGHT.rawValue: .right,
      SDLK_RETURN.rawValue: .enter, SDLK_KP_ENTER.rawValue: .enter, SDLK_ESCAPE.rawValue: .escape,
      SDLK_TAB.rawValue: .tab, SDLK_BACKSPACE.rawValue: .backspace, SDLK_DELETE.rawValue: .delete,
      SDLK_HOME.rawValue: .home, SDLK_END.rawValue: .end, SDLK_PAGEUP.rawValue: .pageUp,
      SDLK_PAGEDOWN.rawValue: .pageDown, SDLK_AC_BACK.rawValue: .escape,
      SDLK_KP_PLUS.rawValue: .character("+"), SDLK_KP_MINUS.rawValue: .character("-"),
      SDLK_KP_0.rawValue: .character("0"),
    ]
    // Without NumLock the keypad's digits act as arrows, Home, End and so on.
    let arrows: [UInt32: Key] = [
      SDLK_KP_8.rawValue: .up, SDLK_KP_2.rawValue: .down, SDLK_KP_4.rawValue: .left, SDLK_KP_6.rawValue: .right,
      SDLK_KP_7.rawValue: .home, SDLK_KP_1.rawValue: .end, SDLK_KP_9.rawValue: .pageUp,
      SDLK_KP_3.rawValue: .pageDown, SDLK_KP_PERIOD.rawValue: .delete,
    ]
    let code = UInt32(bitPattern: keysym.sym)
    let isKeypad = (SDLK_KP_1.rawValue...SDLK_KP_PERIOD.rawValue).contains(code)
    if isKeypad, keysym.mod & UInt16(KMOD_NUM.rawValue) == 0 {
      guard let key = arrows[code] else { return nil }
      self = key
    } else if let key = named[code] {
      self = key
    } else if (SDLK_F1.rawValue...SDLK_F12.rawValue).contains(code) {
      self = .function(Int(code - SDLK_F1.rawValue) + 1)
    } else if (SDLK_KP_1.rawValue...SDLK_KP_9.rawValue).contains(code) {
      self = .character(Character("\(code - SDLK_KP_1.rawValue + 1)"))
    } else if (32..<127).contains(code) {
      // SDL reports the key without Shift, so map Shift and = to +, and Shift and / to ?, as on US keyboards.
      switch (code, shifted) {
      case (UInt32(UInt8(ascii: "=")), true): self = .character("+")
      case (UInt32(UInt8(ascii: "/")), true): self = .character("?")
      default: self = .character(Character(Unicode.Scalar(UInt8(code))))
      }
    } else if code & UInt32(SDLK_SCANCODE_MASK) == 0, let letter = Key.latin(keysym.scancode) {
      // The key has a non-Latin letter: use the Latin letter of the physical key, for shortcuts.
      self = .character(letter)
    } else {
      return nil
    }
  }

  /// The letter that a physical key has on a US keyboard.
  private static func latin(_ code: SDL_Scancode) -> Character? {
    let place = Int(code.rawValue) - Int(SDL_SCANCODE_A.rawValue)
    return (0..<26).contains(place) ? Character(Unicode.Scalar(UInt8(ascii: "a") + UInt8(place))) : nil
  }
}
