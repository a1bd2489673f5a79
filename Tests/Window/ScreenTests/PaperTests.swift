import Testing

@testable import Screen

@Suite("Paper and shadow")
struct PaperTests {
  private func channel(_ pixel: UInt32) -> Int { Int(pixel >> 8 & 255) }

  @Test("the paper has its colour on average, darker corners, and no banding")
  func paper() {
    let buffer = PixelBuffer(width: 400, height: 300)
    let theme = Theme.light
    theme.sheet.fill(buffer.bitmap)
    func mean(_ x: Int, _ y: Int) -> Double {
      var sum = 0
      for j in 0..<16 {
        for i in 0..<16 { sum += channel(buffer.bitmap.pixels[(y + j) * buffer.bitmap.stride + x + i]) }
      }
      return Double(sum) / 256
    }
    let paper = theme.paper.green * 255
    #expect(abs(mean(192, 142) - paper) < 1)
    // The corners are `theme.falloff` levels (of 256) darker than the middle.
    #expect(abs(mean(0, 0) - (paper - theme.falloff)) < 2)
    #expect(abs(mean(384, 284) - (paper - theme.falloff)) < 2)
    // Dithering leaves no run of 40 equal pixels.
    var run = 0
    var longest = 0
    for x in 1..<400 {
      let row = 40 * buffer.bitmap.stride
      run = buffer.bitmap.pixels[row + x] == buffer.bitmap.pixels[row + x - 1] ? run + 1 : 0
      longest = max(longest, run)
    }
    #expect(longest < 40)
    withExtendedLifetime(buffer) {}
  }

  @Test("the area around the page is paper, so that a lowered page shows no edge")
  func apron() {
    let buffer = PixelBuffer(width: 64, height: 48)
    Theme.light.sheet.fill(buffer.bitmap)
    let above = buffer.bitmap.pixels[-2 * buffer.bitmap.stride + 10]
    #expect(channel(above) > 200)
    withExtendedLifetime(buffer) {}
  }

  @Test("a shadow is darkest at its edge, fades out within its radius, and stays below its limit")
  func shadow() {
    let buffer = PixelBuffer(width: 200, height: 200)
    Paper(color: Color(hex: 0xFFFFFF), grain: 0, falloff: 0).fill(buffer.bitmap)
    let whole = PixelRect(x: 0, y: 0, width: 200, height: 100)
    SoftShadow.cast(Rect(60, 60, 80, 80), radius: 20, strength: 0.4, within: whole, into: buffer.bitmap)
    func at(_ x: Int, _ y: Int) -> Int { channel(buffer.bitmap.pixels[y * buffer.bitmap.stride + x]) }
    #expect(abs(at(99, 90) - 153) <= 2)
    #expect(at(99, 58) < 230 && at(99, 58) > at(99, 62))
    #expect(at(99, 38) == 255)
    #expect(at(99, 110) == 255, "below the limit nothing may change")
    withExtendedLifetime(buffer) {}
  }

  @Test("the icon is drawn at every size, and a PNG reads back the same")
  func icon() throws {
    for size in [16, 32, 48, 256] {
      let file = Icon.png(size: size)
      let back = try #require(PixelBuffer(png: file))
      #expect(back.bitmap.width == size)
      #expect(back.png() == file)
    }
    #expect(PixelBuffer(png: [1, 2, 3]) == nil)
    #expect(PixelBuffer(png: Array(Icon.png(size: 64).prefix(200))) == nil)
  }
}
