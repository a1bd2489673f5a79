import TicTacToe

/// The page that sets up a game: against whom, which side, how much time.
final class NewGameScene: PageScene {
  private var seats: [Seat] = []
  private let opponent: ChoiceRow
  private let manner: TextRow
  private let side: ChoiceRow
  private let clock: ChoiceRow
  private let rules: ChoiceRow
  private let ruleNames: [String]
  private let begin: TextButton
  private static let minutes = [nil, 1, 3, 5]

  override var title: String { stage.text(.newGame) }
  override var initialFocus: View? { begin }

  override init(stage: Stage) {
    seats = stage.opponents
    let names = seats.map { $0 == .human ? stage.text(.person) : stage.name(of: $0) }
    let setup = stage.model.setup
    // Who only listens has chosen nobody.
    let other = setup.x == .human ? setup.o : setup.o == .human ? setup.x : stage.chosenOpponent
    let bothHuman = setup.x == .human && setup.o == .human
    opponent = ChoiceRow(
      stage: stage, caption: stage.text(.against), options: names,
      selected: seats.firstIndex(of: other) ?? min(3, seats.count - 1))
    manner = TextRow(stage: stage, "")
    side = ChoiceRow(
      stage: stage, caption: stage.text(.youPlay), options: [stage.text(.playX), stage.text(.playO)],
      selected: setup.o == .human && !bothHuman ? 1 : 0)
    clock = ChoiceRow(
      stage: stage, caption: stage.text(.clock),
      options: NewGameScene.minutes.map { $0.map { "\($0) \(stage.text(.minutes))" } ?? stage.text(.noClock) },
      selected: NewGameScene.minutes.firstIndex { $0.map { $0 * 60 } == setup.clockSeconds } ?? 0)
    let choices = stage.scoreRuleChoices
    ruleNames = choices.map { $0.0 }
    rules = ChoiceRow(
      stage: stage, caption: stage.text(.scoreRules), options: choices.map { $0.1 },
      selected: ruleNames.firstIndex(of: stage.settings.scoreRules) ?? 0)
    begin = TextButton(stage: stage, title: stage.text(.start), intent: .newGame(setup))
    super.init(stage: stage)
    manner.isItalic = true
    opponent.gapAfter = 0.4
    column.set([opponent, manner, side, clock] + (ruleNames.count > 1 ? [rules] : []))
    begin.size = 1.2
    setFoot([begin, TextButton(stage: stage, title: stage.text(.back), intent: .back)])
    manner.others = seats.map(words)
    for row in [opponent, side, clock] { row.onSelect = { [unowned(unsafe) self] _ in refresh() } }
    refresh()
  }

  private func refresh() {
    let other = seats[opponent.selected]
    manner.text = words(for: other)
    let playsX = other == .human || side.selected == 0
    begin.intent = .newGame(
      GameSetup(
        x: playsX ? .human : other, o: playsX ? other : .human,
        clockSeconds: NewGameScene.minutes[clock.selected].map { $0 * 60 }))
  }

  /// What kind of player sits there.
  private func words(for seat: Seat) -> String {
    switch seat {
    case .human: return stage.text(.personManner)
    case .adaptive: return stage.text(.adaptiveManner)
    case .menace: return stage.text(.menaceManner)
    case .level(let n):
      guard let card = stage.levels.first(where: { $0.number == n }) else { return "" }
      // The executable speaks English; the table knows the same words in the other languages.
      let known = Phrase(rawValue: "manner\(n)").flatMap { $0.text(in: .english) == card.manner ? $0 : nil }
      let words = known.map(stage.text) ?? card.manner
      return (["\(card.character) \(words)."] + card.odds.map(translated)).joined(separator: "\n")
    default: return ""
    }
  }

  /// A line of odds in the reader's language: numbers stay, the five words around them change.
  private func translated(_ line: String) -> String {
    // A number and its sign stay on one line.
    var line = line.replacing(" %", by: "\u{A0}%")
    if stage.language == .german { line = line.replacing(".", by: ",") }
    return [Phrase.againstRandom, .againstPerfect, .oddsWins, .oddsDraws, .oddsLoses].reduce(line) { text, phrase in
      text.replacing(phrase.text(in: .english), by: stage.text(phrase))
    }
  }

  /// The music chosen holds from the game that begins.
  override func receive(_ intent: Intent) -> Bool {
    let name = ruleNames[rules.selected]
    if case .newGame = intent, name != stage.settings.scoreRules { stage.settings.scoreRules = name }
    return false
  }
}
