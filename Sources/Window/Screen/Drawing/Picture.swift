/// Renders a page: redraws changed areas over the static layer, a cached picture of the parts that depend only on the layout.
struct Picture {
  private var backdrop: PixelBuffer?
  /// The picture of the page that is fading out.
  private var leaving: PixelBuffer?
  private var turnIsPending = false
  private var wasTurning = false
  private let transition = Motion(1)
  private var drawnSunk = 0

  /// The length of a page transition in seconds.
  static let turnTime = 0.24

  /// Starts a page transition: the old page in the bitmap fades into the new page.
  mutating func turn(_ animator: Animator) {
    guard backdrop != nil, !animator.isReduced else { return }
    turnIsPending = true
    animator.set(transition, to: 0)
    animator.move(transition, to: 1, seconds: Picture.turnTime, .sineInOut)
  }

  mutating func draw(_ scene: Scene, of context: ViewContext, into bitmap: Surface, isNew: Bool) -> [PixelRect] {
    var whole = isNew
    if backdrop?.bitmap.width != bitmap.width || backdrop?.bitmap.height != bitmap.height {
      backdrop = PixelBuffer(width: bitmap.width, height: bitmap.height)
      leaving = nil
      turnIsPending = false
      context.staticIsStale = true
    }
    guard let backdrop else { return [] }
    let all = PixelRect(x: 0, y: 0, width: bitmap.width, height: bitmap.height)
    if turnIsPending {
      turnIsPending = false
      if !isNew {
        let old = leaving ?? PixelBuffer(width: bitmap.width, height: bitmap.height)
        old.bitmap.copy(all, from: bitmap)
        leaving = old
      }
    }
    let isTurning = leaving != nil && transition.value < 1
    if isTurning || wasTurning { whole = true }
    wasTurning = isTurning
    if !isTurning { leaving = nil }
    let sunk = Int(context.winBounce.value.rounded())
    if sunk != drawnSunk {
      drawnSunk = sunk
      whole = true
    }
    if context.staticIsStale {
      context.staticIsStale = false
      context.theme.sheet.fill(backdrop.bitmap)
      let canvas = Canvas(backdrop.bitmap)
      scene.visit { $0.drawStatic(canvas) }
      whole = true
    }
    let damage = context.takeDamage()
    let rects = whole ? [all] : Picture.merged(damage, bitmap)
    guard !rects.isEmpty else { return [] }
    let canvas = Canvas(bitmap)
    for rect in rects {
      bitmap.copy(rect, from: backdrop.bitmap, yOffset: sunk)
      let area = rect.rect
      canvas.damage = rect
      canvas.saved {
        canvas.clip(area)
        canvas.translate(0, Double(sunk))
        // The page is shifted down by `sunk` pixels, so the `sunk` rows above the area move into the area: draw them, too.
        scene.render(canvas, in: sunk == 0 ? area : area.insetBy(0, -Double(sunk)))
      }
    }
    canvas.flush()
    if isTurning, let leaving { bitmap.blend(leaving.bitmap, share: 1 - transition.value) }
    return rects
  }

  /// Joins overlapping rectangles, so that nothing is drawn twice.
  private static func merged(_ damage: [Rect], _ bitmap: Surface) -> [PixelRect] {
    var result: [Rect] = []
    for rect in damage {
      var next = rect.pixels(width: bitmap.width, height: bitmap.height).rect
      guard !next.isEmpty else { continue }
      while let index = result.firstIndex(where: { $0.intersects(next) }) {
        next = next.union(result.remove(at: index))
      }
      result.append(next)
    }
    return result.map { $0.pixels(width: bitmap.width, height: bitmap.height) }
  }
}
