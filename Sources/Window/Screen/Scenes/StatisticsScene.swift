/// The page of results: by opponent, side, first cell and in order of time.
final class StatisticsScene: PageScene {
  override var title: String { stage.text(.statistics) }
  override var columnWidth: Double { 32 }
  override var mayHaveTwoColumns: Bool { stage.statistics.results.count > 0 }

  override init(stage: Stage) {
    super.init(stage: stage)
    setFoot([TextButton(stage: stage, title: stage.text(.back), intent: .back)])
    fill()
  }

  private func fill() {
    let s = stage.statistics
    var all = s.asX
    all.wins += s.asO.wins
    all.draws += s.asO.draws
    all.losses += s.asO.losses
    guard all.games > 0 else {
      let text = TextRow(stage: stage, stage.text(.noStatistics))
      text.isItalic = true
      column.set([text])
      return
    }
    func caption(_ text: String) -> TextRow {
      let row = TextRow(stage: stage, text)
      row.isItalic = true
      row.gapAfter = 0.35
      row.keepsWithNext = true
      return row
    }
    let head = TextRow(
      stage: stage,
      "\(all.games) \(stage.text(all.games == 1 ? .gamePlayed : .gamesPlayed)): \(all.wins) \(stage.text(.wins)), \(all.draws) \(stage.text(.draws)), "
        + "\(all.losses) \(stage.text(.losses)). \(stage.text(.streak)): \(s.streak.now), \(s.streak.best).")
    head.isFaint = false
    head.size = 1.1
    let most = (s.opponents.map { $0.tally.games } + [s.asX.games, s.asO.games]).max() ?? 1
    let opponents: [PageRow] = s.opponents.filter { $0.tally.games > 0 }.map {
      TallyRow(stage: stage, name: $0.name, tally: $0.tally, most: most)
    }
    let sides: [PageRow] = [
      TallyRow(stage: stage, name: stage.text(.asX), tally: s.asX, most: most),
      TallyRow(stage: stage, name: stage.text(.asO), tally: s.asO, most: most),
    ]
    opponents.last?.gapAfter = 0.8
    sides[1].gapAfter = 1.1
    let legend = LegendRow(stage: stage)
    column.isCentered = false
    column.set(
      [head, legend] + opponents + sides + [
        caption(stage.text(.course)), MelodyRow(stage: stage, results: s.results),
        caption(stage.text(.openings)), OpeningsRow(stage: stage, openings: s.openings),
      ])
  }

  override func contentChanged() {
    fill()
    column.layout()
    column.setNeedsDisplay()
  }
}
