import TicTacToe

/// Draws pictures that show only a board, for the command `alina-score boards`.
package struct BoardPicture {
  private let buffer: PixelBuffer

  /// `side`: width and height in pixels.
  package init(side: Int) { buffer = PixelBuffer(width: side, height: side) }

  /// Red, green and blue of each pixel, row by row from the top. The same board gives the same bytes.
  package func rgb(of board: BoardFacts) -> [UInt8] {
    let (bitmap, theme) = (buffer.bitmap, Theme.light)
    theme.sheet.fill(bitmap)
    let canvas = Canvas(bitmap)
    let (side, margin) = (Double(bitmap.width), Double(bitmap.width) / 20)
    canvas.miniBoard(board, in: Rect(margin, margin, side - 2 * margin, side - 2 * margin), theme)
    canvas.flush()
    return withExtendedLifetime(buffer) {
      [UInt8](unsafeUninitializedCapacity: 3 * bitmap.width * bitmap.height) { bytes, count in
        for y in 0..<bitmap.height {
          for x in 0..<bitmap.width {
            let pixel = bitmap.pixels[y * bitmap.stride + x]
            for shift: UInt32 in [16, 8, 0] {
              bytes[count] = UInt8(truncatingIfNeeded: pixel >> shift)
              count += 1
            }
          }
        }
      }
    }
  }
}
