import Interface
import Testing
import TicTacToe

@testable import Screen

@Suite("Problems that users found")
struct UseTests {
  private func rows<Row: PageRow>(_ screen: RootScreen, _ page: SceneName, width: Int = 1_280) -> [Row] {
    screen.draw(width: width, height: 720, at: 0)
    screen.show(page)
    screen.handle([], at: 1)
    return (screen.topScene as? PageScene)?.column.rows.compactMap { $0 as? Row } ?? []
  }

  @Test("singular and plural are right in every language")
  func plural() {
    let heads: [(Language, String, String)] = [
      (.english, "1 game", "2 games"), (.german, "1 Spiel", "2 Spiele"), (.french, "1 partie", "2 parties"),
    ]
    #expect(heads.map { $0.0 } == Language.allCases)
    for (language, one, two) in heads {
      let screen = Samples.screen()
      screen.settings.language = language
      for (wins, head) in [(1, one), (2, two)] {
        screen.pages.statistics[.classic] = StatisticsModel(
          asX: Tally(wins: wins), results: Array(repeating: 1, count: wins))
        screen.show(.board)
        let texts: [TextRow] = rows(screen, .statistics)
        #expect(texts.first?.text.split(separator: ":").first?.hasPrefix(head) == true, "\(texts.first?.text ?? "")")
        #expect(texts.first?.text.dropFirst(head.count).first?.isLetter == false)
      }
    }
  }

  @Test("a caption is in the column of its control, at every page width", arguments: [1_280, 1_920, 3_840])
  func captions(width: Int) throws {
    let all: [PageRow] = rows(Samples.screen(), .statistics, width: width)
    for (above, row) in zip(all, all.dropFirst()) where above.keepsWithNext {
      #expect(row.frame.x >= above.frame.x - 1 && row.frame.maxX <= above.frame.maxX + 1)
    }
    #expect(all.contains { $0 is MelodyRow })
  }

  @Test("German pages have German numbers and key names")
  func german() {
    let screen = Samples.screen()
    screen.settings.language = .german
    var words: [String] = []
    screen.onSpeak = { words.append($0) }
    for page in SceneName.allCases {
      let texts: [TextRow] = rows(screen, page)
      words += texts.flatMap { [$0.text] + $0.others }
      words += screen.accessible().flatMap { [$0.name, $0.state] }
    }
    #expect(words.contains { $0.contains("86,1\u{A0}%") } && words.contains { $0.contains("Strg") })
    for text in words {
      #expect(!text.contains("Ctrl"))
      // German writes a comma, not a point, in a percentage.
      let digits = text.split(separator: "%").dropLast().flatMap { $0.split(separator: " ").suffix(1) }
      #expect(!digits.contains { $0.contains(".") }, "\(text)")
    }
  }

  @Test("the turn and the result are shown large, and people are not said to be thinking")
  func whoseMove() {
    let screen = Samples.screen()
    func status(_ moves: [Int], _ setup: GameSetup) -> (main: String, detail: String, isLarge: Bool) {
      screen.model = Samples.model(moves, setup: setup)
      screen.model.isThinking = !screen.model.game.isOver && moves.count % 2 == 1 && !setup.o.isRemote
      screen.handle([], at: 1)
      return screen.context.statusText()
    }
    let bram = GameSetup(x: .human, o: .level(3))
    let ida = GameSetup(x: .human, o: .remote(name: "Ida"))
    #expect(status([4, 0], bram) == ("Your move", "", true))
    #expect(status([4], bram) == ("Bram is thinking", "", false))
    #expect(status([4], ida).main == "Waiting for Ida")
    #expect(status([4, 1, 0, 8, 6, 2, 3], bram).isLarge)
    var online = OnlineModel(you: .x)
    online.isOffline = true
    screen.model = Samples.model([4], setup: ida)
    screen.model.online = online
    screen.handle([], at: 2)
    #expect(screen.context.statusText().main == "Connection lost")
    // The loser gets the control "See why", which leads to the review.
    let lost = Samples.model([4, 1, 0, 8, 6, 2, 3], setup: GameSetup(x: .level(3), o: .human))
    #expect(lost.footerControls(unread: 0).contains { $0.isThere && $0.phrase == .seeWhy })
  }

