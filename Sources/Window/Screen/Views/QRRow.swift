/// A centred QR code, dark on light in every theme, as scanners require.
final class QRRow: PageRow {
  private let code: QRCode
  /// The maximum width of the code, in em.
  private let side: Double

  init(context: ViewContext, _ code: QRCode, side: Double = 12) {
    (self.code, self.side) = (code, side)
    super.init(context: context)
  }

  private var modules: Int { code.size + 2 * QRCode.quietZone }

  /// The width of a module (a square of the code) in whole pixels, so that the edges are sharp.
  private func module(_ width: Double) -> Double {
    max(2, (min(width, side * em) / Double(modules)).rounded(.down))
  }

  override func height(_ width: Double) -> Double { module(width) * Double(modules) }

  override func draw(_ canvas: Canvas) {
    let (module, theme) = (module(frame.width), Theme.light)
    let side = module * Double(modules)
    let (left, top) = ((frame.midX - side / 2).rounded(), frame.y.rounded())
    canvas.fill(Rect(left, top, side, side), theme.paper)
    func place(_ index: Int) -> Double { Double(index + QRCode.quietZone) * module }
    for y in 0..<code.size {
      for x in 0..<code.size where code.isDark(x, y) {
        canvas.fill(Rect(left + place(x), top + place(y), module, module), theme.ink)
      }
    }
  }
}
