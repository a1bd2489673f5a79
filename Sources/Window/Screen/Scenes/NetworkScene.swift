import Interface
import TicTacToe

final class NetworkScene: PageScene {
  private let address: FieldRow
  private let name: FieldRow
  private let token: FieldRow
  private let code: FieldRow
  private let game: ChoiceRow
  private let clock: ChoiceRow
  private let roomClock: ChoiceRow
  private let counts: ChoiceRow
  private let side: ChoiceRow
  private var said: String?
  /// The first clock stands for the default clock of the chosen game.
  private static let clocks = ["60+2", "180+2", "600+5", "none"]
  /// This player's side in a new room, as the settings spell the side; empty for either side.
  private static let sides = ["", "x", "o"]

  override var title: String { context.text(.network) }
  override var initialFocus: View? {
    context.pages.network.phase == .offline && !context.services.isPage ? address : focusOrder.first
  }

  override init(context: ViewContext) {
    let settings = context.settings
    address = FieldRow(
      context: context, .serverAddress, text: settings.server, limit: 253
    ) { .connect(address: $0) }
    // Limits in letters. The server allows names of 20 letters; its tokens are much shorter than 128.
    name = FieldRow(context: context, .yourName, text: settings.name, limit: 20) { _ in .connect(address: "") }
    token = FieldRow(context: context, .token, limit: 128, isSecret: true) { _ in .connect(address: "") }
    game = ChoiceRow(context: context, selected: settings.game)
    clock = ChoiceRow(
      context: context, .clock, NetworkScene.clockNames(context),
      selected: NetworkScene.clocks.firstIndex(of: settings.networkClock))
    roomClock = ChoiceRow(
      context: context, .clock, NetworkScene.clockNames(context),
      selected: NetworkScene.clocks.firstIndex(of: settings.roomClock))
    counts = ChoiceRow(
      context: context, .counts, [context.text(.countsNot), context.text(.countsRated)],
      selected: settings.networkRated ? 1 : 0)
    side = ChoiceRow(
      context: context, .roomSide, [context.text(.eitherSide), context.text(.playX), context.text(.playO)],
      selected: NetworkScene.sides.firstIndex(of: settings.roomSide))
    code = FieldRow(context: context, .roomCode, limit: 32, intent: Intent.joinRoom(code:))
    super.init(context: context)
    code.gapAfter = 0.6
    (game.gapAfter, clock.gapAfter) = (0.5, 0.5)
    game.onSelect = { [unowned(unsafe) self] in
      settings.game = Variant.allCases[$0]
      contentChanged()
      reopenRoom()
    }
    roomClock.onSelect = { [unowned(unsafe) self] in
      settings.roomClock = NetworkScene.clocks[$0]
      reopenRoom()
    }
    clock.onSelect = { [unowned(unsafe) self] in
      settings.networkClock = NetworkScene.clocks[$0]
      contentChanged()
    }
    counts.onSelect = { settings.networkRated = $0 == 1 }
    side.onSelect = { settings.roomSide = NetworkScene.sides[$0] }
    setFooter([
      (.connect, .connect(address: "")), (.registerName, .registerName("")), (.playBot, .acceptBot),
      (.join, .joinRoom(code: "")), (.disconnect, .leave), (.back, .back),
    ])
    fill()
  }

  private func reopenRoom() { if context.pages.network.phase.isRoom { send(.openRoom) } }

  private func line(_ phrase: Phrase) -> TextRow { TextRow(context: context, context.text(phrase), italic: true) }

  private func entry(_ phrase: Phrase, _ intent: Intent) -> ContentsRow { entry(context.text(phrase), intent) }

  /// Reuses a row with the same content: a pressed row must still exist when it is released.
  private func entry(_ title: String, key: Phrase? = nil, _ intent: Intent, subtitle: String? = nil) -> ContentsRow {
    let fresh = ContentsRow(
      context: context, title: title, key: key.map(context.text) ?? "", intent: intent, subtitle: subtitle)
    let rows = column.rows.lazy.compactMap { $0 as? ContentsRow }
    let row = rows.first { ($0.title, $0.key, $0.intent, $0.subtitle) == (title, fresh.key, intent, subtitle) } ?? fresh
    row.gapAfter = 0
    return row
  }

  private func fill() {
    for row in [clock, roomClock] where row.options != NetworkScene.clockNames(context) {
      row.options = NetworkScene.clockNames(context)
    }
    let network = context.pages.network
    let message = network.message.map { TextRow(context: context, $0.text(in: context.language), faint: false) }
    let rows: [PageRow] =
      switch network.phase {
      // A message replaces the introduction, so that the rows below do not move.
      case .offline: (message == nil ? [line(.networkIntro)] : []) + offlineRows(network)
      case .connecting: [line(.connecting)]
      case .lobby: lobbyRows(network)
      case .queued: queueRows(network)
      case .room(let code): roomRows(code, network)
      case .playing: [line(.inMatch)]
      }
    column.set((message.map { [$0] } ?? []) + rows)
    showFoot(network)
  }

  private func offlineRows(_ network: NetworkModel) -> [PageRow] {
    var rows: [PageRow] = context.services.isPage ? [] : [entry(.host, .host)]
    rows += network.nearby.map { room in
      entry(room.name, key: .join, .joinNearby(address: room.address, code: room.code), subtitle: room.address)
    }
    rows.last?.gapAfter = 0.8
    return rows + (context.services.isPage ? [name, token] : [address, name, token])
  }

