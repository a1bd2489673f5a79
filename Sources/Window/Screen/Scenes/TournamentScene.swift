import Interface
import TicTacToe

/// A form to make or enter a tournament, then its link, table and result. On a wide screen the organiser's page suits a projector.
final class TournamentScene: PageScene {
  private let name: FieldRow
  private let code: FieldRow
  private let ownName: FieldRow
  private let game: ChoiceRow
  private let clock: ChoiceRow
  private let minutes: ChoiceRow
  private let bots: ChoiceRow
  private let start: ChoiceRow
  /// If `false`, the length is the default of the chosen game.
  private var hasChosenMinutes = false
  /// The column with time and link beside the table, on a wide page.
  private let side: ScrollView
  private let time: TextRow
  /// The rows of code and link, kept because a pressed button must still exist when it is released.
  private var link: (text: String, isWide: Bool, rows: [PageRow]) = ("", false, [])
  private var standings: [Int: StandingRow] = [:]
  /// The value of `isWide` when the rows were made.
  private var wasWide = false
  /// The player whose row the organiser has pressed, and the button that removes or readmits this player.
  private var chosen: (number: Int, words: WordsRow)?
  private var shown: (tournament: TournamentModel?, network: NetworkModel) = (nil, NetworkModel())

  /// Offered in addition to the game's default clock, which comes first.
  private static let clocks = ["20+1", "60+1", "180+2", "300+3"]
  /// Minutes until the start; 0 leaves the start to the organiser.
  private static let starts = [0, 5, 10, 15, 30, 60, 120]
  /// The offered lengths in minutes.
  private static let lengths = [5, 10, 15, 20, 30, 40, 60, 90, 120]

  private var model: TournamentModel? { context.pages.tournament }

  override var title: String { model?.name ?? context.text(.tournament) }
  override var initialFocus: View? { footerButtons.first { !$0.isHidden && $0.isEnabled } }

  override init(context: ViewContext) {
    name = FieldRow(context: context, .tournamentName, text: context.text(.tournament), limit: 40) {
      .tournament(.make(name: $0))
    }
    code = FieldRow(context: context, .tournamentCode, limit: 32) { .tournament(.enter(code: $0)) }
    ownName = FieldRow(context: context, .yourName, text: context.settings.name, limit: 20) { _ in
      .tournament(.enter(code: ""))
    }
    game = ChoiceRow(context: context, selected: context.settings.game)
    clock = ChoiceRow(context: context, .clock, TournamentScene.clockNames(context), selected: 0)
    minutes = ChoiceRow(
      context: context, .tournamentLength, TournamentScene.lengths.map { "\($0) \(context.text(.minutes))" },
      selected: TournamentScene.lengths.firstIndex(of: context.pages.network.tournamentMinutes))
    bots = ChoiceRow(
      context: context, .tournamentBots, [context.text(.tournamentPeople), context.text(.tournamentAnybody)],
      selected: 0)
    start = ChoiceRow(
      context: context, .tournamentStart,
      TournamentScene.starts.map {
        $0 == 0 ? context.text(.tournamentByHand) : context.text(.tournamentInMinutes, "\($0)")
      }, selected: 0)
    side = ScrollView(context: context)
    time = TextRow(context: context, "", faint: false, size: 1.4)
    super.init(context: context)
    add(side)
    game.onSelect = { [unowned(unsafe) self] in
      self.context.settings.game = Variant.allCases[$0]
      clock.show(0)
      hasChosenMinutes = false
    }
    minutes.onSelect = { [unowned(unsafe) self] _ in hasChosenMinutes = true }
    setFooter([
      (.tournamentMake, .tournament(.make(name: ""))), (.tournamentEnter, .tournament(.enter(code: ""))),
      (.start, .tournament(.start)), (.tournamentPause, .tournament(.pause)), (.tournamentPlay, .tournament(.play)),
      (.tournamentTop, .watch(id: "")), (.tournamentSave, .tournament(.save)),
      (.tournamentSaveGames, .tournament(.saveGames)), (.tournamentEnd, .tournament(.end)),
      (.tournamentLeave, .tournament(.leave)), (.back, .back),
    ])
    fill()
  }

