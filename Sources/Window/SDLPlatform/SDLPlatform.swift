import CSDL2
import Screen

/// The real window. It calls the game only when an input, a frame or an update is due. Confined to the main thread.
package final class SDLPlatform {
  package struct Failure: Error, CustomStringConvertible {
    package let description: String
  }

  package struct Options: Sendable {
    /// Width and height are in window units, and reduced to fit the display.
    package var width = 1_280
    package var height = 720
    /// The window's geometry when it was last closed, `WIDTHxHEIGHT+X+Y`; ignored if no display would show the title bar.
    package var place = ""
    /// A clock that a script advances; with such a clock the event loop never sleeps.
    package var virtualNow: (@Sendable () -> Double)?

    package init() {}
  }

  package let services: PlatformServices
  /// Bitmap pixels per point, the unit of the sizes of text and controls; above 1 on displays of high density.
  package private(set) var scale = 1.0
  /// Work that can wait until the first frame is shown.
  package var afterFirstFrame: (() -> Void)?
  package weak var audio: AudioDevice?
  package var beforeUpdate: ((_ now: Double) -> Void)?

  private let window: OpaquePointer
  private let renderer: OpaquePointer
  private let cursors = Cursors()
  private var texture: OpaquePointer?
  private var frame: PixelBuffer?
  private var mapping = InputMapping()
  private let isVirtual: Bool
  private var isVisible = true
  private var needsPresent = false
  private var controllers: [Int32: OpaquePointer] = [:]

  /// The minimal seconds between two frames.
  private static let frameInterval = 1.0 / 60

  package init(title: String, options: Options = Options()) throws(Failure) {
    SDL_SetHint(SDL_HINT_APP_NAME, "Alina")
    // Receive a touch only as a touch, not also as a mouse click.
    SDL_SetHint(SDL_HINT_TOUCH_MOUSE_EVENTS, "0")
    // Let a click that focuses the window also act on the game: SDL would drop a click made while the first frame is drawn.
    SDL_SetHint(SDL_HINT_MOUSE_FOCUS_CLICKTHROUGH, "1")
    SDL_SetHint(SDL_HINT_VIDEO_X11_NET_WM_BYPASS_COMPOSITOR, "0")  // otherwise SDL suspends the desktop's compositor
    // Alina draws in memory and copies the changes: OpenGL would load a driver for the copy (80 MB and 100 ms without a graphics card).
    // The environment variable SDL_RENDER_DRIVER overrides the hint.
    SDL_SetHint(SDL_HINT_RENDER_DRIVER, "software")
    SDL_SetHint(SDL_HINT_FRAMEBUFFER_ACCELERATION, "0")
    let quiet = SilencedErrors()
    let status = SDL_Init(SDL_INIT_VIDEO)
    let driver = SDL_GetCurrentVideoDriver().map { String(cString: $0) }
    quiet.end()
    // Without a display SDL opens an invisible window, which the user could not close. Accept it only if SDL_VIDEODRIVER is set.
    let isSeen = driver != "offscreen" && driver != "dummy" || FileAccess.environment("SDL_VIDEODRIVER") != nil
    guard status == 0, isSeen else {
      let reason = status == 0 ? "neither DISPLAY nor WAYLAND_DISPLAY leads to one" : sdlError
      SDL_Quit()
      throw Failure(description: "no display to open a window on (\(reason)); --screenshot works without one")
    }
    SDL_EnableScreenSaver()
    var bounds = SDL_Rect(x: 0, y: 0, w: 0, h: 0)
    var (width, height) = (Int32(options.width), Int32(options.height))
    if SDL_GetDisplayUsableBounds(0, &bounds) == 0, bounds.w > 0, bounds.h > 0 {
      width = min(width, bounds.w)
      height = min(height, bounds.h)
    }
    let centered: Int32 = 0x2FFF_0000  // SDL_WINDOWPOS_CENTERED, a macro that is not imported
    var (x, y) = (centered, centered)
    let displays = (0..<max(0, SDL_GetNumVideoDisplays())).compactMap { number in
      var bounds = SDL_Rect()
      return SDL_GetDisplayUsableBounds(number, &bounds) == 0 ? bounds : nil
    }
    if let place = SDLPlatform.restored(options.place, on: displays) {
      (width, height, x, y) = (place.w, place.h, place.x, place.y)
    }
    let flags = SDL_WINDOW_RESIZABLE.rawValue | SDL_WINDOW_ALLOW_HIGHDPI.rawValue
    guard let window = SDL_CreateWindow(title, x, y, width, height, flags) else {
      let reason = sdlError
      SDL_Quit()
      throw Failure(description: "no window could be opened (\(reason))")
    }
    guard let renderer = SDL_CreateRenderer(window, -1, 0) else {
      let reason = sdlError
      SDL_DestroyWindow(window)
      SDL_Quit()
      throw Failure(description: "the window cannot be drawn on (\(reason))")
    }
    SDL_SetWindowMinimumSize(window, 320, 480)
    // SDL starts with text input enabled; an input method would then intercept the board's letter keys.
    SDL_StopTextInput()
    self.window = window
    self.renderer = renderer
    isVirtual = options.virtualNow != nil
    services = .sdl(window: window, cursors: cursors, now: options.virtualNow ?? { MonotonicClock.seconds })
  }

  deinit {
    for controller in controllers.values { SDL_GameControllerClose(controller) }
    if let texture { SDL_DestroyTexture(texture) }
    SDL_DestroyRenderer(renderer)
    SDL_DestroyWindow(window)
  }

  /// Parses a geometry `WIDTHxHEIGHT+X+Y` and fits it to its display; `nil` if no display would show the title bar.
  static func restored(_ place: String, on displays: [SDL_Rect]) -> SDL_Rect? {
    let numbers = place.split(whereSeparator: { "x+".contains($0) }).compactMap { Int32($0) }
    guard numbers.count == 4, numbers[0] >= 320, numbers[1] >= 320 else { return nil }
    let (x, y) = (numbers[2], numbers[3])
    let display = displays.first { display in
      x >= display.x && x < display.x + display.w - 100 && y >= display.y && y < display.y + display.h - 100
    }
    return display.map { SDL_Rect(x: x, y: y, w: min(numbers[0], $0.w), h: min(numbers[1], $0.h)) }
  }

  /// The window's geometry `WIDTHxHEIGHT+X+Y`; `nil` in full screen, maximised or minimised.
  package var place: String? {
    let filled = SDL_WINDOW_FULLSCREEN.rawValue | SDL_WINDOW_MAXIMIZED.rawValue | SDL_WINDOW_MINIMIZED.rawValue
    guard SDL_GetWindowFlags(window) & filled == 0 else { return nil }
    var (x, y, width, height): (Int32, Int32, Int32, Int32) = (0, 0, 0, 0)
    SDL_GetWindowSize(window, &width, &height)
    SDL_GetWindowPosition(window, &x, &y)
    return "\(width)x\(height)+\(x)+\(y)"
  }

  /// SDL copies the pixels.
  package func setIcon(_ bitmap: Bitmap) {
    let surface = SDL_CreateRGBSurfaceFrom(
      bitmap.pixels, Int32(bitmap.width), Int32(bitmap.height), 32, Int32(bitmap.stride * 4), 0xFF0000, 0xFF00, 0xFF, 0)
    SDL_SetWindowIcon(window, surface)
    SDL_FreeSurface(surface)
  }

  package func run(_ game: some PlatformGame) {
    var title = ""
    var lastFrame = -Double.infinity
    var isFirst = true
    while true {
      let inputs = takeEvents()
      let now = services.now()
      beforeUpdate?(now)
      game.update(input: inputs, at: now)
      if game.wantsToQuit { return }
      if game.windowTitle != title {
        title = game.windowTitle
        SDL_SetWindowTitle(window, title)
      }
      if isVisible && (frame == nil || needsPresent || game.nextFrame(after: now) <= now)
        && now >= lastFrame + SDLPlatform.frameInterval - 0.001
      {
        show(game, at: now)
        lastFrame = now
        if isFirst {
          isFirst = false
          afterFirstFrame?()
          openControllers()
        }
      }
      wait(
        until: SDLPlatform.wake(
          picture: isVisible ? game.nextFrame(after: now) : nil, update: game.nextUpdate(after: now),
          lastPicture: lastFrame))
    }
  }

  /// The time at which the event loop continues; a frame waits until 1/60 s after `lastPicture`. `picture` is `nil` in a hidden window.
  static func wake(picture: Double?, update: Double, lastPicture: Double) -> Double {
    min(update, picture.map { max($0, lastPicture + frameInterval) } ?? .infinity)
  }

  // MARK: - Pictures

  private func show(_ game: some PlatformGame, at now: Double) {
    let isNew = fitFrame()
    guard let frame, let texture else { return }
    let bitmap = frame.bitmap
    let damage = game.draw(into: bitmap, isNew: isNew, at: now)
    for part in isNew ? [PixelRect(x: 0, y: 0, width: bitmap.width, height: bitmap.height)] : damage {
      var area = SDL_Rect(x: Int32(part.x), y: Int32(part.y), w: Int32(part.width), h: Int32(part.height))
      SDL_UpdateTexture(texture, &area, bitmap.pixels + (part.y * bitmap.stride + part.x), Int32(bitmap.stride * 4))
    }
    guard isNew || needsPresent || !damage.isEmpty else { return }
    needsPresent = false
    SDL_RenderCopy(renderer, texture, nil, nil)
    SDL_RenderPresent(renderer)
  }

  /// Replaces the bitmap and the texture if the window's size in pixels has changed; returns whether they were replaced.
  private func fitFrame() -> Bool {
    var (width, height): (Int32, Int32) = (0, 0)
    SDL_GetRendererOutputSize(renderer, &width, &height)
    guard width > 0, height > 0 else { return false }
    if let bitmap = frame?.bitmap, bitmap.width == Int(width), bitmap.height == Int(height), texture != nil {
      return false
    }
    if let texture { SDL_DestroyTexture(texture) }
    texture = SDL_CreateTexture(
      renderer, SDL_PIXELFORMAT_RGB888.rawValue, Int32(SDL_TEXTUREACCESS_STREAMING.rawValue), width, height)
    frame = PixelBuffer(width: Int(width), height: Int(height))
    var units: Int32 = 1
    SDL_GetWindowSize(window, &units, nil)
    mapping.scale = Double(width) / Double(max(units, 1))
    // On X11 a window unit is always one pixel, so take the scale of the desktop from the X resources there.
    scale = mapping.scale * (mapping.scale == 1 ? XResources.scale : 1)
    mapping.pixelSize = (Int(width), Int(height))
    return true
  }

  // MARK: - Events

  private func takeEvents() -> [InputEvent] {
    var inputs: [InputEvent] = []
    var event = SDL_Event()
    while SDL_PollEvent(&event) != 0 {
      handle(event)
      inputs += mapping.inputs(for: event)
    }
    for case .visible(let visible) in inputs { isVisible = visible }
    return inputs
  }

  private func handle(_ event: SDL_Event) {
    switch SDL_EventType(event.type) {
    case SDL_WINDOWEVENT:
      switch SDL_WindowEventID(UInt32(event.window.event)) {
      case SDL_WINDOWEVENT_EXPOSED, SDL_WINDOWEVENT_SIZE_CHANGED, SDL_WINDOWEVENT_RESTORED, SDL_WINDOWEVENT_SHOWN:
        needsPresent = true
      default: break
      }
    case SDL_RENDER_TARGETS_RESET, SDL_RENDER_DEVICE_RESET:
      if let texture { SDL_DestroyTexture(texture) }
      texture = nil
      frame = nil
    // SDL also reports the removal of devices that are not open, with the number 0.
    case SDL_AUDIODEVICEREMOVED where event.adevice.iscapture == 0 && event.adevice.which != 0:
      audio?.deviceRemoved()
    case SDL_AUDIODEVICEADDED where event.adevice.iscapture == 0:
      audio?.deviceAdded()
    case SDL_CONTROLLERDEVICEADDED:
      let controller = SDL_GameControllerOpen(event.cdevice.which)
      if let controller { controllers[SDL_JoystickInstanceID(SDL_GameControllerGetJoystick(controller))] = controller }
    case SDL_CONTROLLERDEVICEREMOVED:
      if let controller = controllers.removeValue(forKey: event.cdevice.which) { SDL_GameControllerClose(controller) }
    default:
      break
    }
  }

  /// Slow, so called only after the first frame.
  private func openControllers() {
    SDL_InitSubSystem(SDL_INIT_GAMECONTROLLER)
  }

  private func wait(until due: Double) {
    let left = due - services.now()
    if left <= 0 || isVirtual { return }
    let longest = audio?.needsPolling == true ? 1.0 : 3_600.0
    SDL_WaitEventTimeout(nil, Int32((min(left, longest) * 1_000).rounded(.up)))
  }
}
