import CSDL2
import Glibc

/// The resources of an X11 desktop, read by the X11 library that SDL has already loaded.
enum XResources {
  /// The scale of the desktop relative to 96 dots per inch (`Xft.dpi`); 1 if not set.
  static let scale: Double = {
    guard SDL_GetCurrentVideoDriver().map({ String(cString: $0) }) == "x11",
      let library = dlopen("libX11.so.6", RTLD_LAZY)
    else { return 1 }
    typealias Open = @convention(c) (UnsafePointer<CChar>?) -> OpaquePointer?
    typealias Default =
      @convention(c) (OpaquePointer, UnsafePointer<CChar>, UnsafePointer<CChar>) -> UnsafePointer<CChar>?
    typealias Close = @convention(c) (OpaquePointer) -> Int32
    guard let open = dlsym(library, "XOpenDisplay"), let get = dlsym(library, "XGetDefault"),
      let close = dlsym(library, "XCloseDisplay"), let display = unsafeBitCast(open, to: Open.self)(nil)
    else { return 1 }
    defer { _ = unsafeBitCast(close, to: Close.self)(display) }
    let text = unsafeBitCast(get, to: Default.self)(display, "Xft", "dpi").map { String(cString: $0) }
    return scale(dpi: text)
  }()

  /// `text` is the value of `Xft.dpi`; outside of 48…480 it counts as unset.
  static func scale(dpi text: String?) -> Double {
    guard let dpi = text.flatMap(Double.init), (48...480).contains(dpi) else { return 1 }
    return dpi / 96
  }
}
