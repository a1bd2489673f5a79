import Base

/// The settings file: one `key = value` per line. Comments and unknown keys are kept. A file that is not text is copied to
/// `settings.broken`; an invalid value leaves the default. Both are reported as `troubles`.
package final class SettingsStore {
  package static let fileName = "settings"
  /// In bytes; many times the size of a file with all settings.
  package static let sizeLimit = 65_536

  package enum Trouble: Hashable {
    case setAside(path: String, aside: String)
    /// The number (from 1) of a line that is not a setting or has an invalid value.
    case line(Int)
  }

  private enum Line: Equatable {
    case verbatim(String)
    case value(key: String, text: String)
  }

  private let services: PlatformServices
  private let path: String
  /// `false` on a platform without a settings folder.
  private let isPersistent: Bool
  private var lines: [Line] = []
  private var observers: [String: [() -> Void]] = [:]
  private var isForThisRun = false
  /// The keys set since the file was last written.
  private var changed: Set<String> = []
  /// The file was not text and must be rewritten completely.
  private var isBroken = false
  private var isDirty: Bool { isBroken || !changed.isEmpty }
  /// From the command line and the system's preferences: valid in this run until the player sets the key.
  private var overrides: [String: String] = [:]
  package private(set) var troubles: [Trouble] = []

  package init(services: PlatformServices) {
    self.services = services
    let folder = services.configFolder()
    isPersistent = !folder.isEmpty
    path = folder + "/" + SettingsStore.fileName
    guard !folder.isEmpty, let bytes = services.files.read(path) else {
      lines = SettingsStore.header
      return
    }
    if let text = SettingsStore.text(bytes) {
      (lines, troubles) = SettingsStore.parse(text)
    } else {
      let aside = path + ".broken"
      try? services.files.write(aside, bytes)
      troubles = [.setAside(path: path, aside: aside)]
      lines = SettingsStore.header
      isBroken = true
    }
  }

  private static let header: [Line] = [.verbatim("# Settings of Alina. One \"key = value\" a line; edit freely.")]

  private static func text(_ bytes: [UInt8]) -> String? {
    guard bytes.count <= SettingsStore.sizeLimit, !bytes.contains(0) else { return nil }
    return String(validating: bytes, as: UTF8.self)
  }

  private static func parse(_ text: String) -> (lines: [Line], troubles: [Trouble]) {
    var (lines, troubles): ([Line], [Trouble]) = ([], [])
    // Split by scalars: the Character CRLF, or a separator with a combining mark, does not equal the separator.
    for (number, line) in text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      let trimmed = SettingsStore.trim(line)
      if let equals = trimmed.firstIndex(of: "="), trimmed.first != "#" {
        let key = SettingsStore.trim(trimmed[..<equals])
        if !key.isEmpty, Substring(key).allSatisfy({ $0.isLetter || $0.isNumber || $0 == "-" || $0 == "." }) {
          let value = SettingsStore.trim(trimmed[trimmed.index(after: equals)...])
          lines.append(.value(key: String(key), text: String(value)))
          continue
        }
      }
      lines.append(.verbatim(String(line)))
      if !trimmed.isEmpty, trimmed.first != "#" { troubles.append(.line(number + 1)) }
    }
    if lines.last == .verbatim("") { lines.removeLast() }
    return (lines, troubles)
  }

  private static func trim(_ text: Substring.UnicodeScalarView) -> Substring.UnicodeScalarView {
    var text = text
    while let c = text.first, c == " " || c == "\t" || c == "\r" { text.removeFirst() }
    while let c = text.last, c == " " || c == "\t" || c == "\r" { text.removeLast() }
    return text
  }

  /// `nil` if the value is missing or invalid.
  package func value<Value: SettingValue>(_ key: String, as type: Value.Type) -> Value? {
    if let value = overrides[key].flatMap({ Value(settingText: $0) }) { return value }
    for (number, line) in lines.enumerated() {
      guard case .value(key, let text) = line else { continue }
      if let value = Value(settingText: text) { return value }
      if !troubles.contains(.line(number + 1)) { troubles.append(.line(number + 1)) }
      return nil
    }
    return nil
  }

  func isSet(_ key: String) -> Bool {
    overrides[key] != nil || lines.contains { if case .value(key, _) = $0 { true } else { false } }
  }

  /// The values that `body` sets override the file in this run until their key is set again, and are never written.
  package func forThisRun(_ body: () -> Void) {
    isForThisRun = true
    body()
    isForThisRun = false
  }

  /// Notifies the key's observers if the value changed.
  func set<Value: SettingValue>(_ key: String, to value: Value) {
    let before: Value? = self.value(key, as: Value.self)
    defer { if before != value { for body in observers[key] ?? [] { body() } } }
    if isForThisRun {
      overrides[key] = value.settingText
      return
    }
    overrides[key] = nil
    if SettingsStore.put(key, value.settingText, into: &lines) { changed.insert(key) }
  }

  /// Returns whether the lines have changed.
  private static func put(_ key: String, _ text: String, into lines: inout [Line]) -> Bool {
    let line = Line.value(key: key, text: text)
    guard let index = lines.firstIndex(where: { if case .value(key, _) = $0 { true } else { false } }) else {
      lines.append(line)
      return true
    }
    defer { lines[index] = line }
    return lines[index] != line
  }

  /// The reason of the last failed write; `nil` after a success.
  package private(set) var fault: WriteFault?

  /// Always `false` on a platform without a settings folder.
  package var needsSaving: Bool { isDirty && isPersistent }

  /// Merges the changed keys into the file, which another window may have written. Returns whether everything is saved.
  @discardableResult
  package func save() -> Bool {
    guard isDirty else { return true }
    guard isPersistent else { return false }
    var kept = lines
    if !isBroken, let text = services.files.read(path).flatMap({ SettingsStore.text($0) }) {
      kept = SettingsStore.parse(text).lines
      for case .value(let key, let text) in lines where changed.contains(key) {
        _ = SettingsStore.put(key, text, into: &kept)
      }
    }
    do throws(WriteFault) { try services.files.write(path, Array(SettingsStore.fileText(kept).utf8)) } catch {
      fault = error
      return false
    }
    (changed, isBroken, fault) = ([], false, nil)
    return true
  }

  /// Another window may have written the file. Unsaved changes are kept.
  func readAgain(_ keys: Set<String>) {
    guard let text = services.files.read(path).flatMap({ SettingsStore.text($0) }) else { return }
    for case .value(let key, let text) in SettingsStore.parse(text).lines where keys.subtracting(changed).contains(key)
    {
      _ = SettingsStore.put(key, text, into: &lines)
    }
  }

  private static func fileText(_ lines: [Line]) -> String {
    lines.map { line in
      switch line {
      case .verbatim(let text): text
      case .value(let key, let text): "\(key) = \(text)"
      }
    }.joined(separator: "\n") + "\n"
  }

  func observe(_ key: String, _ body: @escaping () -> Void) { observers[key, default: []].append(body) }
}
