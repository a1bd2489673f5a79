import Base
import TicTacToe

// The rules as a shared library for other languages, such as Python (`python/alina_arena/state.py`). A handle stands for a game;
// one thread at a time may use it. Cells are counted row by row from the top.

/// A game with the earlier states, which `undo` restores.
private class SharedGame {
  func play(_ place: Int32) -> Int32 { -1 }
  func undo() -> Bool { false }
  func copy() -> SharedGame { self }
  func writeLegal(to bytes: UnsafeMutablePointer<UInt8>) -> Int32 { 0 }
  func writeBlock(to bytes: UnsafeMutablePointer<UInt8>) {}
  var result: Int32 { 0 }
  var notation: String { "" }
}

private final class GameOf<R: Rules>: SharedGame {
  private let block: GameBlock<R>
  private var state: R.State
  private var last: Cell?
  private var earlier: [(state: R.State, last: Cell?)] = []

  init(_ state: R.State, _ block: GameBlock<R> = GameBlock()) { (self.state, self.block) = (state, block) }

  override func play(_ place: Int32) -> Int32 {
    guard place >= 0, place < block.cells.count else { return -1 }
    let cell = block.cells[Int(place)]
    guard R.moves(state).contains(cell) else { return -1 }
    earlier.append((state, last))
    last = cell
    return Int32(GameBlock<R>.code(of: R.play(cell, &state)))
  }

  override func undo() -> Bool {
    guard let before = earlier.popLast() else { return false }
    (state, last) = before
    return true
  }

  override func copy() -> SharedGame {
    let copy = GameOf(state, block)
    (copy.last, copy.earlier) = (last, earlier)
    return copy
  }

  override func writeLegal(to bytes: UnsafeMutablePointer<UInt8>) -> Int32 {
    var count = 0
    for cell in R.moves(state) {
      bytes[count] = block.places[cell.index]
      count += 1
    }
    return Int32(count)
  }

  override func writeBlock(to bytes: UnsafeMutablePointer<UInt8>) { block.write(state, last: last, to: bytes) }

  override var result: Int32 { Int32(GameBlock<R>.code(of: R.outcome(of: state))) }

  override var notation: String { R.notation(of: state) }
}

private func game(_ handle: UnsafeRawPointer) -> SharedGame {
  Unmanaged<SharedGame>.fromOpaque(handle).takeUnretainedValue()
}

/// Ends the text with a zero. Returns the length without the zero, or −1 if `capacity` is too small.
private func write(_ text: String, to bytes: UnsafeMutablePointer<CChar>, _ capacity: Int32) -> Int32 {
  let count = text.utf8.count
  guard count < capacity else { return -1 }
  for (place, byte) in text.utf8.enumerated() { bytes[place] = CChar(bitPattern: byte) }
  bytes[count] = 0
  return Int32(count)
}

/// Starts a game of the variant `rules` from a position, or from the start if `position` is empty. Returns `nil` and writes a
/// message if one of these texts is invalid.
@_cdecl("alina_new")
public func alinaNew(
  _ rules: UnsafePointer<CChar>, _ position: UnsafePointer<CChar>, _ message: UnsafeMutablePointer<CChar>,
  _ capacity: Int32
) -> UnsafeMutableRawPointer? {
  func begin<R: Rules>(_ rules: R.Type) throws(NotationError) -> SharedGame {
    let text = String(cString: position)
    return GameOf<R>(text.isEmpty ? R.start : try R.state(notation: text))
  }
  let name = String(cString: rules)
  do throws(NotationError) {
    let begun: SharedGame
    switch Variant(rawValue: name) {
    case .classic: begun = try begin(Classic.self)
    case .infinite: begun = try begin(Infinite.self)
    case .misere: begun = try begin(Misere.self)
    case .ultimate: begun = try begin(Ultimate.self)
    case nil:
      _ = write("rules '\(name)': \(Variant.names)", to: message, capacity)
      return nil
    }
    return Unmanaged.passRetained(begun).toOpaque()
  } catch {
    _ = write("the position, column \(error.column): \(error.message)", to: message, capacity)
    return nil
  }
}

/// Frees a game.
@_cdecl("alina_free")
public func alinaFree(_ handle: UnsafeRawPointer) { Unmanaged<SharedGame>.fromOpaque(handle).release() }

/// Copies a game with its earlier states. The copy must be freed, too.
@_cdecl("alina_copy")
public func alinaCopy(_ handle: UnsafeRawPointer) -> UnsafeMutableRawPointer {
  Unmanaged.passRetained(game(handle).copy()).toOpaque()
}

/// Marks a cell. Returns the result of the game as in a `GameBlock`, or −1 if the cell may not be marked.
@_cdecl("alina_play")
public func alinaPlay(_ handle: UnsafeRawPointer, _ place: Int32) -> Int32 { game(handle).play(place) }

/// Takes the last move back. Returns 1, or 0 if there is no move.
@_cdecl("alina_undo")
public func alinaUndo(_ handle: UnsafeRawPointer) -> Int32 { game(handle).undo() ? 1 : 0 }

/// Writes the number of each legal cell as a byte, and returns how many there are.
@_cdecl("alina_legal")
public func alinaLegal(_ handle: UnsafeRawPointer, _ bytes: UnsafeMutablePointer<UInt8>) -> Int32 {
  game(handle).writeLegal(to: bytes)
}

/// Writes the state as a `GameBlock`.
@_cdecl("alina_block")
public func alinaBlock(_ handle: UnsafeRawPointer, _ bytes: UnsafeMutablePointer<UInt8>) {
  game(handle).writeBlock(to: bytes)
}

/// Returns the result of the game as in a `GameBlock`.
@_cdecl("alina_result")
public func alinaResult(_ handle: UnsafeRawPointer) -> Int32 { game(handle).result }

/// Writes the notation of the state. Returns its length, or −1 if `capacity` is too small.
@_cdecl("alina_text")
public func alinaText(_ handle: UnsafeRawPointer, _ bytes: UnsafeMutablePointer<CChar>, _ capacity: Int32) -> Int32 {
  write(game(handle).notation, to: bytes, capacity)
}
