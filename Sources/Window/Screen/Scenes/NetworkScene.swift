/// The page of the network: find a server, then a partner.
final class NetworkScene: PageScene {
  private let address: FieldRow
  private let name: FieldRow
  private let code: FieldRow
  private let clock: ChoiceRow
  private let counts: ChoiceRow
  private var said: String?
  /// The clocks offered; the server knows any from ten seconds to an hour.
  private static let clocks = ["60+2", "180+2", "600+5", "none"]

  override var title: String { stage.text(.network) }
  override var initialFocus: View? {
    stage.network.phase == .offline && !stage.services.isPage ? address : focusOrder.first
  }

  override init(stage: Stage) {
    let settings = stage.settings
    address = FieldRow(
      stage: stage, caption: stage.text(.serverAddress), text: settings.server, limit: 253,
      intent: Intent.connect(address:))
    name = FieldRow(stage: stage, caption: stage.text(.yourName), text: settings.name, limit: 20) { _ in
      .connect(address: "")
    }
    clock = ChoiceRow(
      stage: stage, caption: stage.text(.clock),
      options: NetworkScene.clocks.map { NetworkScene.words(for: $0, stage) },
      selected: NetworkScene.clocks.firstIndex(of: settings.networkClock) ?? 0)
    counts = ChoiceRow(
      stage: stage, caption: stage.text(.counts), options: [stage.text(.countsNot), stage.text(.countsRated)],
      selected: settings.networkRated ? 1 : 0)
    code = FieldRow(
      stage: stage, caption: stage.text(.roomCode), text: "", limit: 32, intent: Intent.joinRoom(code:))
    super.init(stage: stage)
    code.gapAfter = 0.6
    clock.gapAfter = 0.5
    clock.onSelect = { [unowned(unsafe) self] in
      settings.networkClock = NetworkScene.clocks[$0]
      contentChanged()
    }
    counts.onSelect = { settings.networkRated = $0 == 1 }
    setFoot(
      [
        (Phrase.connect, Intent.connect(address: "")), (.registerName, .registerName("")), (.playBot, .acceptBot),
        (.join, .joinRoom(code: "")), (.disconnect, .leave), (.back, .back),
      ].map { TextButton(stage: stage, title: stage.text($0.0), intent: $0.1) })
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
    let message = network.message.map { TextRow(stage: stage, $0) }
    message?.isFaint = false
    if let message { rows.append(message) }
    switch network.phase {
    case .offline:
      // In its place, so that the page does not move under the pointer.
      if message == nil { rows.append(line(.networkIntro)) }
      if !stage.services.isPage {
        rows.append(ContentsRow(stage: stage, title: stage.text(.host), key: "", intent: .host))
      }
      rows += network.nearby.map { room in
        ContentsRow(
          stage: stage, title: room.name, key: stage.text(.join),
          intent: .joinNearby(address: room.address, code: room.code), poem: room.address)
      }
      rows.last?.gapAfter = 0.8
      rows += stage.services.isPage ? [name] : [address, name]
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
      rows.append(ContentsRow(stage: stage, title: stage.text(.quickMatch), key: "", intent: .quickMatch))
      rows.append(ContentsRow(stage: stage, title: stage.text(.openRoom), key: "", intent: .openRoom))
      rows.last?.gapAfter = 1
      rows.append(code)
      if network.matches.isEmpty {
        rows.append(line(.noMatches))
      } else {
        rows.append(line(.matches))
        for match in network.matches.prefix(50) {
          rows.append(
            ContentsRow(stage: stage, title: match.title, key: stage.text(.watchMatch), intent: .watch(id: match.id)))
        }
      }
    case .queued: rows.append(line(.queued))
    case .room(let code):
      rows.append(line(.roomIs))
      let big = TextRow(stage: stage, code)
      big.size = 3
      (big.isFaint, big.isLining) = (false, true)
      big.alignment = .center
      rows.append(big)
      var words: [(title: String, intent: Intent, poem: String?)] = [(stage.text(.copy), .copyText(code), nil)]
      if stage.services.share != nil { words.append((stage.text(.share), .shareRoom(code: code), nil)) }
      rows.append(WordsRow(stage: stage, words))
      if let host = network.hostAddress {
        let row = TextRow(stage: stage, stage.text(.hostIs) + " " + host)
        row.isLining = true
        rows.append(row)
      }
    case .playing: rows.append(line(.inMatch))
    }
    column.set(rows)
    for button in foot {
      switch button.intent {
      case .connect: button.isHidden = network.phase != .offline
      case .joinRoom: button.isHidden = network.phase != .lobby
      case .registerName: button.isHidden = network.phase != .lobby || network.you?.isGuest != true
      case .acceptBot:
        if case .queued(let bots) = network.phase { button.isHidden = bots == 0 } else { button.isHidden = true }
      case .leave:
        button.isHidden = network.phase == .offline
        switch network.phase {
        case .queued: button.title = stage.text(.stopWaiting)
        case .room: button.title = stage.text(.closeRoom)
        default: button.title = stage.text(.disconnect)
        }
      default: break
      }
    }
  }

  /// What whoever does not see the page must know: what went wrong, else what is waited for, and the code to tell.
  private var news: String? {
    if let message = stage.network.message { return message }
    switch stage.network.phase {
    // Letter by letter: a code is no word.
    case .room(let code): return "\(stage.text(.roomIs)) \(code.map { String($0) }.joined(separator: " "))"
    case .queued: return stage.text(.queued)
    default: return nil
    }
  }

  override func contentChanged() {
    // Rows that are made anew take the focus of those they replace.
    let focused = stage.focus?.spoken
    fill()
    layout()
    stage.staticIsStale = true
    if !focusOrder.contains(where: { $0 === stage.focus }) {
      stage.moveFocus(to: column.rows.first { $0.isFocusable && $0.spoken == focused } ?? initialFocus)
    }
    // After the control that has the focus now, so that it is not spoken over.
    if news != said {
      said = news
      stage.say(said)
    }
  }

  /// What a page calls the server that it came from.
  private static let ownServer = "localhost"

  /// A clock in words.
  private static func words(for clock: String, _ stage: Stage) -> String {
    guard let plus = clock.firstIndex(of: "+"), let seconds = Int(clock[..<plus]) else { return stage.text(.noClock) }
    return "\(seconds / 60) \(stage.text(.minutes)) + \(clock[clock.index(after: plus)...]) s"
  }

  /// The words at the foot carry no text: what is in the field is meant.
  override func receive(_ intent: Intent) -> Bool {
    switch intent {
    case .connect(let text):
      stage.settings.name = name.text
      let wanted = stage.services.isPage ? NetworkScene.ownServer : address.text
      return text.isEmpty && !wanted.isEmpty && send(.connect(address: wanted))
    case .joinRoom(""): return !code.text.isEmpty && send(.joinRoom(code: code.text))
    case .registerName(""):
      return send(.registerName(name.text.isEmpty ? stage.network.you?.name ?? "" : name.text))
    default: return false
    }
  }
}
