import Interface
import TicTacToe

/// The status of the game, like a tempo marking: whose turn it is, or the result.
final class StatusView: View {
  private var main = ""
  private var detail = ""
  private var isLarge = false
  private var old = (main: "", detail: "", isLarge: false)
  private lazy var change = motion(1)
  /// Left of the board with `detail` above `main`, instead of below the board in one line.
  var isBeside = false

  override var inkBounds: Rect { frame.insetBy(-6, -2) }
  override var accessibilityText: String? { detail.isEmpty ? main : "\(main), \(detail)" }

  func show(_ text: (main: String, detail: String, isLarge: Bool), animated: Bool) {
    guard text.main != main || text.detail != detail else { return }
    old = (main, detail, isLarge)
    (main, detail, isLarge) = text
    context.animator.set(change, to: animated ? 0 : 1)
    if animated { context.animator.move(change, to: 1, seconds: 0.32, .sineInOut) }
    setNeedsDisplay()
  }

  override func draw(_ canvas: Canvas) {
    if change.value < 1 { line(old, opacity: max(0, 1 - 2 * change.value), canvas) }
    line((main, detail, isLarge), opacity: change.value < 1 ? max(0, 2 * change.value - 1) : 1, canvas)
  }

  private func line(_ text: (main: String, detail: String, isLarge: Bool), opacity: Double, _ canvas: Canvas) {
    let (main, detail, isLarge) = text
    guard opacity > 0, !main.isEmpty else { return }
    func fitted(_ text: String, _ size: Double, italic: Bool, room: Double) -> Typeface.Block {
      let block = context.typeface.block(text, TextStyle(size, italic: italic))
      guard block.width > room else { return block }
      return context.typeface.block(text, TextStyle(size * max(0.45, room / block.width), italic: italic))
    }
    if isBeside {
      let block = fitted(main, em * (isLarge ? 2.1 : 1.6), italic: false, room: frame.width)
      let baseline = frame.maxY - em * 0.7
      canvas.draw(block, at: Point(frame.x, baseline - block.baseline), theme.ink.faded(opacity))
      if !detail.isEmpty {
        let second = fitted(detail, em * 1.05, italic: true, room: frame.width)
        canvas.draw(
          second, at: Point(frame.x, baseline - em * (isLarge ? 2.1 : 1.75) - second.baseline),
          theme.faintInk.faded(opacity))
      }
      return
    }
    let gap = em * 0.7
    var size = em * (isLarge ? 1.9 : 1.5)
    var block = context.typeface.block(main, TextStyle(size))
    var second = context.typeface.block(detail, TextStyle(em * 1.05, italic: true))
    var width = block.width + (detail.isEmpty ? 0 : gap + second.width)
    if width > frame.width {
      let k = max(0.45, frame.width / width)
      size *= k
      block = context.typeface.block(main, TextStyle(size))
      second = context.typeface.block(detail, TextStyle(em * 1.05 * k, italic: true))
      width = block.width + (detail.isEmpty ? 0 : gap * k + second.width)
    }
    let x = frame.midX - width / 2
    let baseline = frame.midY + size * 0.3
    canvas.draw(block, at: Point(x, baseline - block.baseline), theme.ink.faded(opacity))
    if !detail.isEmpty {
      canvas.draw(
        second, at: Point(x + width - second.width, baseline - second.baseline), theme.faintInk.faded(opacity))
    }
  }
}

/// A message over the open page, which disappears after some seconds or when the page changes.
final class NoticeView: View {
  private(set) var message: Message?
  /// The end of the message in seconds of the platform's clock; `nil` until a frame shows the message.
  private var until: Double?
  private var text = ""
  private lazy var presence = motion(0)

  /// Redraws the message's area, even if the message has just disappeared and `inkBounds` is empty.
  override func moved() { context.damage(shadowed) }

  override var inkBounds: Rect { presence.value > 0 ? shadowed : .zero }

  private var shadowed: Rect { slipFrame.insetBy(-NoticeView.reach, -NoticeView.reach) }

  /// Seconds for which a message is shown, and seconds for which the message fades in and out.
  private static let (stay, fade) = (6.0, 0.3)

  /// Shows a message from the next frame on; `nil` removes the shown message.
  func show(_ message: Message?) {
    (self.message, until) = (message, nil)
    guard message == nil, presence.value > 0 else { return }
    context.animator.play(.tween(presence, to: 0, seconds: NoticeView.fade, .sineInOut))
  }

  func update() {
    if let until {
      if context.now >= until { (message, self.until) = (nil, nil) }
    } else if let message {
      until = context.now + NoticeView.stay
      context.announce(message.text(in: context.language))
      if presence.value > 0 { setNeedsDisplay() }
      retranslate()
      context.animator.play(
        .sequence([
          .tween(presence, to: 1, seconds: NoticeView.fade, .cubicOut),
          .pause(seconds: NoticeView.stay - NoticeView.fade),
          .tween(presence, to: 0, seconds: NoticeView.fade, .sineInOut),
        ]))
    }
  }

  /// The reader's language may have changed.
  func retranslate() {
    if let message { text = message.text(in: context.language) }
    setNeedsDisplay()
  }

  /// Keeps a message that no frame has shown yet.
  func pageChanged() {
    guard until != nil || message == nil else { return }
    (message, until) = (nil, nil)
    context.animator.set(presence, to: 0)
  }