  private func lobbyRows(_ network: NetworkModel) -> [PageRow] {
    var rows: [PageRow] = []
    if let you = network.you {
      let rating = you.isGuest ? context.text(.guest) : "\(you.rating(in: context.settings.game))"
      rows.append(
        TextRow(
          context: context, "\(context.text(.lobby)) \(context.text(.youAre)) \(you.name) (\(rating)).", italic: true))
    }
    rows += [game, clock]
    // Guests have no rating, and only matches with clocks are rated.
    if network.you?.isGuest == false, context.settings.networkClock != "none" { rows.append(counts) }
    rows.last?.gapAfter = 0.8
    rows += [
      entry(.quickMatch, .quickMatch), entry(.openRoom, .openRoom), side, code,
      line(network.matches.isEmpty ? .noMatches : .matches),
    ]
    return rows
      + network.matches.prefix(50).map { match in
        entry(match.title.text(in: context.language), key: .watchMatch, .watch(id: match.id))
      }
  }

  private func queueRows(_ network: NetworkModel) -> [PageRow] {
    let time = network.waited.map { " " + PlayersView.minutes($0) } ?? ""
    let count = network.matches.count
    return [
      TextRow(context: context, context.text(.queued) + time, italic: true),
      count == 0 ? line(.noMatches) : TextRow(context: context, "\(context.text(.matches)): \(count)", italic: true),
    ]
  }

  private func roomRows(_ code: String, _ network: NetworkModel) -> [PageRow] {
    func centred(_ text: String, size: Double = 1, faint: Bool = true) -> TextRow {
      let row = TextRow(context: context, text, faint: faint, size: size)
      row.alignment = .center
      return row
    }
    var rows: [PageRow] = [line(.roomIs), centred(code, size: 3, faint: false)]
    var words: [(Phrase, Intent)] = [(.copy, .copyText(code))]
    if context.services.share != nil { words.append((.share, .shareRoom(code: code))) }
    rows.append(WordsRow(context: context, words))
    if let link = context.services.address?("r/\(code)") ?? network.hostPage.map({ "\($0)r/\(code)" }) {
      rows.append(centred(link))
      if let picture = QRCode(link) { rows.append(QRRow(context: context, picture)) }
    }
    if let host = network.hostAddress {
      rows.append(TextRow(context: context, context.text(.hostIs) + " " + host))
    }
    return rows + [game, roomClock]
  }

  private func showFoot(_ network: NetworkModel) {
    for button in footerButtons {
      switch button.intent {
      case .connect: button.isHidden = network.phase != .offline
      case .joinRoom: button.isHidden = network.phase != .lobby
      case .registerName: button.isHidden = network.phase != .lobby || network.you?.isGuest != true
      case .acceptBot:
        if case .queued(let bots) = network.phase { button.isHidden = bots == 0 } else { button.isHidden = true }
      case .leave:
        button.isHidden = network.phase == .offline
        switch network.phase {
        case .queued: button.title = context.text(.stopWaiting)
        case .room: button.title = context.text(.closeRoom)
        default: button.title = context.text(.disconnect)
        }
      default: break
      }
    }
  }

  /// For screen readers: an error, the room's code, or that an opponent is being sought.
  private var news: String? {
    if let message = context.pages.network.message { return message.text(in: context.language) }
    switch context.pages.network.phase {
    // The spaces make a screen reader spell the code.
    case .room(let code): return "\(context.text(.roomIs)) \(code.map { String($0) }.joined(separator: " "))"
    case .queued: return context.text(.queued)
    default: return nil
    }
  }

  override func contentChanged() {
    // If the focused row was replaced, move the focus to the new row with the same label.
    let focused = context.focus?.accessibilityLabel
    fill()
    relay()
    if !focusOrder.contains(where: { $0 === context.focus }) {
      context.moveFocus(to: column.rows.first { $0.isClickable && $0.accessibilityLabel == focused } ?? initialFocus)
    }
    // Announce the news after moving the focus: the announcement of the focused control would interrupt the news.
    if news != said {
      said = news
      context.announce(said)
    }
  }

  /// The address that in a browser stands for the web page's own server.
  private static let ownServer = "localhost"

  private static func clockNames(_ context: ViewContext) -> [String] {
    ([context.pages.network.usualClock] + clocks.dropFirst()).map(context.clockName)
  }

  /// A footer button sends an intent without text, such as `joinRoom("")`: complete the intent with the texts of the fields.
  override func receive(_ intent: Intent) -> Bool {
    switch intent {
    case .connect(let text, let secret):
      context.settings.name = name.text
      let wanted = text.isEmpty ? context.services.isPage ? NetworkScene.ownServer : address.text : text
      let entered = token.text
      guard !wanted.isEmpty, text.isEmpty || secret != entered else { return false }
      token.clear()
      return send(.connect(address: wanted, token: entered))
    case .joinRoom(""): return !code.text.isEmpty && send(.joinRoom(code: code.text))
    case .registerName(""):
      return send(.registerName(name.text.isEmpty ? context.pages.network.you?.name ?? "" : name.text))
    default: return false
    }
  }
}
