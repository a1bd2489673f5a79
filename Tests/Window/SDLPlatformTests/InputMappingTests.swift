import CSDL2
import Screen
import Testing

@testable import SDLPlatform

@Suite struct InputMappingTests {
  private func keyDown(_ code: Int32, mod: UInt16 = 0) -> SDL_Event {
    var event = SDL_Event()
    event.type = SDL_KEYDOWN.rawValue
    event.key.keysym.sym = code
    event.key.keysym.mod = mod
    return event
  }

  @Test("Key events have names, modifiers and shifted characters")
  func keys() {
    var mapping = InputMapping()
    func key(_ code: Int32, _ mod: UInt16 = 0) -> [InputEvent] { mapping.inputs(for: keyDown(code, mod: mod)) }
    #expect(key(113, UInt16(KMOD_LCTRL.rawValue)) == [.key(.character("q"), .control, isRepeat: false)])
    #expect(key(Int32(SDLK_F12.rawValue)) == [.key(.function(12), [], isRepeat: false)])
    let numLock = UInt16(KMOD_NUM.rawValue)
    #expect(key(Int32(bitPattern: SDLK_KP_7.rawValue), numLock) == [.key(.character("7"), [], isRepeat: false)])
    #expect(key(Int32(bitPattern: SDLK_KP_4.rawValue)) == [.key(.left, [], isRepeat: false)], "NumLock is off")
    #expect(key(Int32(bitPattern: SDLK_KP_5.rawValue)) == [] && key(Int32(bitPattern: SDLK_KP_0.rawValue)) == [])
    #expect(key(Int32(bitPattern: SDLK_KP_ENTER.rawValue)) == [.key(.enter, [], isRepeat: false)])
    #expect(key(61, UInt16(KMOD_RSHIFT.rawValue)) == [.key(.character("+"), .shift, isRepeat: false)])
    #expect(key(Int32(bitPattern: SDLK_CAPSLOCK.rawValue)) == [])
  }

  @Test("On a Cyrillic layout Ctrl-V is at its Latin place, and other keys give their letters")
  func cyrillic() {
    var mapping = InputMapping()
    var event = keyDown(0x43C, mod: UInt16(KMOD_LCTRL.rawValue))  // м
    event.key.keysym.scancode = SDL_SCANCODE_V
    #expect(mapping.inputs(for: event) == [.key(.character("v"), .control, isRepeat: false)])
    event = keyDown(0x43F)  // п
    event.key.keysym.scancode = SDL_SCANCODE_G
    #expect(mapping.inputs(for: event) == [.key(.character("g"), [], isRepeat: false)])
  }

  @Test("An input method's composition is reported, and is empty when finished")
  func composing() {
    var mapping = InputMapping()
    var event = SDL_Event()
    event.type = SDL_TEXTEDITING.rawValue
    #expect(mapping.inputs(for: event) == [.composing("")])
    withUnsafeMutableBytes(of: &event.edit.text) { $0.copyBytes(from: "に".utf8) }
    #expect(mapping.inputs(for: event) == [.composing("に")])
  }

  @Test("A hidden window wakes up for updates, not for pictures")
  func hidden() {
    // A hidden window has no picture due. A shown window wakes up for its next picture.
    #expect(SDLPlatform.wake(picture: nil, update: 0.25, lastPicture: 0) == 0.25)
    #expect(SDLPlatform.wake(picture: 0, update: 0.25, lastPicture: 0.1) == 0.1 + 1.0 / 60)
    #expect(SDLPlatform.wake(picture: .infinity, update: 0.25, lastPicture: 0) == 0.25)
  }

  @Test("Of a second finger only the press is reported until the first one is lifted")
  func twoFingers() {
    var mapping = InputMapping()
    mapping.pixelSize = (100, 100)
    func finger(_ type: SDL_EventType, _ id: SDL_FingerID, _ x: Float) -> [InputEvent] {
      var event = SDL_Event()
      event.type = type.rawValue
      (event.tfinger.fingerId, event.tfinger.x) = (id, x)
      return mapping.inputs(for: event)
    }
    #expect(finger(SDL_FINGERDOWN, 1, 0.5) == [.pointerDown(x: 50, y: 0, isTouch: true)])
    #expect(finger(SDL_FINGERDOWN, 2, 0.25) == [.alsoDown(x: 25, y: 0)] && finger(SDL_FINGERMOTION, 2, 0.5) == [])
    #expect(finger(SDL_FINGERUP, 2, 0.5) == [])
    #expect(finger(SDL_FINGERMOTION, 1, 0.25) == [.pointerMoved(x: 25, y: 0)])
    #expect(finger(SDL_FINGERUP, 1, 0.25) == [.pointerUp(x: 25, y: 0, isTouch: true), .pointerLeft])
    #expect(finger(SDL_FINGERDOWN, 2, 0.5).count == 1)
  }

  @Test("A window reopens on its display, also left of or above the first one, but not on a removed one")
  func places() {
    let displays = [SDL_Rect(x: 0, y: 0, w: 1_920, h: 1_080), SDL_Rect(x: -1_280, y: -200, w: 1_280, h: 1_024)]
    func place(_ text: String) -> [Int32]? {
      SDLPlatform.restored(text, on: displays).map { [$0.x, $0.y, $0.w, $0.h] }
    }
    #expect(place("800x600+100+50") == [100, 50, 800, 600])
    #expect(place("800x1200+-1200+-100") == [-1_200, -100, 800, 1_024])
    #expect(place("800x600+2500+50") == nil && place("800x600+1900+50") == nil && place("100x100+0+0") == nil)
    #expect(place("") == nil && place("800x600") == nil)
  }

