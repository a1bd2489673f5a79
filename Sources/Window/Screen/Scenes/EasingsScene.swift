import Interface

/// A gallery of easing curves, each of which moves a note head when played.
final class EasingsScene: PageScene {
  private let gallery: EasingsRow
  override var title: String { context.text(.easings) }
  override var columnWidth: Double { 48 }

  override init(context: ViewContext) {
    gallery = EasingsRow(context: context)
    super.init(context: context)
    column.set([gallery])
    setFoot([(.play, .playAll), (.back, .back)])
  }

  override func receive(_ intent: Intent) -> Bool {
    guard intent == .playAll else { return false }
    gallery.play()
    return true
  }
}

/// A diagram for each of the named curves.
final class EasingsRow: PageRow {
  private lazy var shown = Easing.named.map { _ in motion(0) }

  func play() {
    for (motion, easing) in zip(shown, Easing.named.map({ $0.easing })) {
      context.animator.set(motion, to: 0)
      context.animator.play(
        .sequence([
          .tween(motion, to: 1, seconds: 1.6, easing), .pause(seconds: 0.6),
          .tween(motion, to: 0, seconds: 0.5, .sineInOut),
        ]))
    }
  }

  private var columns: Int { max(2, min(6, Int(frame.width / (em * 6.8)))) }

  override func arrange(x: Double, y: Double, width: Double) -> Double {
    frame = Rect(x, y, width, 0)
    let rows = (Easing.named.count + columns - 1) / columns
    let height = Double(rows) * em * 5
    frame = Rect(x, y, width, height)
    return height
  }

  override func draw(_ canvas: Canvas) {
    let width = frame.width / Double(columns)
    for (index, (name, easing)) in Easing.named.enumerated() {
      let cell = Rect(
        frame.x + Double(index % columns) * width, frame.y + Double(index / columns) * em * 5, width, em * 5)
      let box = Rect(cell.x + em * 0.6, cell.y + em * 0.9, width - em * 2.2, em * 2.2)
      canvas.fill(Rect(box.x, box.maxY, box.width, 1), theme.line)
      canvas.fill(Rect(box.x, box.y, 1, box.height), theme.line)
      let curve = (0...48).map { step in
        let t = Double(step) / 48
        return Point(box.x + t * box.width, box.maxY - easing(t, 1) * box.height)
      }
      canvas.stroke(Path(through: curve), width: max(1, em * 0.08), theme.ink)
      let head = Glyphs.blackHead.scaled(em * 0.36, em * 0.36)
      canvas.fill(
        head.moved(box.maxX + em * 0.7, box.maxY - shown[index].value * box.height), theme.accent)
      canvas.text(
        name, TextStyle(em * 0.85, italic: true), context.typeface, x: box.x, baseline: box.maxY + em * 0.95,
        theme.faintInk)
    }
  }
}
