import TicTacToe

/// The icon of the game, drawn with the board's strokes: a sheet of paper, an O, an X and a note between them.
package enum Icon {
  package static func draw(size: Int) -> PixelBuffer {
    precondition(size >= 16, "an icon of \(size) pixels")
    let buffer = PixelBuffer(width: size, height: size)
    let theme = Theme.light
    // In small icons grain would look like dirt.
    Paper(color: theme.paper, grain: size >= 128 ? 0.5 : 0, falloff: 14).fill(buffer.bitmap)
    let canvas = Canvas(buffer.bitmap)
    let s = Double(size)
    let width = max(1, s * 0.012)
    if size >= 32 {
      for line in 0..<5 {
        let y = (s * (0.30 + 0.1 * Double(line))).rounded()
        canvas.fill(Rect(0, y, s, width.rounded()), theme.line.faded(0.55))
      }
    }
    let heavy = size < 48 ? 1.25 : 1.0
    canvas.ink(.o(seed: 2), size: s * 0.86 * heavy, center: Point(s * 0.33, s * 0.40), theme.ink)
    canvas.ink(.x(seed: 1), size: s * 0.80 * heavy, center: Point(s * 0.68, s * 0.62), theme.accent)
    canvas.flush()
    return buffer
  }

  package static func png(size: Int) -> [UInt8] { draw(size: size).png() }
}
