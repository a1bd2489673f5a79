/// The number of a drawing command, written before the command's arguments. `Assets/web/drawing.js` uses the same numbers.
enum Operation: UInt32 {
  case target, save, restore, clip, translate, color
  case rectangle, begin, move, line, curve, close, fill, stroke
  case text, copy, blend, shadow, freeText, freeSurface
}

/// Collects the drawing commands of a frame. Not thread-safe: the web page has only one thread.
enum Commands {
  nonisolated(unsafe) private static var words: [UInt32] = []

  static func add(_ operation: Operation, _ numbers: Double...) {
    words.append(operation.rawValue)
    for number in numbers { words.append(Float(number).bitPattern) }
  }

  static func add(_ operation: Operation, id: Int32, _ numbers: Double...) {
    words.append(operation.rawValue)
    words.append(UInt32(bitPattern: id))
    for number in numbers { words.append(Float(number).bitPattern) }
  }

  /// Lets the web page's script execute the collected commands.
  static func flush() {
    guard !words.isEmpty else { return }
    words.withUnsafeBufferPointer { canvasRun($0.baseAddress, Int32($0.count)) }
    words.removeAll(keepingCapacity: true)
  }
}

@_extern(wasm, module: "env", name: "canvasRun")
private func canvasRun(_ words: UnsafePointer<UInt32>?, _ count: Int32)
