import Screen

extension Key {
  /// Keys by name, for scripts. Browsers use the same names, with `Arrow` before directions.
  package static let named: [String: Key] = [
    "up": .up, "down": .down, "left": .left, "right": .right, "enter": .enter, "escape": .escape, "tab": .tab,
    "backspace": .backspace, "delete": .delete, "home": .home, "end": .end, "pageup": .pageUp,
    "pagedown": .pageDown, "space": .character(" "),
  ]

  /// Parses a name of `named`, a single character, or `f1` to `f12`, regardless of case.
  package init?(name: String) {
    let name = name.lowercased()
    if let key = Key.named[name] {
      self = key
    } else if name.count == 1, let sign = name.first {
      self = .character(sign)
    } else if name.hasPrefix("f"), let number = Int(name.dropFirst()), (1...12).contains(number) {
      self = .function(number)
    } else {
      return nil
    }
  }
}
