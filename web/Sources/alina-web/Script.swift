// What the page's script does for the module; the other end is Assets/web/alina.js.

@_extern(wasm, module: "env", name: "now") func scriptNow() -> Double
/// Asks for a text by a word; it is kept for `take`. Returns its bytes, or -1 where there is none.
@_extern(wasm, module: "env", name: "ask")
func scriptAsk(_ what: Int32, _ bytes: UnsafePointer<UInt8>?, _ count: Int32) -> Int32
@_extern(wasm, module: "env", name: "take") func scriptTake(_ target: UnsafeMutablePointer<UInt8>)
/// Tells something with a text; what comes back is 1 where it was done.
@_extern(wasm, module: "env", name: "tell")
func scriptTell(_ what: Int32, _ bytes: UnsafePointer<UInt8>?, _ count: Int32) -> Int32
@_extern(wasm, module: "env", name: "write")
func scriptWrite(
  _ path: UnsafePointer<UInt8>?, _ pathCount: Int32, _ bytes: UnsafePointer<UInt8>?, _ count: Int32
) -> Int32
/// Begins to take text at a place of the canvas, or ends it where the width is 0.
@_extern(wasm, module: "env", name: "takeText")
func scriptTakeText(_ x: Double, _ y: Double, _ width: Double, _ height: Double)

/// What can be asked of the page.
enum Asked: Int32 {
  case file, folder, clipboard, language, preferences, timeStamp, textPercent, host, address
}

/// What the page can be told.
enum Told: Int32 {
  case clipboard, fullScreen, keepsAwake, attention, hand, delete, controls, say, focus, open, send, close, share, paste
  case title, place, leave, page, expectAttention, stopFilm, lock, unlock, caption
}

/// The page, as texts that go to and fro.
enum Page {
  /// A text of the page, or `nil` where there is none.
  static func ask(_ what: Asked, _ words: String = "") -> [UInt8]? {
    var words = words
    let count = words.withUTF8 { scriptAsk(what.rawValue, $0.baseAddress, Int32($0.count)) }
    guard count >= 0 else { return nil }
    return [UInt8](unsafeUninitializedCapacity: Int(count)) { buffer, initialized in
      if let start = buffer.baseAddress { scriptTake(start) }
      initialized = Int(count)
    }
  }

  /// A text of the page, empty where there is none.
  static func text(_ what: Asked, _ words: String = "") -> String {
    String(decoding: ask(what, words) ?? [], as: UTF8.self)
  }

  /// Whether the system asks for something: `dark`, `contrast`, `still`, or has a `finger` to press with, or `films`.
  static func prefers(_ word: Substring) -> Bool { text(.preferences).split(separator: " ").contains(word) }

  @discardableResult
  static func tell(_ what: Told, _ words: String = "") -> Bool {
    var words = words
    return words.withUTF8 { scriptTell(what.rawValue, $0.baseAddress, Int32($0.count)) } == 1
  }

  /// What is called with the answers to requests, by their numbers.
  nonisolated(unsafe) private static var answers: [Int32: (String) -> Void] = [:]
  nonisolated(unsafe) private static var requests: Int32 = 0

  /// A number for a request that the script answers later; `answer` is called once.
  static func awaiting(_ answer: @escaping (String) -> Void) -> String {
    requests += 1
    answers[requests] = answer
    return "\(requests)"
  }

  /// Tells the page something that it answers later.
  static func request(_ what: Told, _ words: String = "", answer: @escaping (String) -> Void) {
    tell(what, "\(awaiting(answer))\t\(words)")
  }

  static func answered(_ number: Int32, _ words: String) { answers.removeValue(forKey: number)?(words) }

  /// Gives the person a file to keep.
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
