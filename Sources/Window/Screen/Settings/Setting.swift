import Base

/// A value that the settings file can hold as text.
package protocol SettingValue: Equatable, Sendable {
  var settingText: String { get }
  /// `nil` if the text is invalid.
  init?(settingText: String)
}

extension Bool: SettingValue {
  package var settingText: String { self ? "yes" : "no" }
  package init?(settingText: String) {
    guard settingText == "yes" || settingText == "no" else { return nil }
    self = settingText == "yes"
  }
}

extension Double: SettingValue {
  /// The shortest decimal that is read back as the same number.
  package var settingText: String { description }
  package init?(settingText: String) {
    guard let value = Double(settingText), value.isFinite else { return nil }
    self = value
  }
}

extension Int: SettingValue {
  package var settingText: String { description }
  package init?(settingText: String) { self.init(settingText) }
}

extension String: SettingValue {
  /// Control characters become spaces: a setting is one line, and a file with a zero byte is not text.
  package var settingText: String {
    String(String.UnicodeScalarView(unicodeScalars.map { $0.isControl ? " " : $0 }))
  }
  package init?(settingText: String) { self = settingText }
}

extension SettingValue where Self: RawRepresentable, RawValue == String, Self: CaseIterable {
  package var settingText: String { rawValue }
  package init?(settingText: String) { self.init(rawValue: settingText) }
}

/// A property in the settings file. Writing schedules saving and notifies observers; the projected value (`$volume`) observes changes.
@propertyWrapper
package struct Setting<Value: SettingValue> {
  private let store: SettingsStore
  private let key: String
  private let fallback: Value
  private let limit: (Value) -> Value

  /// `limit` clamps the values.
  init(_ store: SettingsStore, _ key: String, _ fallback: Value, limit: @escaping (Value) -> Value = { $0 }) {
    (self.store, self.key, self.fallback, self.limit) = (store, key, fallback, limit)
  }

  init(_ store: SettingsStore, _ key: String, _ fallback: Value, in range: ClosedRange<Value>) where Value: Comparable {
    self.init(store, key, fallback) { $0.clamped(to: range) }
  }

  package var wrappedValue: Value {
    get { store.value(key, as: Value.self).map(limit) ?? fallback }
    nonmutating set { store.set(key, to: limit(newValue)) }
  }

  package var projectedValue: Setting<Value> { self }

  /// Whether the settings file, the command line or a preference of the system sets this setting.
  package var isSet: Bool { store.isSet(key) }

  /// Calls `body` with the value, now and after each change.
  package func observe(_ body: @escaping (Value) -> Void) {
    body(wrappedValue)
    // The store retains the closure, which must not retain the store.
    store.observe(key) { [unowned(unsafe) store, key, fallback, limit] in
      body(Setting(store, key, fallback, limit: limit).wrappedValue)
    }
  }
}
