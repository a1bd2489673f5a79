import Base
import CSDL2
import Glibc
import Screen

extension PlatformServices {
  /// Services that use SDL must be called on the window's thread.
  static func sdl(
    window: OpaquePointer, cursors: Cursors, now: @escaping @Sendable () -> Double
  ) -> PlatformServices {
    nonisolated(unsafe) let window = window
    var services = PlatformServices.headless(now: now)
    services.clipboard = {
      guard SDL_HasClipboardText() == SDL_TRUE, let text = SDL_GetClipboardText() else { return nil }
      defer { SDL_free(text) }
      return String(cString: text)
    }
    services.setClipboard = { $1(SDL_SetClipboardText($0) == 0) }
    services.setFullScreen = { SDL_SetWindowFullscreen(window, $0 ? SDL_WINDOW_FULLSCREEN_DESKTOP.rawValue : 0) }
    services.inhibitScreenSaver = { $0 ? SDL_DisableScreenSaver() : SDL_EnableScreenSaver() }
    services.takeText = { place, _ in
      guard let place else { return SDL_StopTextInput() }
      var (width, pixels): (Int32, Int32) = (1, 1)
      SDL_GetWindowSize(window, &width, nil)
      SDL_GetWindowSizeInPixels(window, &pixels, nil)
      func units(_ value: Int) -> Int32 { Int32(clamping: value * Int(width) / max(1, Int(pixels))) }
      var area = SDL_Rect(x: units(place.x), y: units(place.y), w: units(place.width), h: units(place.height))
      SDL_SetTextInputRect(&area)
      SDL_StartTextInput()
    }
    services.wake = wakePlatform
    services.openFolder = { SDL_OpenURL("file://\($0)") }
    services.requestAttention = { SDL_FlashWindow(window, SDL_FLASH_UNTIL_FOCUSED) }
    services.setPointingHand = { cursors.show(hand: $0) }
    services.inBackground = { work in
      Task.detached(priority: .utility) {
        work()
        wakePlatform()
      }
    }
    return services
  }

  /// Services without a window: clipboard and screen have no effect. `now` may be a script's clock.
  package static func headless(now: @escaping @Sendable () -> Double = { MonotonicClock.seconds }) -> PlatformServices {
    let locks = LockFiles()
    var services = PlatformServices(locks: FileLocks(take: { locks.take($0) }, release: { locks.release($0) }))
    services.now = now
    services.configFolder = { FileAccess.xdgFolder("XDG_CONFIG_HOME", fallback: ".config") }
    services.dataFolder = { FileAccess.xdgFolder("XDG_DATA_HOME", fallback: ".local/share") }
    services.files.read = { FileAccess.read($0) }
    services.files.write = { (path, bytes) throws(WriteFault) in try FileAccess.write(path, bytes) }
    services.inBackground = { work in Task.detached(priority: .utility) { work() } }
    services.files.list = { FileAccess.list($0) }
    services.fileStamp = { FileAccess.stamp($0) }
    services.systemLanguage = {
      ["LC_ALL", "LC_MESSAGES", "LANG"].lazy.compactMap(FileAccess.environment).first ?? ""
    }
    services.prefersDark = {
      // Read GTK's preference for dark windows: asking the desktop portal would need D-Bus.
      if let theme = FileAccess.environment("GTK_THEME") { return theme.hasSuffix("dark") }
      let config = FileAccess.xdgBase("XDG_CONFIG_HOME", fallback: ".config") ?? ""
      return ["4.0", "3.0"].contains { version in
        let lines = String(decoding: FileAccess.read("\(config)/gtk-\(version)/settings.ini") ?? [], as: UTF8.self)
          .split(separator: "\n").map { $0.filter { $0 != " " } }
        return lines.contains { ["1", "true"].map { "gtk-application-prefer-dark-theme=" + $0 }.contains($0) }
      }
    }
    services.zoneMinutes = {
      var (now, local) = (time(nil), tm())
      localtime_r(&now, &local)
      return local.tm_gmtoff / 60
    }
    services.timeStamp = {
      var now = time(nil)
      var local = tm()
      localtime_r(&now, &local)
      var buffer = [CChar](repeating: 0, count: 64)
      strftime(&buffer, buffer.count, "%Y-%m-%d-%H%M%S", &local)
      return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
    services.files.delete = { unlink($0) == 0 }
    return services
  }
}

/// Ends the event loop's wait for events, so that the loop calls `update`. Safe from any thread.
func wakePlatform() {
  var event = SDL_Event()
  event.type = SDL_USEREVENT.rawValue
  SDL_PushEvent(&event)
}

final class Cursors: @unchecked Sendable {
  private let arrow = SDL_CreateSystemCursor(SDL_SYSTEM_CURSOR_ARROW)
  private let hand = SDL_CreateSystemCursor(SDL_SYSTEM_CURSOR_HAND)
  private var isHand = false

  func show(hand wanted: Bool) {
    guard wanted != isHand else { return }
    isHand = wanted
    SDL_SetCursor(wanted ? hand : arrow)
  }

  deinit {
    SDL_FreeCursor(arrow)
    SDL_FreeCursor(hand)
  }
}
