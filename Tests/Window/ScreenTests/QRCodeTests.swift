import Foundation
import TestSupport
import Testing

@testable import Screen

@Suite("QR code")
struct QRCodeTests {
  @Test("an independent reader decodes every version", .needs("zbarimg"))
  func read() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "qr-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    var sizes: Set<Int> = []
    for length in [1, 14, 15, 26, 27, 42, 43, 62, 63, 84, 85, 106, 107, 154, 155, 192, 193, 230] {
      let text = String("https://alina.example/r/K7Q2XD?\(String(repeating: "aZ9-", count: 60))".prefix(length))
      let code = try #require(QRCode(text))
      sizes.insert(code.size)
      let side = 0..<(code.size + 8) * 3
      func isDark(_ x: Int, _ y: Int) -> Bool {
        let all = 0..<code.size
        return all.contains(x) && all.contains(y) && code.isDark(x, y)
      }
      let rows = side.map { y in side.map { x in isDark(x / 3 - 4, y / 3 - 4) ? "1" : "0" }.joined(separator: " ") }
      let picture = folder.appending(path: "\(length).pbm")
      try Data("P1\n\(side.count) \(side.count)\n\(rows.joined(separator: "\n"))\n".utf8).write(to: picture)
      let answer = try Child.run(["zbarimg", "--quiet", "--raw", picture.path])
      #expect(answer.out == text + "\n")
    }
    #expect(sizes == [21, 25, 29, 33, 37, 41, 45, 49, 53])
    #expect(QRCode(String(repeating: "x", count: 231)) == nil)
  }
}
