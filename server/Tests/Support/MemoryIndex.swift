/// A set of values for each key; empty sets are removed.
struct MemoryIndex<Key: Hashable, Value: Hashable> {
  private(set) var sets: [Key: Set<Value>] = [:]

  subscript(_ key: Key) -> Set<Value> { sets[key] ?? [] }

  mutating func insert(_ value: Value, _ key: Key) { sets[key, default: []].insert(value) }

  mutating func remove(_ value: Value, _ key: Key) {
    sets[key]?.remove(value)
    if sets[key]?.isEmpty == true { sets[key] = nil }
  }
}
