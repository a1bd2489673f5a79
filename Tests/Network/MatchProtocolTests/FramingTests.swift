import Base
import MatchProtocol
import Testing
import TicTacToe

/// `nil` is a line that was too long. `pieces` returns the size of the piece that begins at a given byte.
private func frame(_ stream: [UInt8], limit: Int, pieces: (Int) -> Int) -> [[UInt8]?] {
  var framer = LineFramer(limit: limit)
  var lines: [[UInt8]?] = []
  var at = 0
  while at < stream.count {
    let next = min(stream.count, at + max(1, pieces(at)))
    Array(stream[at..<next]).withUnsafeBytes { raw in
      framer.feed(raw) { piece in
        switch piece {
        case .line(let line): lines.append(Array(line))
        case .tooLong: lines.append(nil)
        }
        return true
      }
    }
    #expect(framer.held <= limit + 1)
    at = next
  }
  return lines
}

@Suite struct FramingTests {
  @Test func `lines are the same for any segmentation of the bytes`() {
    var random = SplitMix64(seed: 3)
    for _ in 0..<300 {
      var stream: [UInt8] = []
      var expected: [[UInt8]?] = []
      for _ in 0..<8 {
        let line = (0..<random.below(40)).map { _ in UInt8(0x20 + random.below(90)) }
        stream += line + (random.below(2) == 0 ? [0x0D, 0x0A] : [0x0A])
        if line.count > 24 { expected.append(nil) } else if !line.isEmpty { expected.append(line) }
      }
      #expect(frame(stream, limit: 24) { _ in 1 } == expected, "one byte at a time")
      #expect(frame(stream, limit: 24) { _ in 10_000 } == expected, "all at once")
      #expect(frame(stream, limit: 24) { _ in 1 + random.below(17) } == expected, "in random pieces")
    }
  }

  @Test func `a line of exactly the limit passes with either line end, a longer one does not`() {
    for end in [[UInt8(0x0A)], [0x0D, 0x0A]] {
      for step in [1, 7, 9999] {
        #expect(
          frame([UInt8](repeating: 65, count: 100) + end, limit: 100) { _ in step } == [
            [UInt8](repeating: 65, count: 100)
          ])
        #expect(frame([UInt8](repeating: 65, count: 101) + end, limit: 100) { _ in step } == [nil])
      }
    }
  }

  @Test func `an endless line is reported once and costs no memory`() {
    var framer = LineFramer(limit: 64)
    var reports = 0
    for _ in 0..<1000 {
      [UInt8](repeating: 65, count: 1000).withUnsafeBytes { raw in
        framer.feed(raw) { _ in
          reports += 1
          return true
        }
      }
    }
    #expect(reports == 1)
    #expect(framer.held == 0)
  }
}
