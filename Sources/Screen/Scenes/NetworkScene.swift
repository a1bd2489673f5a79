/// The page of the network: find a server, then a partner.
final class NetworkScene: PageScene {
  private let address: FieldRow
  private let name: FieldRow
  private let code: FieldRow
  private let clock: ChoiceRow
  private let counts: ChoiceRow
  private var typedCode = ""
  private var saidMessage: String?
  private var typedAddress: String
  private var typedName: String
  /// The clocks offered; the server knows any from ten seconds to an hour.
  private static let clocks = ["60+2", "180+2", "600+5", "none"]

  override var title: String { stage.text(.network) }
  override var initialFocus: View? { column.rows.first { $0.isFocusable && !$0.isHidden } ?? foot.first }

  override init(stage: Stage) {
    weak var scene: NetworkScene?
    typedAddress = stage.settings.server
    address = FieldRow(
      stage: stage, caption: stage.text(.serverAddress), text: stage.settings.server,
      limit: 253
    ) { _ in scene?.connect() }
    typedName = stage.settings.name
    name = FieldRow(
      stage: stage, caption: stage.text(.yourName), text: stage.settings.name, limit: 20
    ) { _ in scene?.connect() }
    clock = ChoiceRow(
      stage: stage, group: 0, caption: stage.text(.clock),
      options: NetworkScene.clocks.map { NetworkScene.words(for: $0, stage) },
      selected: NetworkScene.clocks.firstIndex(of: stage.settings.networkClock) ?? 0)
    counts = ChoiceRow(
      stage: stage, group: 1, caption: stage.text(.counts),
      options: [stage.text(.countsNot), stage.text(.countsRated)],
      selected: stage.settings.networkRated ? 1 : 0)
    code = FieldRow(
      stage: stage, caption: stage.text(.roomCode), text: "", limit: 32
    ) { _ in scene?.join() }
    super.init(stage: stage)
    scene = self
    address.onEdit = { [weak self] in self?.typedAddress = $0 }
    name.onEdit = { [weak self] in self?.typedName = $0 }
    code.onEdit = { [weak self] in self?.typedCode = $0 }
    code.gapAfter = 0.6
    clock.gapAfter = 0.5
    clock.onSelect = { stage.settings.networkClock = NetworkScene.clocks[$0] }
    counts.onSelect = { stage.settings.networkRated = $0 == 1 }
    setFoot(
      [
        (Phrase.connect, Action.connect), (.registerName, .registerName), (.playBot, .acceptBot), (.join, .join),
        (.disconnect, .disconnect), (.back, .back),
      ].map { TextButton(stage: stage, title: stage.text($0.0), action: $0.1) })
    fill()
  }

  private func line(_ phrase: Phrase, italic: Bool = true, size: Double = 1) -> TextRow {
    let row = TextRow(stage: stage, stage.text(phrase))
    row.isItalic = italic
    row.size = size
    return row
  }

  private func fill() {
    var rows: [PageRow] = []
    let network = stage.network
    if let message = network.message {
      let row = TextRow(stage: stage, message)
      row.isFaint = false
      rows.append(row)
    }
    switch network.phase {
    case .offline: rows += [line(.networkIntro), address, name]
    case .connecting: rows.append(line(.connecting))
    case .lobby:
      if let you = network.you {
        let rating = you.isGuest ? stage.text(.guest) : "\(you.rating)"
        let row = TextRow(stage: stage, "\(stage.text(.lobby)) \(stage.text(.youAre)) \(you.name) (\(rating)).")
        row.isItalic = true
        rows.append(row)
      }
      rows.append(clock)
      // Guests have no rating to play for.
      if network.you?.isGuest == false, stage.settings.networkClock != "none" { rows.append(counts) }
      rows.last?.gapAfter = 0.8
      rows.append(ContentsRow(stage: stage, title: stage.text(.quickMatch), key: "", action: .quickMatch))
      rows.append(ContentsRow(stage: stage, title: stage.text(.openRoom), key: "", action: .openRoom))
      rows.last?.gapAfter = 1
      rows.append(code)
      if network.matches.isEmpty {
        rows.append(line(.noMatches))
      } else {
        rows.append(line(.matches))
        for (index, match) in network.matches.prefix(50).enumerated() {
          rows.append(
            ContentsRow(stage: stage, title: match.title, key: stage.text(.watchMatch), action: .line(index)))
        }
      }
    case .queued: rows.append(line(.queued))
    case .room(let code):
      rows.append(line(.roomIs))
      let big = TextRow(stage: stage, code)
      big.size = 3
      big.isFaint = false
      big.alignment = .center
      rows.append(big)
    case .playing: rows.append(line(.inMatch))
    }
    column.set(rows)
    for button in foot {
      switch button.action {
      case .connect: button.isHidden = network.phase != .offline
      case .join: button.isHidden = network.phase != .lobby
      case .registerName: button.isHidden = network.phase != .lobby || network.you?.isGuest != true
      case .acceptBot:
        if case .queued(let bots) = network.phase { button.isHidden = bots == 0 } else { button.isHidden = true }
      case .disconnect: button.isHidden = network.phase == .offline
      default: break
      }
    }
  }

  override func contentChanged() {
    // Rows that are made anew take the focus of those they replace.
    let focused = stage.focus?.spoken
    fill()
    layout()
    stage.staticIsStale = true
    if stage.network.message != saidMessage {
      saidMessage = stage.network.message
      stage.say(saidMessage)
    }
    if !focusOrder.contains(where: { $0 === stage.focus }) {
      stage.moveFocus(to: column.rows.first { $0.isFocusable && $0.spoken == focused } ?? initialFocus)
    }
  }

  private func connect() {
    guard !typedAddress.isEmpty else { return }
    stage.settings.server = typedAddress
    stage.settings.name = typedName
    send(.intent(.connect(address: typedAddress)))
  }

  /// A clock in words.
  private static func words(for clock: String, _ stage: Stage) -> String {
    guard let plus = clock.firstIndex(of: "+"), let seconds = Int(clock[..<plus]) else { return stage.text(.noClock) }
    return "\(seconds / 60) \(stage.text(.minutes)) + \(clock[clock.index(after: plus)...]) s"
  }

  private func join() {
    guard !typedCode.isEmpty else { return }
    send(.intent(.joinRoom(code: typedCode)))
  }

  override func receive(_ message: Message) -> Bool {
    switch message {
    case .activated(.connect): connect()
    case .activated(.join): join()
    case .activated(.disconnect): send(.intent(.disconnect))
    case .activated(.choose): contentChanged()
    case .activated(.quickMatch): send(.intent(.quickMatch))
    case .activated(.acceptBot): send(.intent(.acceptBot))
    case .activated(.registerName):
      send(.intent(.registerName(typedName.isEmpty ? stage.network.you?.name ?? "" : typedName)))
    case .activated(.openRoom): send(.intent(.openRoom))
    case .activated(.line(let index)):
      if stage.network.matches.indices.contains(index) { send(.intent(.watch(id: stage.network.matches[index].id))) }
    default: return super.receive(message)
    }
    return true
  }
}