  // MARK: Rows

  private func text(_ text: String, size: Double = 1, faint: Bool = true, isCentred: Bool = false) -> TextRow {
    let row = TextRow(context: context, text, faint: faint, size: size)
    if isCentred { row.alignment = .center }
    return row
  }

  private func fill() {
    shown = (model, context.pages.network)
    if let model { fill(model) } else { fillForm() }
    showFooter()
  }

  private func fillForm() {
    let (network, linked) = (context.pages.network, context.pages.linkedTournament)
    let names = TournamentScene.clockNames(context)
    if clock.options != names { clock.options = names }
    if !hasChosenMinutes, let usual = TournamentScene.lengths.firstIndex(of: network.tournamentMinutes) {
      minutes.show(usual)
    }
    if !linked.isEmpty, code.text.isEmpty { _ = code.typed(linked) }
    var rows: [PageRow] = [TextRow(context: context, context.text(.tournamentIntro), italic: true)]
    if let message = network.message { rows = [text(message.text(in: context.language), faint: false)] }
    if network.phase == .connecting { rows.append(text(context.text(.connecting))) }
    if linked.isEmpty { rows += [name, game, clock, minutes, start, bots] }
    // The name is sent with the login, so the name can be entered only before connecting.
    rows += [code] + (network.phase == .offline ? [ownName] : [])
    column.isCentered = true
    column.set(rows)
    side.set([])
  }

  private func fill(_ model: TournamentModel) {
    let isOpen = model.phase == .waiting || model.phase == .running
    let (isWide, link) = (isWide, isOpen ? linkRows(model) : [])
    wasWide = isWide
    time.text = context.status(of: model)
    time.size = isWide ? 2.2 : 1.4
    let terms = text(
      "\(context.name(of: model.rules)) · \(context.clockName(model.clock)) · \(model.minutes) \(context.text(.minutes))"
    )
    let rows = (model.rows + (isOpen ? model.removed : [])).flatMap { row -> [PageRow] in
      let standing = standings[row.number] ?? StandingRow(context: context, row)
      standings[row.number] = standing
      let isOnPodium = model.phase == .over && row.place <= 3
      standing.show(row, size: (isWide ? TournamentScene.largest : 1) * (isOnPodium ? 1.5 : 1))
      let mayRemove = model.isOrganiser && isOpen
      standing.onPress = mayRemove ? { [unowned(unsafe) self] in choose(row) } : nil
      if mayRemove, let chosen, chosen.number == row.number { return [standing, chosen.words] }
      return [standing]
    }
    let head: [PageRow] = [time, terms]
    column.isCentered = false
    side.isCentered = false
    let isLinkFirst = model.phase == .waiting
    // After the end of the tournament, the column of the link shows the first three players.
    let podium = isWide && model.phase == .over ? 3 : 0
    // A row must leave its former column first, so empty `side` before `column` gets its rows.
    if !isWide { side.set([]) }
    column.set(
      (isWide ? [] : head + (isLinkFirst ? link : [])) + rows.dropFirst(podium) + (isWide || isLinkFirst ? [] : link))
    if isWide { side.set(head + link + rows.prefix(podium)) }
  }

  private func linkRows(_ model: TournamentModel) -> [PageRow] {
    let path = "t/\(model.code)"
    let network = context.pages.network
    let address = context.services.address?(path) ?? network.hostPage.map { $0 + path } ?? ""
    let text = [model.code, address, network.hostAddress ?? ""].joined(separator: " ")
    guard link.text != text || link.isWide != isWide else { return link.rows }
    var words: [(Phrase, Intent)] = [(.copy, .copyText(address.isEmpty ? model.code : address))]
    if context.services.share != nil { words.append((.share, .tournament(.share))) }
    var rows: [PageRow] = [
      self.text(model.code, size: 3, faint: false, isCentred: true), WordsRow(context: context, words),
    ]
    if !address.isEmpty {
      rows.append(self.text(address, isCentred: true))
      if let picture = QRCode(address) { rows.append(QRRow(context: context, picture, side: isWide ? 20 : 12)) }
    }
    if let host = network.hostAddress { rows.append(self.text(context.text(.hostIs) + " " + host)) }
    link = (text, isWide, rows)
    return rows
  }

