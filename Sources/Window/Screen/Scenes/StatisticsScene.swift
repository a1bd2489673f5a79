import Interface
import TicTacToe

/// The player's results in one variant, by opponent, side and first cell, and in time order.
final class StatisticsScene: PageScene {
  override var title: String { context.text(.statistics) }
  override var columnWidth: Double { 32 }
  override var mayHaveTwoColumns: Bool { !context.pages.statistics.isEmpty }
  private var variant: Variant

  override init(context: ViewContext) {
    let known = context.pages.statistics
    let own = context.model.setup.variant
    variant = known[own] != nil ? own : Variant.allCases.first { known[$0] != nil } ?? own
    super.init(context: context)
    setFooter([(.back, .back)])
    fill()
  }

  private func fill() {
    let s = context.pages.statistics[variant] ?? StatisticsModel()
    var all = s.asX
    all.wins += s.asO.wins
    all.draws += s.asO.draws
    all.losses += s.asO.losses
    guard all.games > 0 else {
      return column.set([TextRow(context: context, context.text(.noStatistics), italic: true)])
    }
    func caption(_ text: String) -> TextRow {
      let row = TextRow(context: context, text, italic: true, gap: 0.35)
      row.keepsWithNext = true
      return row
    }
    let head = TextRow(
      context: context,
      "\(all.games) \(context.text(all.games == 1 ? .gamePlayed : .gamesPlayed)): \(all.wins) \(context.text(.wins)), \(all.draws) \(context.text(.draws)), "
        + "\(all.losses) \(context.text(.losses)). \(context.text(.streak)): \(s.streak.now), \(s.streak.best).",
      faint: false, size: 1.1)
    let most = (s.opponents.map { $0.tally.games } + [s.asX.games, s.asO.games]).max() ?? 1
    let opponents: [PageRow] = s.opponents.filter { $0.tally.games > 0 }.map {
      TallyRow(context: context, name: $0.name, tally: $0.tally, most: most)
    }
    let sides: [PageRow] = [
      TallyRow(context: context, name: context.text(.asX), tally: s.asX, most: most),
      TallyRow(context: context, name: context.text(.asO), tally: s.asO, most: most),
    ]
    opponents.last?.gapAfter = 0.8
    sides[1].gapAfter = 1.1
    let legend = LegendRow(context: context)
    column.isCentered = false
    let played = Variant.allCases.filter { context.pages.statistics[$0] != nil }
    let choice = ChoiceRow(context: context, games: played, selected: variant)
    choice.onSelect = { [unowned(unsafe) self] in show(played[$0]) }
    column.set(
      (played.count > 1 ? [choice] : []) + [head, legend] + opponents + sides + [
        caption(context.text(.course)), MelodyRow(context: context, results: s.results),
        caption(context.text(.openings)), OpeningsRow(context: context, openings: s.openings),
      ])
  }

  private func show(_ variant: Variant) {
    self.variant = variant
    contentChanged()
    // `contentChanged` has replaced the row that had the focus.
    context.moveFocus(to: column.rows.first { $0 is ChoiceRow } ?? initialFocus)
  }

  override func contentChanged() {
    if context.pages.statistics[variant] == nil {
      variant = Variant.allCases.first { context.pages.statistics[$0] != nil } ?? variant
    }
    fill()
    relayColumn()
  }
}
