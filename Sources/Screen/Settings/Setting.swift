/// A value that can be kept in the settings file as text.
public protocol SettingValue: Equatable, Sendable {
  /// The value as the file spells it.
  var settingText: String { get }
  /// Reads a spelling, or `nil` where it means nothing.
  init?(settingText: String)
  /// What may stand in the file, for messages.
  static var settingChoices: String { get }
}

extension Bool: SettingValue {
  /// `yes` or `no`.
  public var settingText: String { self ? "yes" : "no" }
  /// Reads `yes` or `no`.
  public init?(settingText: String) {
    guard settingText == "yes" || settingText == "no" else { return nil }
    self = settingText == "yes"
  }
  /// `yes or no`.
  public static var settingChoices: String { "yes or no" }
}

extension Double: SettingValue {
  /// The shortest decimal that reads back the same.
  public var settingText: String { description }
  /// Reads a finite decimal number.
  public init?(settingText: String) {
    guard let value = Double(settingText), value.isFinite else { return nil }
    self = value
  }
  /// `a number`.
  public static var settingChoices: String { "a number" }
}

extension Int: SettingValue {
  /// Decimal digits.
  public var settingText: String { description }
  /// Reads a decimal integer.
  public init?(settingText: String) { self.init(settingText) }
  /// `a whole number`.
  public static var settingChoices: String { "a whole number" }
}

extension String: SettingValue {
  /// The text itself; line ends become spaces, because a setting is one line.
  public var settingText: String { String(map { $0.isNewline ? " " : $0 }) }
  /// Takes any text.
  public init?(settingText: String) { self = settingText }
  /// `text`.
  public static var settingChoices: String { "text" }
}

extension SettingValue where Self: RawRepresentable, RawValue == String, Self: CaseIterable {
  /// The name of the case.
  public var settingText: String { rawValue }
  /// Reads the name of a case.
  public init?(settingText: String) { self.init(rawValue: settingText) }
  /// The names of the cases.
  public static var settingChoices: String { allCases.map(\.rawValue).joined(separator: ", ") }
}

/// What owns settings: a class with a store.
public protocol SettingsOwner: AnyObject {
  /// Where the values live.
  var store: SettingsStore { get }
}

/// A property of a `SettingsOwner` that persists itself: `@Setting("volume", in: 0...1) var volume = 0.8`.
///
/// Reading gives the stored value or the default; writing stores it, marks the file for saving and tells observers.
@propertyWrapper
public struct Setting<Value: SettingValue> {
  private let key: String
  private let fallback: Value
  private let limit: (@Sendable (Value) -> Value)?

  /// Makes a setting with a default and no bounds.
  public init(wrappedValue: Value, _ key: String) {
    self.key = key
    fallback = wrappedValue
    limit = nil
  }

  /// Makes a setting whose values are brought into a range.
  public init(wrappedValue: Value, _ key: String, in range: ClosedRange<Value>) where Value: Comparable {
    self.key = key
    fallback = wrappedValue
    limit = { min(max($0, range.lowerBound), range.upperBound) }
  }

  /// Not used: the value is read through its owner.
  @available(*, unavailable, message: "settings are properties of a class")
  public var wrappedValue: Value {
    get { fatalError() }
    set { fatalError() }
  }

  /// Reads and writes through the owner's store.
  public static subscript<Owner: SettingsOwner>(
    _enclosingInstance owner: Owner,
    wrapped wrappedKeyPath: ReferenceWritableKeyPath<Owner, Value>,
    storage storageKeyPath: ReferenceWritableKeyPath<Owner, Setting<Value>>
  ) -> Value {
    get {
      let setting = owner[keyPath: storageKeyPath]
      guard let value = owner.store.value(setting.key, as: Value.self) else { return setting.fallback }
      return setting.limit?(value) ?? value
    }
    set {
      let setting = owner[keyPath: storageKeyPath]
      let value = setting.limit?(newValue) ?? newValue
      owner.store.set(setting.key, to: value)
    }
  }

  /// Not used: what `$` gives is read through the owner.
  @available(*, unavailable, message: "settings are properties of a class")
  public var projectedValue: SettingChanges<Value> { fatalError() }

  /// The changes of the value, through the owner's store.
  public static subscript<Owner: SettingsOwner>(
    _enclosingInstance owner: Owner,
    projected projectedKeyPath: KeyPath<Owner, SettingChanges<Value>>,
    storage storageKeyPath: ReferenceWritableKeyPath<Owner, Setting<Value>>
  ) -> SettingChanges<Value> {
    let setting = owner[keyPath: storageKeyPath]
    let store = owner.store
    return SettingChanges(store: store, key: setting.key) {
      guard let value = store.value(setting.key, as: Value.self) else { return setting.fallback }
      return setting.limit?(value) ?? value
    }
  }
}

/// What `$volume` gives: whether a setting is set, and its changes.
public struct SettingChanges<Value> {
  fileprivate let store: SettingsStore
  fileprivate let key: String
  fileprivate let read: () -> Value

  /// Whether the file, or the command line, says anything of it.
  public var isSet: Bool { store.isSet(key) }

  /// Calls `body` with the value now and whenever it changes.
  public func observe(_ body: @escaping (Value) -> Void) {
    body(read())
    store.observe(key) { [read] in body(read()) }
  }
}
