// Functions of the page's script for the module, implemented in Assets/web/alina.js.

@_extern(wasm, module: "env", name: "now") func scriptNow() -> Double
/// Requests a text, which `take` then copies. Returns the text's number of bytes, or -1 if there is no such text.
@_extern(wasm, module: "env", name: "ask")
func scriptAsk(_ what: Int32, _ bytes: UnsafePointer<UInt8>?, _ count: Int32) -> Int32
@_extern(wasm, module: "env", name: "take") func scriptTake(_ target: UnsafeMutablePointer<UInt8>)
/// Sends the message `what` (`Told`) with a text; returns 1 if the script has carried it out.
@_extern(wasm, module: "env", name: "tell")
func scriptTell(_ what: Int32, _ bytes: UnsafePointer<UInt8>?, _ count: Int32) -> Int32
@_extern(wasm, module: "env", name: "write")
func scriptWrite(
  _ path: UnsafePointer<UInt8>?, _ pathCount: Int32, _ bytes: UnsafePointer<UInt8>?, _ count: Int32
) -> Int32
/// Starts text input at a place of the canvas, or ends it if the width is 0.
@_extern(wasm, module: "env", name: "takeText")
func scriptTakeText(_ x: Double, _ y: Double, _ width: Double, _ height: Double)

enum Asked: Int32 {
  case file, folder, clipboard, language, preferences, timeStamp, textPercent, host, address, zone
}

enum Told: Int32 {
  case clipboard, fullScreen, keepsAwake, attention, hand, delete, controls, say, focus, open, send, close, share, paste
  case title, place, leave, page, expectAttention, stopFilm, lock, unlock, caption, listening, touching
}

enum Page {
  static func ask(_ what: Asked, _ words: String = "") -> [UInt8]? {
    var words = words
    let count = words.withUTF8 { scriptAsk(what.rawValue, $0.baseAddress, Int32($0.count)) }
    guard count >= 0 else { return nil }
    return [UInt8](unsafeUninitializedCapacity: Int(count)) { buffer, initialized in
      if let start = buffer.baseAddress { scriptTake(start) }
      initialized = Int(count)
    }
  }

  static func text(_ what: Asked, _ words: String = "") -> String {
    String(decoding: ask(what, words) ?? [], as: UTF8.self)
  }

  /// `dark`, `contrast` and `still`: the user prefers dark colours, high contrast or no motion. `finger`: the user points with a finger.
  /// `films`: the browser can record films.
  static func prefers(_ word: Substring) -> Bool { text(.preferences).split(separator: " ").contains(word) }

  @discardableResult
  static func tell(_ what: Told, _ words: String = "") -> Bool {
    var words = words
    return words.withUTF8 { scriptTell(what.rawValue, $0.baseAddress, Int32($0.count)) } == 1
  }

  nonisolated(unsafe) private static var answers: [Int32: (String) -> Void] = [:]
  nonisolated(unsafe) private static var requests: Int32 = 0

  /// The number to send with a request, whose answer `answer` will receive.
  static func awaiting(_ answer: @escaping (String) -> Void) -> String {
    requests += 1
    answers[requests] = answer
    return "\(requests)"
  }

  static func request(_ what: Told, _ words: String = "", answer: @escaping (String) -> Void) {
    tell(what, "\(awaiting(answer))\t\(words)")
  }

  static func answered(_ number: Int32, _ words: String) { answers.removeValue(forKey: number)?(words) }

  static func download(_ name: String, _ bytes: [UInt8]) { _ = write("download/\(name)", bytes) }

  static func write(_ path: String, _ bytes: [UInt8]) -> Bool {
    var path = path
    return path.withUTF8 { path in
      bytes.withUnsafeBufferPointer {
        scriptWrite(path.baseAddress, Int32(path.count), $0.baseAddress, Int32($0.count))
      }
    } == 1
  }
}
