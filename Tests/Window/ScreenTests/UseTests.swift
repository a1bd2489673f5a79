import Interface
import Testing
import TicTacToe

@testable import Screen

/// What people stumbled over, page by page.
@Suite("Found by use")
struct UseTests {
  /// The rows of a page of a type, on a screen that was drawn once.
  private func rows<Row: PageRow>(_ screen: RootScreen, _ page: SceneName, width: Int = 1_280) -> [Row] {
    _ = screen.png(width: width, height: 720, at: 0)
    screen.show(page)
    screen.handle([], at: 1)
    return (screen.topScene as? PageScene)?.column.rows.compactMap { $0 as? Row } ?? []
  }

  @Test("one game is a game, two are games, in both languages")
  func plural() {
    for (language, one, two) in [(Language.english, "1 game:", "2 games:"), (.german, "1 Spiel:", "2 Spiele:")] {
      let screen = Samples.screen()
      screen.settings.language = language
      for (wins, head) in [(1, one), (2, two)] {
        screen.pages.statistics = StatisticsModel(asX: Tally(wins: wins), results: Array(repeating: 1, count: wins))
        screen.show(.board)
        let texts: [TextRow] = rows(screen, .statistics)
        #expect(texts.first?.text.hasPrefix(head) == true, "\(texts.first?.text ?? "")")
      }
    }
  }

  @Test("a caption stands in the column of what it names, however broad the page is", arguments: [1_280, 1_920, 3_840])
  func captions(width: Int) throws {
    let all: [PageRow] = rows(Samples.screen(), .statistics, width: width)
    for (above, row) in zip(all, all.dropFirst()) where above.keepsWithNext {
      #expect(row.frame.x >= above.frame.x - 1 && row.frame.maxX <= above.frame.maxX + 1)
    }
    #expect(all.contains { $0 is MelodyRow })
  }

  @Test("German has German numbers and German keys on every page")
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
      // A point between digits of a number of percents.
      let digits = text.split(separator: "%").dropLast().flatMap { $0.split(separator: " ").suffix(1) }
      #expect(!digits.contains { $0.contains(".") }, "\(text)")
    }
  }

  @Test("before the first touch a watcher is told of it, and everybody of a server that is away")
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
    #expect(detail(waits: true).contains("first touch") && detail(waits: false).contains("watching"))
    online.isOffline = true
    #expect(detail(waits: true) == detail(waits: false))
  }

  @Test("the field for another file is empty: there is no folder to open")
  func path() {
    let fields: [FieldRow] = rows(Samples.screen(), .games)
    #expect(fields.map { $0.text } == [""])
  }

  @Test("the page of a new game keeps still, whoever is picked")
  func newGame() throws {
    let screen = Samples.screen()
    let all: [PageRow] = rows(screen, .newGame, width: 480)
    let opponents = try #require(all.first as? ChoiceRow)
    let places = all.map { $0.frame }
    for index in opponents.options.indices {
      opponents.select(index)
      screen.handle([], at: 2)
      (screen.topScene as? PageScene)?.column.layout()
      #expect(all.map { $0.frame } == places, "\(opponents.options[index])")
    }
  }

  @Test("who only listens has nothing to resign, and the one chosen to play against stays chosen")
  func listening() throws {
    let screen = Samples.screen()
    screen.pages.chosenOpponent = .level(2)
    screen.model = Samples.model([4, 0], setup: GameSetup(x: .level(5), o: .level(6)))
    let lines: [ContentsRow] = rows(screen, .contents)
    #expect(lines.contains { $0.intent == .listen } && !lines.contains { $0.intent == .resign })
    let all: [ChoiceRow] = rows(screen, .newGame)
    #expect(all.first.map { $0.options[$0.selected] } == screen.name(of: .level(2)))
  }
}
