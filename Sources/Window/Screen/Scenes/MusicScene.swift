import Interface

/// The page on which players edit music of their own with sliders.
final class MusicScene: PageScene {
  private var sliders: [SliderRow] = []
  private let use: ContentsRow
  private let reset: ContentsRow

  override var title: String { context.text(.ownMusic) }
  override var mayHaveTwoColumns: Bool { true }
  override var initialFocus: View? { sliders.first ?? footerButtons.first }

  override init(context: ViewContext) {
    use = ContentsRow(context: context, title: context.text(.useMusic), intent: .ownMusic(.use))
    reset = ContentsRow(context: context, title: context.text(.resetMusic), intent: .ownMusic(.reset))
    super.init(context: context)
    column.isCentered = false
    setFooter([(.hearIt, .ownMusic(.hear)), (.back, .back)])
    fill()
  }

  private func fill() {
    sliders = context.pages.ownMusic.dials.enumerated().map { index, dial in
      let row = SliderRow(
        context: context, dial.caption, value: Double(dial.position), in: 0...Double(dial.most), step: 1,
        describe: { [context] position in
          let texts = context.pages.ownMusic.dials[index].texts
          return texts[Int(position)].replacing(".", by: context.text(.decimalSign))
        },
        onChange: { [unowned(unsafe) self] in send(.ownMusic(.turn(dial: index, to: Int($0)))) })
      row.gapAfter = 0.5
      return row
    }
    let intro = TextRow(context: context, context.text(.ownMusicIntro), italic: true)
    let others = [
      use, ContentsRow(context: context, title: context.text(.share), intent: .ownMusic(.share)),
      ContentsRow(context: context, title: context.text(.musicFile), intent: .ownMusic(.saveFile)), reset,
    ]
    column.set([intro] + sliders.map { $0 as PageRow } + others.map { $0 as PageRow })
    refresh()
  }

  private func refresh() {
    let model = context.pages.ownMusic
    footerButtons[0].title = context.text(model.isPlaying ? .stopMusic : .hearIt)
    (use.isHidden, reset.isHidden) = (model.isUsed, model.isUnchanged)
  }

  override func contentChanged() {
    let before = (footerButtons[0].title, use.isHidden, reset.isHidden)
    let isOther = context.pages.ownMusic.dials.map { Double($0.position) } != sliders.map { $0.value }
    if isOther { fill() } else { refresh() }
    if footerButtons[0].title != before.0 { relay() }
    if isOther || (use.isHidden, reset.isHidden) != (before.1, before.2) { relayColumn() }
  }
}
