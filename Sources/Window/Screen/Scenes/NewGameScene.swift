import Interface
import Oracle
import TicTacToe

final class NewGameScene: PageScene {
  private var seats: [Seat] = []
  private let game: ChoiceRow
  private let gameManner: TextRow
  private let opponent: ChoiceRow
  private let manner: TextRow
  private let side: ChoiceRow
  private let clock: ChoiceRow
  private let rules: ChoiceRow
  private let ruleNames: [String]
  private static let minutes = [nil, 1, 3, 5]

  override var title: String { context.text(.newGame) }
  override var initialFocus: View? { footerButtons.first }

  override init(context: ViewContext) {
    let setup = context.pages.offered
    let variant = setup.variant
    game = ChoiceRow(context: context, selected: variant)
    gameManner = TextRow(context: context, "", italic: true)
    seats = context.pages.opponents.filter { $0.plays(variant) }
    let other = setup.x == .human ? setup.o : setup.x
    opponent = ChoiceRow(
      context: context, .against, context.names(ofOpponents: seats),
      selected: seats.firstIndex(of: other) ?? min(3, seats.count - 1))
    manner = TextRow(context: context, "", italic: true)
    side = ChoiceRow(
      context: context, .youPlay, [context.text(.playX), context.text(.playO)],
      selected: setup.loneHuman == .o ? 1 : 0)
    clock = ChoiceRow(
      context: context, .clock,
      NewGameScene.minutes.map { $0.map { "\($0) \(context.text(.minutes))" } ?? context.text(.noClock) },
      selected: NewGameScene.minutes.firstIndex { $0.map { $0 * 60 } == setup.clockSeconds })
    let choices = context.scoreRuleChoices
    ruleNames = choices.map { $0.0 }
    rules = ChoiceRow(
      context: context, .scoreRules, choices.map { $0.1 },
      selected: ruleNames.firstIndex(of: context.settings.scoreRules))
    super.init(context: context)
    (game.gapAfter, opponent.gapAfter) = (0.4, 0.4)
    gameManner.others = Variant.allCases.map { context.text($0.manner) }
    column.set([game, gameManner, opponent, manner, side, clock] + (ruleNames.count > 1 ? [rules] : []))
    setFooter([(.start, .newGame(setup)), (.back, .back)])
    footerButtons[0].size = 1.2
    manner.others = seats.map(words)
    game.onSelect = { [unowned(unsafe) self] in offer(Variant.allCases[$0]) }
    for row in [opponent, side, clock] { row.onSelect = { [unowned(unsafe) self] _ in refresh() } }
    refresh()
  }

  private var variant: Variant { Variant.allCases[game.selected] }

  private func offer(_ variant: Variant) {
    let chosen = seats[opponent.selected]
    seats = context.pages.opponents.filter { $0.plays(variant) }
    opponent.options = context.names(ofOpponents: seats)
    opponent.show(seats.firstIndex(of: chosen) ?? seats.firstIndex(of: .level(3)) ?? 0)
    manner.others = seats.map(words)
    refresh()
    relayColumn()
  }

  private func refresh() {
    gameManner.text = context.text(variant.manner)
    let other = seats[opponent.selected]
    manner.text = words(for: other)
    let playsX = other == .human || side.selected == 0
    footerButtons[0].intent = .newGame(
      GameSetup(
        x: playsX ? .human : other, o: playsX ? other : .human, variant: variant,
        clockSeconds: NewGameScene.minutes[clock.selected].map { $0 * 60 }))
  }

  private func words(for seat: Seat) -> String {
    switch seat {
    case .human: return context.text(.personManner)
    case .adaptive: return context.text(.adaptiveManner)
    case .menace: return context.text(.menaceManner)
    case .level(let n):
      guard let card = context.pages.levels.first(where: { $0.number == n }) else { return "" }
      let manner = "\(card.character) \(Phrase(rawValue: "manner\(n)").map(context.text) ?? "")."
      guard variant.isImplied else { return manner }
      return [manner, line(.againstRandom, card.againstRandom), line(.againstPerfect, card.againstPerfect)]
        .joined(separator: "\n")
    default: return ""
    }
  }

  private func line(_ opponent: Phrase, _ odds: Odds) -> String {
    let parts: [(Phrase, Double)] = [(.oddsWins, odds.win), (.oddsDraws, odds.draw), (.oddsLoses, odds.loss)]
    let decimalSign = context.text(.decimalSign)
    return context.text(opponent) + ": "
      + parts.map { "\(context.text($0.0)) \(NewGameScene.percent($0.1, decimalSign))" }.joined(separator: ", ")
  }

  /// A chance (0…1) in per cent, with at most one decimal. An uncertain result never becomes 0 or 100 %.
  static func percent(_ chance: Double, _ decimalSign: String) -> String {
    let tenths = Int((chance * 1000).rounded())
    if chance > 0 && tenths == 0 { return "<0\(decimalSign)1\u{A0}%" }
    if chance < 1 - 1e-12 && tenths == 1000 { return ">99\(decimalSign)9\u{A0}%" }
    return "\(tenths / 10)" + (tenths % 10 == 0 ? "" : "\(decimalSign)\(tenths % 10)") + "\u{A0}%"
  }

  override func receive(_ intent: Intent) -> Bool {
    let name = ruleNames[rules.selected]
    if case .newGame = intent, name != context.settings.scoreRules { context.settings.scoreRules = name }
    return false
  }
}

extension ViewContext {
  /// A human opponent is called a person instead of "you".
  fileprivate func names(ofOpponents seats: [Seat]) -> [String] {
    seats.map { $0 == .human ? text(.person) : name(of: $0) }
  }
}
