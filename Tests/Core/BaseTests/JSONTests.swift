import Base
import Foundation
import Testing

@Suite struct JSONTests {
  @Test(arguments: [2, 16, 17, 18, 600]) func `a duplicate name is refused, whether an object has few or many names`(
    count: Int
  ) {
    let fields = (1..<count).map { #""f\#($0)":\#($0)"# }
    for again in [1, count / 2, count - 1] where again > 0 {
      #expect(throws: JSONError.self) {
        try JSONParser.parse(Array("{\((fields + [fields[again - 1]]).joined(separator: ","))}".utf8), maxDepth: 4)
      }
    }
    #expect(throws: Never.self) { try JSONParser.parse(Array("{\(fields.joined(separator: ","))}".utf8), maxDepth: 4) }
  }

  /// `nil` if Foundation refuses the bytes.
  private func foundation(_ bytes: [UInt8]) -> Any? {
    try? JSONSerialization.jsonObject(with: Data(bytes), options: [.fragmentsAllowed])
  }

  private func same(_ ours: JSON, _ theirs: Any) -> Bool {
    switch ours {
    case .null: return theirs is NSNull
    case .bool(let value): return (theirs as? NSNumber)?.boolValue == value
    case .int(let value): return (theirs as? NSNumber)?.int64Value == value
    case .double(let value):
      guard let other = (theirs as? NSNumber)?.doubleValue else { return false }
      return abs(other - value) <= abs(value) * 1e-15
    case .string(let value): return theirs as? String == value
    case .array(let values):
      guard let other = theirs as? [Any], other.count == values.count else { return false }
      return zip(values, other).allSatisfy { same($0, $1) }
    case .object(let object):
      guard let other = theirs as? [String: Any], other.count == object.fields.count else { return false }
      return object.fields.allSatisfy { field in other[field.name].map { same(field.value, $0) } ?? false }
    }
  }

  private func randomText(_ random: inout SplitMix64) -> String {
    let alphabet = Array("abc019 _-\"\\/\n\t\u{1}éß→😀{}[]:,")
    return String((0..<random.below(12)).map { _ in alphabet[random.below(alphabet.count)] })
  }

  private func randomValue(_ random: inout SplitMix64, depth: Int) -> JSON {
    switch random.below(depth > 0 ? 8 : 6) {
    case 0: .null
    case 1: .bool(random.below(2) == 0)
    case 2: .int(Int64(random.below(2001)) - 1000)
    case 3: .int(Int64(bitPattern: random.next()) >> 11)
    case 4: .double((Double(random.below(2_000_001)) - 1_000_000) / 1024)
    case 5: .string(randomText(&random))
    case 6: .array((0..<random.below(4)).map { _ in randomValue(&random, depth: depth - 1) })
    default: .object(randomObject(&random, depth: depth - 1))
    }
  }

  private func randomObject(_ random: inout SplitMix64, depth: Int) -> JSONObject {
    var object = JSONObject()
    for i in 0..<random.below(6) {
      object.add("\(randomText(&random))\(i)", randomValue(&random, depth: depth))
    }
    return object
  }

  @Test func `values we write are read back by us and by Foundation`() throws {
    var random = SplitMix64(seed: 1)
    for _ in 0..<2000 {
      let value = JSON.object(randomObject(&random, depth: 2))
      var bytes: [UInt8] = []
      JSONWriter.append(value, to: &bytes)
      #expect(try JSONParser.parse(bytes, maxDepth: 4) == value)
      let theirs = try #require(foundation(bytes), "Foundation refuses \(String(decoding: bytes, as: UTF8.self))")
      #expect(same(value, theirs), "\(String(decoding: bytes, as: UTF8.self))")
    }
  }

  @Test func `mutated lines are accepted only if Foundation accepts them with the same meaning`() throws {
    var random = SplitMix64(seed: 2)
    let noise = Array(#"{}[]":,\u0019-+.eEtfn "#.utf8) + [0x00, 0x0A, 0x7F, 0x80, 0xC3, 0xED, 0xF4, 0xFF]
    var accepted = 0
    var refusedByUsOnly = 0
    for _ in 0..<6000 {
      var bytes: [UInt8] = []
      JSONWriter.append(.object(randomObject(&random, depth: 2)), to: &bytes)
      for _ in 0...random.below(3) {
        let at = random.below(bytes.count + 1)
        switch random.below(3) {
        case 0 where at < bytes.count: bytes.remove(at: at)
        case 1 where at < bytes.count: bytes[at] = noise[random.below(noise.count)]
        default: bytes.insert(noise[random.below(noise.count)], at: at)
        }
        if bytes.isEmpty { bytes = [0x7B] }
      }
      let theirs = foundation(bytes)
      guard let ours = try? JSONParser.parse(bytes, maxDepth: 4) else {
        if theirs != nil { refusedByUsOnly += 1 }
        continue
      }
      accepted += 1
      let text = String(decoding: bytes, as: UTF8.self)
      #expect(theirs != nil, "only we accept \(text)")
      if let theirs { #expect(same(ours, theirs), "\(text)") }
    }
    #expect(accepted > 500, "\(accepted) \(refusedByUsOnly)")
    // Foundation accepts duplicate names, deep nesting and extensions of JSON.
    #expect(refusedByUsOnly < 300, "\(refusedByUsOnly)")
  }

  @Test(arguments: [
    (#"{"a":1,"a":2}"#, JSONError.Reason.duplicate), (#"{"a":[[[[1]]]]}"#, .tooDeep), (#"{"a":01}"#, .badNumber),
    (#"{"a":1e999}"#, .badNumber), (#"{"a":"\ud800"}"#, .badString), (#"{"a":"\x"}"#, .badString),
    (#"{"a":1} x"#, .trailing), (#"{"a":"#, .truncated), (#"{"a":tru}"#, .unexpected),
    ("{\"a\":\"\u{1}\"}", .badString),
    (#"{'a':1}"#, .unexpected), (#"{"a":.5}"#, .unexpected), ("", .truncated), (#"{"a":-}"#, .badNumber),
  ]) func `an invalid text is refused with the reason`(text: String, reason: JSONError.Reason) {
    #expect { try JSONParser.parse(Array(text.utf8), maxDepth: 4) } throws: { ($0 as? JSONError)?.reason == reason }
  }

  @Test func `integers keep all 64 bits and larger ones become numbers`() throws {
    let text = "[\(Int64.min),\(Int64.max),9223372036854775808]"
    #expect(
      try JSONParser.parse(Array(text.utf8), maxDepth: 4)
        == .array([.int(Int64.min), .int(Int64.max), .double(9_223_372_036_854_775_808)]))
  }
}