  @Test("Mouse and touch positions are in bitmap pixels, and a lifted finger does not hover")
  func pointers() {
    var mapping = InputMapping()
    mapping.scale = 2
    mapping.pixelSize = (200, 100)
    var event = SDL_Event()
    event.type = SDL_MOUSEBUTTONDOWN.rawValue
    event.button.button = 1
    event.button.x = 10
    event.button.y = 20
    #expect(mapping.inputs(for: event) == [.pointerDown(x: 20, y: 40, isTouch: false)])
    event.button.button = 3
    #expect(mapping.inputs(for: event) == [])
    event = SDL_Event()
    event.type = SDL_FINGERDOWN.rawValue
    _ = mapping.inputs(for: event)
    event.type = SDL_FINGERUP.rawValue
    event.tfinger.x = 0.5
    event.tfinger.y = 0.25
    #expect(mapping.inputs(for: event) == [.pointerUp(x: 100, y: 25, isTouch: true), .pointerLeft])
  }

  @Test("A tilted stick makes one step, and the next step only after the stick was back in the centre")
  func stick() {
    var mapping = InputMapping()
    func lean(_ value: Int16) -> [InputEvent] {
      var event = SDL_Event()
      event.type = SDL_CONTROLLERAXISMOTION.rawValue
      event.caxis.axis = UInt8(SDL_CONTROLLER_AXIS_LEFTX.rawValue)
      event.caxis.value = value
      return mapping.inputs(for: event)
    }
    let right = [InputEvent.key(.right, [], isRepeat: false)]
    #expect(lean(20_000) == right)
    #expect(lean(15_000) == [])
    #expect(lean(20_000) == [])
    #expect(lean(2_000) == [])
    #expect(lean(32_767) == right)
    #expect(lean(-32_768) == [.key(.left, [], isRepeat: false)])
  }

  @Test("A controller's buttons act as keys")
  func buttons() {
    var mapping = InputMapping()
    var event = SDL_Event()
    event.type = SDL_CONTROLLERBUTTONDOWN.rawValue
    event.cbutton.button = UInt8(SDL_CONTROLLER_BUTTON_A.rawValue)
    #expect(mapping.inputs(for: event) == [.key(.enter, [], isRepeat: false)])
    event.cbutton.button = UInt8(SDL_CONTROLLER_BUTTON_LEFTSHOULDER.rawValue)
    #expect(mapping.inputs(for: event) == [.key(.tab, .shift, isRepeat: false)])
  }
}

/// Serial, because SDL has one event queue per process. The controller is virtual; SDL treats it as a real one.
@Suite(.serialized) struct ControllerTests {
  @Test("A controller can be plugged in, move over the board, mark, go back, and be removed")
  func controller() throws {
    SDL_SetHint(SDL_HINT_JOYSTICK_ALLOW_BACKGROUND_EVENTS, "1")
    #expect(SDL_InitSubSystem(UInt32(SDL_INIT_GAMECONTROLLER)) == 0)
    defer { SDL_QuitSubSystem(UInt32(SDL_INIT_GAMECONTROLLER)) }
    let index = SDL_JoystickAttachVirtual(
      SDL_JOYSTICK_TYPE_GAMECONTROLLER, Int32(SDL_CONTROLLER_AXIS_MAX.rawValue),
      Int32(SDL_CONTROLLER_BUTTON_MAX.rawValue), 0)
    #expect(index >= 0)
    #expect(SDL_IsGameController(index) == SDL_TRUE)
    let controller = try #require(SDL_GameControllerOpen(index))
    defer { SDL_GameControllerClose(controller) }
    let joystick = SDL_GameControllerGetJoystick(controller)
    var mapping = InputMapping()
    func inputs() -> [InputEvent] {
      SDL_GameControllerUpdate()
      var event = SDL_Event()
      var result: [InputEvent] = []
      while SDL_PollEvent(&event) != 0 { result += mapping.inputs(for: event) }
      return result
    }
    func press(_ button: SDL_GameControllerButton) -> [InputEvent] {
      SDL_JoystickSetVirtualButton(joystick, Int32(button.rawValue), 1)
      let pressed = inputs()
      SDL_JoystickSetVirtualButton(joystick, Int32(button.rawValue), 0)
      return pressed + inputs()
    }
    _ = inputs()
    #expect(press(SDL_CONTROLLER_BUTTON_A) == [.key(.enter, [], isRepeat: false)])
    #expect(press(SDL_CONTROLLER_BUTTON_DPAD_LEFT) == [.key(.left, [], isRepeat: false)])
    #expect(press(SDL_CONTROLLER_BUTTON_B) == [.key(.escape, [], isRepeat: false)])
    #expect(press(SDL_CONTROLLER_BUTTON_RIGHTSHOULDER) == [.key(.tab, [], isRepeat: false)])
    SDL_JoystickSetVirtualAxis(joystick, Int32(SDL_CONTROLLER_AXIS_LEFTY.rawValue), 30_000)
    #expect(inputs() == [.key(.down, [], isRepeat: false)])
    SDL_JoystickSetVirtualAxis(joystick, Int32(SDL_CONTROLLER_AXIS_LEFTY.rawValue), 0)
    #expect(inputs() == [])
    #expect(SDL_JoystickDetachVirtual(index) == 0)
    #expect(inputs() == [])
  }
}