  override func draw(_ canvas: Canvas) {
    guard presence.value > 0 else { return }
    let slip = slipFrame
    canvas.shadow(
      under: slip.movedBy(0, em * 0.25), radius: min(NoticeView.reach - 4, em * 0.9), strength: 0.22 * presence.value)
    canvas.fill(slip, theme.paper.faded(presence.value))
    let edge = theme.line.faded(presence.value * 0.5)
    for y in [slip.y, slip.maxY - 1] { canvas.fill(Rect(slip.x, y, slip.width, 1), edge) }
    for x in [slip.x, slip.maxX - 1] { canvas.fill(Rect(x, slip.y, 1, slip.height), edge) }
    canvas.draw(block, at: Point(slip.x + em, slip.y + em * 0.6), theme.ink.faded(presence.value))
  }

  /// In pixels: the shadow must fit into the invisible margin of the bitmap.
  private static let reach = Double(Bitmap.standardApron)

  private var block: Typeface.Block {
    let style = TextStyle(em, italic: true)
    let width = min(context.typeface.block(text, style).width + 4, room - 2 * em)
    return context.typeface.block(text, style, width: max(em, width), alignment: .center)
  }

  private var place: NoticePlace? { (parent as? Scene)?.noticePlace }

  private var room: Double { place?.width ?? context.metrics.bounds.width - 2 * context.metrics.margin }

  /// Centred in the first band of `NoticePlace.free` that is high enough, else above `NoticePlace.bottom`.
  var slipFrame: Rect {
    let m = context.metrics
    let single = context.typeface.block(text, TextStyle(em, italic: true)).width + 4
    let width = (min(single, room - 2 * em) + 2 * em).rounded()
    let height = (block.height + em * 1.2).rounded()
    let band = place?.free.first { $0.upperBound - $0.lowerBound >= height }
    let bottom = band.map { ($0.lowerBound + $0.upperBound + height) / 2 } ?? place?.bottom
    let top = bottom.map { max(0, $0 - height) } ?? m.margin * 0.4
    return Rect(((place?.midX ?? m.bounds.midX) - width / 2).rounded(), top.rounded(.down), width, height)
  }
}

final class PlayersView: View {
  private var lines: [String] = []
  private var times: [String] = []
  private var isLow = [false, false]
  /// The index of the player to move: 0 for X, 1 for O.
  private var active: Int?
  var isRight = false

  func showModel() {
    let model = context.model
    var names = [model.setup.x, model.setup.o].map { seat in
      // A new player does not know how strong a named opponent is, so show the number of the level.
      if case .level(let n) = seat, !context.pages.levels.isEmpty {
        return "\(context.name(of: seat)) (\(context.text(.level)) \(n))"
      }
      return context.name(of: seat)
    }
    if let score = model.score { names = zip(names, [score.x, score.o]).map { "\($0)  \($1)" } }
    let next = model.isFree ? [] : ["X  \(names[0])", "O  \(names[1])"]
    let clocks = model.clocks.map { [$0.x, $0.o] } ?? []
    let nextTimes = clocks.map(PlayersView.format)
    let nextActive = model.game.isOver ? nil : model.game.turn == .x ? 0 : 1
    guard next != lines || nextTimes != times || nextActive != active else { return }
    active = nextActive
    lines = next
    times = nextTimes
    isLow = clocks.map { $0 < 10_000 }
    setNeedsDisplay()
  }

  override var accessibilityText: String? { lines.joined(separator: ", ") }

  /// Minutes and seconds; below ten seconds with tenths.
  static func format(_ milliseconds: Int) -> String {
    let ms = max(0, milliseconds)
    return ms < 10_000 ? "0:0\(ms / 1000).\(ms / 100 % 10)" : minutes(ms / 1000)
  }

  static func minutes(_ seconds: Int) -> String { "\(seconds / 60):\(seconds % 60 < 10 ? "0" : "")\(seconds % 60)" }

  override func draw(_ canvas: Canvas) {
    guard lines.count == 2 else { return }
    let style = TextStyle(em, italic: true)
    let clock = TextStyle(em * 1.1)
    func write(_ block: Typeface.Block, x: Double, baseline: Double, isActive: Bool) {
      canvas.draw(block, at: Point(x, baseline - block.baseline), isActive ? theme.ink : theme.faintInk)
      guard isActive else { return }
      canvas.underline(from: Point(x, baseline + em * 0.28), width: block.width, thickness: em * 0.07, theme.ink)
    }
    if isRight {
      for i in 0..<2 {
        let baseline = frame.y + em * (1.1 + 1.5 * Double(i))
        var right = frame.maxX
        if times.indices.contains(i) {
          canvas.text(
            times[i], clock, context.typeface, x: right, baseline: baseline, alignment: .right,
            isLow[i] ? theme.accent : i == active ? theme.ink : theme.faintInk)
          right -= em * 3.4
        }
        let block = context.typeface.block(lines[i], style)
        write(block, x: right - block.width, baseline: baseline, isActive: i == active)
      }
      return
    }
    var parts = (0..<2).map { lines[$0] + (times.indices.contains($0) ? "  \(times[$0])" : "") }
    parts.insert("   ·   ", at: 1)
    let width = context.typeface.block(parts.joined(), style).width
    let fitting =
      width > frame.width ? TextStyle(em * max(0.6, frame.width / width), italic: true) : style
    let blocks = parts.map { context.typeface.block($0, fitting) }
    var x = frame.midX - blocks.reduce(0) { $0 + $1.width } / 2
    for (index, block) in blocks.enumerated() {
      write(block, x: x, baseline: frame.midY + em * 0.3, isActive: index == active.map { 2 * $0 })
      x += block.width
    }
  }
}