  private func choose(_ row: TournamentModel.Row) {
    let isChosen = chosen?.number == row.number
    let word: (Phrase, Intent) =
      row.status == .removed
      ? (.tournamentAdmit, .tournament(.admit(name: row.name)))
      : (.tournamentRemove, .tournament(.remove(name: row.name)))
    let words = WordsRow(context: context, [word])
    chosen = isChosen ? nil : (row.number, words)
    fill()
    relay()
    context.moveFocus(to: isChosen ? standings[row.number] : words.words.first)
  }

  // MARK: Layout

  private var isWide: Bool {
    let m = context.metrics
    return model?.isOrganiser == true && m.isLandscape && m.bounds.width >= 60 * em
  }

  override func layout() {
    if let model, wasWide != isWide { fill(model) }
    super.layout()
    side.isHidden = !isWide
    column.columns = 1
    guard !side.isHidden else { return }
    let m = context.metrics
    let width = m.bounds.width - 2 * m.margin - ScrollView.gutter * em
    side.frame = Rect(m.margin, column.frame.y, width * 0.4, column.frame.height)
    column.frame = Rect(
      side.frame.maxX + ScrollView.gutter * em, column.frame.y, width * 0.6, column.frame.height)
    let fit = tableFit()
    column.columns = fit.columns
    for case let standing as StandingRow in column.rows { standing.show(standing.row, size: fit.size) }
    side.layout()
    column.layout()
  }

  /// The limits for the size of a row on a wide page, relative to a row on other pages.
  private static let (largest, smallest) = (1.3, 0.8)

  /// The columns and the row size with which a wide page shows the whole table as large as possible.
  private func tableFit() -> (columns: Int, size: Double) {
    func size(_ columns: Int) -> Double {
      let rows = Double((column.rows.count + columns - 1) / columns)
      let width = (column.frame.width / em - ScrollView.gutter * Double(columns - 1)) / Double(columns)
      return min(
        TournamentScene.largest, column.frame.height / (em * StandingRow.height * max(1, rows)),
        width / StandingRow.width)
    }
    var columns = 1
    for more in 2...3 where size(more) > size(columns) { columns = more }
    return (columns, max(TournamentScene.smallest, size(columns)))
  }

  private func showFooter() {
    let phase = model?.phase
    let isRunning = phase == .running
    let isOpen = phase == .waiting || isRunning
    let isOrganiser = model?.isOrganiser == true
    let mine = model?.mine?.status
    let isThere: [Bool] = [
      model == nil && context.pages.linkedTournament.isEmpty, model == nil || isOpen && (mine ?? .left) == .left,
      isOrganiser && phase == .waiting, isRunning && mine == .playing,
      isRunning && mine == .paused, model?.top != nil, model?.rows.isEmpty == false,
      isOrganiser && model?.rows.contains { $0.games > 0 } == true, isOrganiser && isOpen,
      model != nil,
      true,
    ]
    for (button, isThere) in zip(footerButtons, isThere) {
      button.isHidden = !isThere
      if case .watch = button.intent { button.intent = .watch(id: model?.top ?? "") }
    }
  }

  override func swiped(toLeft: Bool) -> Bool { !toLeft && model != nil && send(.back) }

  // MARK: Changes of the model

  override func contentChanged() {
    let before = shown
    guard before.tournament != model || before.network != context.pages.network || model == nil else { return }
    // If only the time has changed, as each second, keep all rows.
    if var old = before.tournament, let model {
      old.remaining = model.remaining
      if old == model, before.network == context.pages.network {
        shown.tournament = model
        time.text = context.status(of: model)
        return
      }
    }
    fill()
    relay()
    // Announce a new phase, except the end, which a message announces on every page.
    if let model, model.phase != .over, before.tournament?.phase != model.phase {
      context.announce(context.status(of: model))
    }
  }