  @Test("screen readers get texts and disabled controls too; the list of controls has only enabled ones")
  func reading() {
    let screen = Samples.screen()
    screen.model = Samples.model([4, 0])
    screen.show(.board)
    screen.draw(width: 800, height: 600, at: 0)
    let all = screen.accessible(hidden: true)
    #expect(all.contains { $0.role == "paragraph" && $0.name == "Your move" })
    #expect(all.contains { $0.role == "button" && $0.name == "Redo" && $0.state == "disabled" })
    #expect(screen.accessible().allSatisfy { $0.role != "paragraph" && $0.state != "disabled" })
    screen.show(.statistics)
    screen.draw(width: 800, height: 600, at: 1)
    #expect(
      screen.accessible(hidden: true).contains { $0.role == "paragraph" && $0.name == "Pip: 9 won, 2 drawn, 0 lost" })
    screen.show(.help)
    screen.draw(width: 800, height: 600, at: 2)
    #expect(screen.accessible(hidden: true).contains { $0.role == "paragraph" && $0.name == screen.text(.helpIntro) })
  }

  @Test("today's board shows its goal and its outcome, and offers no hint or analysis")
  func today() {
    let screen = Samples.screen()
    func status(_ moves: [Int], _ today: TodayModel) -> (main: String, detail: String, isLarge: Bool) {
      screen.model = Samples.model(moves, setup: GameSetup(x: .human, o: .perfect))
      screen.model.today = today
      screen.handle([], at: 1)
      return screen.context.statusText()
    }
    #expect(status([4, 0], .init(moves: 2, isSolved: false, streak: 0)) == ("Your move", "win in 2 moves", true))
    #expect(status([4, 0], .init(moves: nil, isSolved: false, streak: 0)).detail == "hold a draw")
    #expect(!screen.model.mayHelp)
    let isOver = [4, 1, 0, 8, 6, 2, 3]
    #expect(status(isOver, .init(moves: 2, isSolved: true, streak: 3)) == ("Solved", "streak in days: 3", true))
    #expect(screen.model.footerControls(unread: 0).contains { $0.isThere && $0.intent == .shareToday })
    #expect(status(isOver, .init(moves: nil, isSolved: false, streak: 3)).main == "Not solved")
    #expect(screen.model.footerControls(unread: 0).contains { $0.isThere && $0.phrase == .tryAgain })
    #expect(status([4, 0], .init(moves: 0, isSolved: false, streak: 0)).detail == "", "a goal that was missed")
    screen.model = Samples.infinite
    screen.model.today = .init(moves: 3, isSolved: false, streak: 0)
    screen.handle([], at: 2)
    #expect(screen.context.statusText().detail == "Infinite: win in 3 moves")
  }

  @Test("the picture of today's board has its position and text", arguments: Variant.allCases)
  func card(variant: Variant) {
    let screen = Samples.screen()
    func picture(_ state: VariantState, goal: String) -> [UInt8] {
      let buffer = PixelBuffer(width: 300, height: 300)
      screen.draw(DayCard(date: "", title: "Alina", goal: goal, result: "Solved", state: state), into: buffer.bitmap)
      return buffer.png()
    }
    let start = VariantState(startOf: variant)
    var state = start
    _ = state.play(Cell(4))
    let card = picture(state, goal: "X, win in 2 moves")
    #expect(card == picture(state, goal: "X, win in 2 moves"))
    #expect(card != picture(start, goal: "X, win in 2 moves") && card != picture(state, goal: "X, hold a draw"))
  }

  @Test("an unavailable control is dimmed in its place", arguments: [[], [4, 0], [4, 0, 8]])
  func dimmed(moves: [Int]) {
    var model = Samples.model(moves)
    let all = model.footerControls(unread: 0)
    model.canUndo = false
    model.acceptsMove = false
    model.canRedo = true
    let other = model.footerControls(unread: 0)
    #expect(all.filter { $0.isThere }.map { $0.intent } == other.filter { $0.isThere }.map { $0.intent })
    #expect(all.map { $0.isUsable } != other.map { $0.isUsable })
  }

  @Test("spectators are told that the sound needs a touch, and everybody that the server is lost")
  func firstTouch() {
    let screen = Samples.screen()
    screen.model = Samples.model([])
    var online = OnlineModel(you: nil)
    func detail(waits: Bool) -> String {
      screen.model.soundWaits = waits
      screen.model.online = online
      screen.handle([], at: 1)
      return screen.context.statusText().detail
    }
    #expect(detail(waits: true).contains("start the sound") && detail(waits: false).contains("watching"))
    online.isOffline = true
    #expect(detail(waits: true) == detail(waits: false))
  }

  @Test("the field for opening a file by its path starts empty")
  func path() {
    let fields: [FieldRow] = rows(Samples.screen(), .games)
    #expect(fields.map { $0.text } == [""])
  }

  @Test("a saved game shows its actions and is renamed in place")
  func savedGames() throws {
    let screen = Samples.screen()
    let log = IntentLog()
    log.attach(to: screen)
    let _: [PageRow] = rows(screen, .games)
    let path = try #require(screen.pages.games.dropFirst().first?.path)
    let scene = try #require(screen.topScene as? GamesScene)
    func all() -> [PageRow] { scene.column.rows }
    #expect(scene.receive(.chooseGame(path: path)))
    let place = try #require(all().firstIndex { ($0 as? GameRow)?.entry.path == path })
    let words = try #require(all()[place + 1] as? WordsRow)
    #expect(words.words.contains { $0.intent == .deleteGame(path: path) } && words.words[0].isFocused)
    #expect(scene.receive(.nameGame(path: path)))
    let field = try #require(all()[place + 1] as? FieldRow)
    #expect(field.isFocused && field.typed("A cold start"))
    #expect(field.key(.enter, []) && log.intents.last == .renameGame(path: path, name: "A cold start"))
    screen.pages.games[1].name = "A cold start"
    screen.handle([], at: 3)
    #expect(
      all().allSatisfy { !($0 is WordsRow) }
        && (all().compactMap { $0 as? GameRow }[1].accessibilityLabel ?? "").hasPrefix("A cold start,"))
  }

  @Test("the new-game page does not move when a player is picked")
  func newGame() throws {
    let screen = Samples.screen()
    let all: [PageRow] = rows(screen, .newGame, width: 480)
    let opponents = try #require(all.compactMap { $0 as? ChoiceRow }.dropFirst().first)
    let places = all.map { $0.frame }
    for index in opponents.options.indices {
      opponents.select(index)
      screen.handle([], at: 2)
      (screen.topScene as? PageScene)?.column.layout()
      #expect(all.map { $0.frame } == places, "\(opponents.options[index])")
    }
  }

  @Test("the listening mode has no resignation and keeps the chosen opponent")
  func listening() throws {
    let screen = Samples.screen()
    screen.pages.offered = GameSetup(x: .human, o: .level(2))
    screen.model = Samples.model([4, 0], setup: GameSetup(x: .level(5), o: .level(6)))
    let lines: [ContentsRow] = rows(screen, .contents)
    #expect(lines.contains { $0.intent == .stopListening } && !lines.contains { $0.intent == .resign })
    let all: [ChoiceRow] = rows(screen, .newGame)
    #expect(all.dropFirst().first.map { $0.options[$0.selected] } == screen.name(of: .level(2)))
  }
}
