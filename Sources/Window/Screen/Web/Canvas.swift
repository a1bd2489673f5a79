/// Cairo's canvas functions for a browser: encodes paths, fills and clips as numbers for the web page's script.
final class Canvas {
  var damage: PixelRect

  init(_ surface: Surface) {
    damage = PixelRect(x: 0, y: 0, width: surface.width, height: surface.height)
    Commands.add(.target, id: surface.id)
  }

  func saved(_ body: () -> Void) {
    Commands.add(.save)
    body()
    Commands.add(.restore)
  }

  func flush() { Commands.flush() }

  func shadow(under rect: Rect, radius: Double, strength: Double) {
    Commands.add(.shadow, rect.x, rect.y, rect.width, rect.height, radius, strength)
  }

  func clip(_ rect: Rect) {
    let (left, top) = (rect.x.rounded(.down), rect.y.rounded(.down))
    Commands.add(.clip, left, top, max(0, rect.maxX.rounded(.up) - left), max(0, rect.maxY.rounded(.up) - top))
  }

  func translate(_ x: Double, _ y: Double) { Commands.add(.translate, x, y) }
  func setColor(_ color: Color) { Commands.add(.color, color.red, color.green, color.blue, color.alpha) }

  func fill(_ rect: Rect, _ color: Color) {
    setColor(color)
    Commands.add(.rectangle, rect.x, rect.y, rect.width, rect.height)
  }

  func fill(_ path: Path, _ color: Color) {
    setColor(color)
    add(path)
    Commands.add(.fill)
  }

  func stroke(_ path: Path, width: Double, _ color: Color, round: Bool = true) {
    setColor(color)
    add(path)
    Commands.add(.stroke, width, round ? 1 : 0)
  }

  private func add(_ path: Path) {
    Commands.add(.begin)
    for step in path.steps {
      switch step {
      case .move(let p): Commands.add(.move, p.x, p.y)
      case .line(let p): Commands.add(.line, p.x, p.y)
      case .curve(let a, let b, let p): Commands.add(.curve, a.x, a.y, b.x, b.y, p.x, p.y)
      case .close: Commands.add(.close)
      }
    }
  }
}
