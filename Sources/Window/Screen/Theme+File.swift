/// The reason why a theme file was refused.
package struct ThemeError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The line, from 1; 0 for a missing key.
  package let line: Int
  package let message: String
  package var description: String { line > 0 ? "line \(line): \(message)" : message }
}

extension Theme {
  /// The themes that come with the game.
  package static let shipped = ["light", "dark", "contrast"]
  /// The largest theme file in bytes; a full one has 500.
  package static let fileLimit = 16_384

  private static let colorKeys = ["paper", "ink", "faint", "line", "ghost", "accent"]

  /// Parses a theme: one `key = value` a line, colours as `#RRGGBB`, comments after `#` at the start of a line.
  package init(name: String, file text: String) throws(ThemeError) {
    var colors: [String: Color] = [:]
    var numbers: [String: Double] = [:]
    for (index, raw) in text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      let line = Substring(raw).filter { !$0.isWhitespace }
      if line.isEmpty || line.first == "#" { continue }
      let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      guard parts.count == 2 else { throw ThemeError(line: index + 1, message: "expected \"key = value\"") }
      switch parts[0] {
      case let key where Theme.colorKeys.contains(key):
        let digits = parts[1].dropFirst()
        guard parts[1].first == "#", digits.count == 6, digits.allSatisfy({ $0.isHexDigit }),
          let hex = UInt32(digits, radix: 16)
        else { throw ThemeError(line: index + 1, message: "\(key) is \"\(parts[1])\", but must be #RRGGBB") }
        colors[key] = Color(hex: hex)
      case let key where key == "grain" || key == "falloff":
        let top = key == "grain" ? 1.0 : 32
        guard let value = Double(parts[1]), (0...top).contains(value) else {
          throw ThemeError(line: index + 1, message: "\(key) is \"\(parts[1])\", but must be 0 to \(Int(top))")
        }
        numbers[key] = value
      default:
        let known = (Theme.colorKeys + ["grain", "falloff"]).joined(separator: ", ")
        throw ThemeError(line: index + 1, message: "unknown key \"\(parts[0])\"; known are \(known)")
      }
    }
    func color(_ key: String) throws(ThemeError) -> Color {
      guard let color = colors[key] else { throw ThemeError(line: 0, message: "\(key) is missing") }
      return color
    }
    self.init(
      name: name, paper: try color("paper"), ink: try color("ink"), faintInk: try color("faint"),
      line: try color("line"), ghost: try color("ghost"), accent: try color("accent"), grain: numbers["grain"] ?? 0,
      falloff: numbers["falloff"] ?? 0)
  }

  /// The shipped themes from a folder; the light one needs no file.
  ///
  /// Invalid files are skipped and returned with their errors; a missing file is no error.
  package static func read(
    folder: String, services: PlatformServices
  ) -> (themes: [Theme], errors: [(path: String, error: ThemeError)]) {
    var themes: [Theme] = []
    var errors: [(path: String, error: ThemeError)] = []
    for name in shipped {
      let path = "\(folder)/\(name).theme"
      var theme = name == "light" ? Theme.light : nil
      if let bytes = services.readFile(path) {
        do throws(ThemeError) {
          guard bytes.count <= fileLimit, let text = String(validating: bytes, as: UTF8.self) else {
            throw ThemeError(line: 0, message: "not a theme file")
          }
          theme = try Theme(name: name, file: text)
        } catch {
          errors.append((path, error))
        }
      }
      if let theme { themes.append(theme) }
    }
    return (themes, errors)
  }
}
