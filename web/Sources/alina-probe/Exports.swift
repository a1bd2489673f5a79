import Probe
import ScoreFormats

nonisolated(unsafe) private var bytes: [UInt8] = []
nonisolated(unsafe) private var probe: Probe?

@_expose(wasm, "probe_buffer") @_cdecl("probe_buffer")
package func probeBuffer(_ count: Int32) -> UnsafeMutableRawPointer? {
  bytes = [UInt8](repeating: 0, count: Int(count))
  return bytes.withUnsafeMutableBytes { $0.baseAddress }
}

/// Reads the rules in the buffer, replaces them by a text with their errors, and returns the text's number of bytes: 0 without errors.
@_expose(wasm, "probe_rules") @_cdecl("probe_rules")
package func probeRules() -> Int32 {
  do throws(RuleErrors) {
    probe = try Probe(rules: bytes)
    bytes = []
  } catch { bytes = Array(error.description.utf8) }
  return Int32(bytes.count)
}

@_expose(wasm, "probe_answer") @_cdecl("probe_answer")
package func probeAnswer() -> Int32 {
  bytes = Array((probe?.answer(String(decoding: bytes, as: UTF8.self)) ?? "").utf8)
  return Int32(bytes.count)
}

@_expose(wasm, "probe_place") @_cdecl("probe_place")
package func probePlace() -> UnsafeMutableRawPointer? { bytes.withUnsafeMutableBytes { $0.baseAddress } }