  private static func clockNames(_ context: ViewContext) -> [String] { clocks(context).map(context.clockName) }

  private static func clocks(_ context: ViewContext) -> [String] {
    let usual = context.pages.network.tournamentClock
    return [usual] + clocks.filter { $0 != usual }
  }

  /// A footer button sends an intent without values, such as `make`: complete the intent with the values of the fields.
  override func receive(_ intent: Intent) -> Bool {
    guard model == nil, case .tournament(let intent) = intent else { return false }
    switch intent {
    case .make(_, clock: "", _, _, _):
      let title = name.text.isEmpty ? context.text(.tournament) : name.text
      return send(
        .tournament(
          .make(
            name: title, clock: TournamentScene.clocks(context)[clock.selected],
            minutes: TournamentScene.lengths[minutes.selected], hasBots: bots.selected == 1,
            startsIn: TournamentScene.starts[start.selected])))
    case .enter(let typed):
      if context.pages.network.phase == .offline { context.settings.name = ownName.text }
      return typed.isEmpty && !code.text.isEmpty && send(.tournament(.enter(code: code.text)))
    default: return false
    }
  }
}

final class TableRows {
  private let context: ViewContext
  private let time: TextRow
  private var shown: TournamentModel?

  init(context: ViewContext) {
    self.context = context
    time = TextRow(context: context, "", faint: false, gap: 0.3)
  }

  /// The rows that fit into a height: the time left and at least two players. Empty without a tournament.
  func rows(within height: Double) -> [PageRow] {
    guard let shown = context.pages.tournament else { return [] }
    time.text = context.status(of: shown)
    let most = max(2, Int(height / (context.metrics.em * StandingRow.height)) - 1)
    var rows = Array(shown.rows.prefix(most))
    if let mine = shown.mine, mine.place > most { rows[most - 1] = mine }
    let standings = rows.map { StandingRow(context: context, $0) as PageRow }
    standings.last?.gapAfter = 0.6
    return [time] + standings
  }

  /// Updates the time left. Returns whether anything else has changed, so that the caller must lay out the table again.
  func hasChanged() -> Bool {
    let next = context.pages.tournament
    if let next { time.text = context.status(of: next) }
    shown?.remaining = next?.remaining
    defer { shown = next }
    return next != shown
  }
}

/// A row of a tournament's table. A note head marks a player whose next win counts double.
final class StandingRow: PressableRow {
  private(set) var row: TournamentModel.Row
  private var size = 1.0
  /// In em: a row's height, and the width that long names need.
  static let (height, width) = (1.9, 14.0)
  /// `nil` if the row cannot be pressed.
  var onPress: (() -> Void)?

  init(context: ViewContext, _ row: TournamentModel.Row) {
    self.row = row
    super.init(context: context)
    gapAfter = 0
  }

  func show(_ row: TournamentModel.Row, size: Double) {
    guard row != self.row || size != self.size else { return }
    (self.row, self.size) = (row, size)
    setNeedsDisplay()
  }

  override var isClickable: Bool { onPress != nil }
  override func press() { onPress?() }

  private var status: String? {
    switch row.status {
    case .playing: nil
    case .paused: context.text(.tournamentIsPaused)
    case .left: context.text(.tournamentHasLeft)
    case .removed: context.text(.tournamentIsRemoved)
    }
  }

  private var nameStyle: TextStyle { TextStyle(em * size * 1.05) }
  private var statusStyle: TextStyle { TextStyle(em * size * 0.85, italic: true) }

