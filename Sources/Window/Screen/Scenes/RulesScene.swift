import Interface
import TicTacToe

/// The rules of all games, beginning with the game on the board.
final class RulesScene: PageScene {
  override var title: String { context.text(.rules) }
  override var columnWidth: Double { 38 }
  override var initialFocus: View? { footerButtons.first }

  override init(context: ViewContext) {
    super.init(context: context)
    setFooter([(.back, .back)])
    fill()
  }

  /// The rules of the game on the board come first.
  override func modelChanged(from old: BoardModel) {
    guard context.model.setup.variant != old.setup.variant else { return }
    fill()
    relay()
  }

  private func fill() {
    footerButtons[0].title = context.text(context.model.mayChooseGame ? .start : .back)
    let first = context.model.setup.variant
    let order = [first] + Variant.allCases.filter { $0 != first }
    column.isCentered = false
    column.set(
      order.flatMap { variant -> [PageRow] in
        let head = TextRow(context: context, context.name(of: variant), faint: false, size: 1.5, gap: 0.4)
        head.keepsWithNext = true
        let pictures = RulesScene.pictures(of: variant)
        return [head, TextRow(context: context, context.text(variant.manner), italic: true, gap: 0.7)]
          + (pictures.isEmpty ? [] : [PicturesRow(context: context, pictures: pictures)])
      })
  }

  private static func pictures(of variant: Variant) -> [PicturesRow.Picture] {
    let texts: [(notation: String, last: String, phrase: Phrase)]
    switch variant {
    case .classic, .misere: return []
    case .infinite:
      texts = [
        ("b2c1/a3b3 x 4", "b3", .infiniteRule1), ("b2c1c3/a3b3a1 x 6", "a1", .infiniteRule2),
        ("c1c3c2/a3b3a1 o 7", "c2", .infiniteRule3),
      ]
    case .ultimate:
      texts = [
        ("9/9/9/5X3/9/9/9/9/9 o c3", "f6", .ultimateRule1),
        ("3X3X1/1O2O4/3O1X1X1/5X3/4X4/1X1X1O3/4XO1OO/O3O4/XO6X o c3", "f6", .ultimateRule2),
        ("1X1X1O1X1/1O2O2X1/3O1XOX1/5XO2/4X4/OX1X1O3/1XX1XO1OO/OXX1O4/XO1O3OX o -", "c3", .ultimateRule3),
      ]
    }
    return texts.compactMap { text in
      (try? VariantState(variant, notation: text.notation)).map {
        .init(board: BoardFacts($0, last: variant.cell(named: text.last)), phrase: text.phrase)
      }
    }
  }
}

/// Boards with a sentence each, side by side if there is room, else one below the other.
final class PicturesRow: PageRow {
  struct Picture {
    var board: BoardFacts
    var phrase: Phrase
  }

  private let pictures: [Picture]

  init(context: ViewContext, pictures: [Picture]) {
    self.pictures = pictures
    super.init(context: context)
    gapAfter = 2
  }

  override var accessibilityText: String? { pictures.map { context.text($0.phrase) }.joined(separator: " ") }

  private struct Plan {
    var pictures: [Rect] = []
    var texts: [(at: Point, block: Typeface.Block)] = []
    var height = 0.0
  }

  private func plan(x: Double, y: Double, width: Double) -> Plan {
    let isBroad = width > 26 * em
    var plan = Plan()
    let gap = em * 1.4
    let side = isBroad ? (width - 2 * gap) / 3 : min(width * 0.42, 11 * em)
    for (index, picture) in pictures.enumerated() {
      let text = context.text(picture.phrase)
      let style = TextStyle(em)
      if isBroad {
        let left = x + Double(index) * (side + gap)
        let block = context.typeface.block(text, style, width: side)
        plan.pictures.append(Rect(left, y, side, side))
        plan.texts.append((Point(left, y + side + em * 0.6), block))
        plan.height = max(plan.height, side + em * 0.6 + block.height)
      } else {
        let block = context.typeface.block(text, style, width: max(em, width - side - gap))
        let height = max(side, block.height)
        plan.pictures.append(Rect(x, y + plan.height, side, side))
        plan.texts.append((Point(x + side + gap, y + plan.height + max(0, (side - block.height) / 2)), block))
        plan.height += height + (index + 1 < pictures.count ? em * 1.2 : 0)
      }
    }
    return plan
  }

  override func height(_ width: Double) -> Double { plan(x: 0, y: 0, width: width).height }

  override func draw(_ canvas: Canvas) {
    let plan = plan(x: frame.x, y: frame.y, width: frame.width)
    for (picture, place) in zip(pictures, plan.pictures) { canvas.miniBoard(picture.board, in: place, theme) }
    for text in plan.texts { canvas.draw(text.block, at: text.at, theme.ink) }
  }
}

extension Variant {
  var place: Int { Variant.allCases.firstIndex(of: self) ?? 0 }

  /// A sentence that describes the game.
  var manner: Phrase {
    switch self {
    case .classic: .classicManner
    case .infinite: .infiniteManner
    case .misere: .misereManner
    case .ultimate: .ultimateManner
    }
  }
}

extension ViewContext {
  func name(of variant: Variant) -> String { text(variant.phrase) }

  /// A cell's name for screen readers.
  func name(_ cell: Cell, of variant: Variant) -> String {
    guard let board = variant.board(of: cell) else { return variant.name(of: cell) }
    return "\(text(.speakBoard, board.name)), \(text(.speakCell, variant.place(of: cell).name))"
  }

  /// A cell's name and content for screen readers.
  func name(_ cell: Cell, on board: BoardFacts) -> String {
    let winner = board.variant.board(of: cell).flatMap { board.boards?.winner(of: $0) }
    let won = winner.map { text(.speakWon, String($0.letter)) }
    let mark = board[cell].map { String($0.letter) } ?? (won == nil ? text(.speakEmpty) : nil)
    return [name(cell, of: board.variant), mark, won].compactMap { $0 }.joined(separator: ", ")
  }

  func percent(_ share: Double) -> String { "\(Int((share * 100).rounded()))\u{A0}%" }
}
