import Foundation
import Fuzz
import TestSupport
import Testing

@Suite struct FuzzCorpusTests {
  @Test func `every input of the fuzzer's corpus passes the fuzzer's checks`() throws {
    let corpus = repository.appending(path: "Tests/Network/Fuzz/Corpus")
    let inputs = try FileManager.default.contentsOfDirectory(at: corpus, includingPropertiesForKeys: nil)
    #expect(inputs.count > 300)
    for input in inputs {
      try Data(contentsOf: input).withUnsafeBytes { raw in
        #expect(fuzz(raw.bindMemory(to: UInt8.self).baseAddress, raw.count) == 0, "\(input.lastPathComponent)")
      }
    }
  }
}