  /// The place of the status after the name. A long name is cut, so that the whole status fits before the points.
  var statusPlace: Rect? {
    guard let status else { return nil }
    let (unit, width) = (em * size, context.typeface.block(status, statusStyle).width)
    let end = frame.x + unit * 3.5 + context.typeface.block(row.name, nameStyle).width
    return Rect(min(end, frame.maxX - unit * 4 - width), frame.y, width, frame.height)
  }

  private var words: String {
    let place =
      row.status == .removed ? row.name : context.text(.tournamentRow, "\(row.place)", row.name, "\(row.points)")
    return ([place] + [row.isOnFire ? context.text(.tournamentFire) : nil, status].compactMap { $0 }).joined(
      separator: ", ")
  }
  override var accessibilityLabel: String? { isClickable ? words : nil }
  override var accessibilityText: String? { isClickable ? nil : words }

  override func height(_ width: Double) -> Double { em * StandingRow.height * size }

  override func draw(_ canvas: Canvas) {
    let unit = em * size
    let baseline = frame.midY + unit * 0.33
    let style = nameStyle
    if row.isMine {
      canvas.fill(Rect(frame.x, frame.y + unit * 0.3, unit * 0.14, frame.height - unit * 0.6), theme.accent)
    }
    canvas.text(
      row.place == 0 ? "" : "\(row.place)", style, context.typeface, x: frame.x + unit * 2.2, baseline: baseline,
      alignment: .right,
      theme.faintInk)
    canvas.text(
      "\(row.points)", style, context.typeface, x: frame.maxX - unit * 0.3, baseline: baseline, alignment: .right,
      theme.ink)
    if row.isOnFire {
      canvas.fill(
        Glyphs.blackHead.scaled(unit * 0.6, unit * 0.6).moved(frame.maxX - unit * 3.2, baseline - unit * 0.3),
        theme.accent)
    }
    let left = frame.x + unit * 2.9
    let isPlaying = row.status == .playing
    let name = context.typeface.block(row.name, style)
    let place = statusPlace
    if let status, let place {
      canvas.text(status, statusStyle, context.typeface, x: place.x, baseline: baseline, theme.faintInk)
    }
    canvas.saved {
      let right = (place?.x ?? frame.maxX - unit * 3.7) - unit * 0.3
      canvas.clip(Rect(left - unit * 0.3, frame.y, max(1, right - left + unit * 0.3), frame.height))
      canvas.draw(
        name, at: Point(left, baseline - name.baseline),
        row.isSounding ? theme.accent : isPlaying ? theme.ink : theme.faintInk)
      underline(canvas, x: left, y: baseline + unit * 0.25, width: name.width)
    }
  }
}

extension ViewContext {
  /// Words for a clock such as `180+2`: 180 seconds for the game and 2 more for each move. Any other text means no clock.
  func clockName(_ clock: String) -> String {
    guard let plus = clock.firstIndex(of: "+"), let seconds = Int(clock[..<plus]) else { return text(.noClock) }
    let base = seconds % 60 == 0 ? "\(seconds / 60) \(text(.minutes))" : "\(seconds) s"
    return "\(base) + \(clock[clock.index(after: plus)...]) s"
  }

  fileprivate func status(of model: TournamentModel) -> String {
    switch (model.phase, model.remaining) {
    case (.waiting, let seconds?): text(.tournamentStartsIn, PlayersView.minutes(seconds))
    case (.waiting, nil): text(.tournamentPlayers, "\(model.rows.count)")
    case (.running, let seconds): text(.tournamentLeft, PlayersView.minutes(seconds ?? 0))
    case (.ending, _): text(.tournamentLastGames)
    case (.over, _): text(.tournamentOver)
    }
  }

  func tournamentText() -> String? {
    guard let standing = model.tournament else { return nil }
    let row = standing.row
    var lines = [text(.tournamentPlace, "\(row.place)", "\(row.points)")]
    if row.status == .paused { lines.append(text(.tournamentIsPaused)) }
    if row.isOnFire { lines.append(text(.tournamentFire)) }
    if standing.isWaiting, model.game.isOver { lines.append(text(.tournamentNext)) }
    return lines.joined(separator: " · ")
  }
}
