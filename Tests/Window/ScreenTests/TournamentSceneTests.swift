import Interface
import Testing
import TicTacToe

@testable import Screen

@Suite struct TournamentSceneTests {
  private func screen(_ model: TournamentModel?, width: Int = 1_280) -> (screen: RootScreen, log: IntentLog) {
    let screen = Samples.screen()
    let log = IntentLog()
    screen.onIntent = { if case .tournament = $0 { log.intents.append($0) } }
    screen.pages.tournament = model
    screen.draw(width: width, height: 720, at: 0)
    screen.show(.tournament)
    screen.handle([], at: 1)
    return (screen, log)
  }

  private final class IntentLog { var intents: [Intent] = [] }

  private func press(_ phrase: Phrase, _ screen: RootScreen) throws {
    let control = try #require(screen.accessible().first { $0.name == phrase.text(in: .english) }, "\(phrase)")
    screen.activate(control.id, at: 2)
  }

  @Test func `two presses make a tournament with the usual clock and length of the game`() throws {
    let (screen, log) = screen(nil)
    try press(.tournamentMake, screen)
    #expect(log.intents == [.tournament(.make(name: "Tournament", clock: "20+1", minutes: 10))])
    screen.pages.network.tournamentClock = "180+2"
    screen.pages.network.tournamentMinutes = 40
    try press(.tournamentMake, screen)
    #expect(log.intents.last == .tournament(.make(name: "Tournament", clock: "180+2", minutes: 40)))
  }

  @Test func `a link's page offers only to join, with the player's name, which is saved`() throws {
    let (screen, log) = screen(nil)
    screen.pages.network = NetworkModel()
    screen.pages.linkedTournament = "K7Q2XD"
    screen.handle([], at: 2)
    let names = screen.accessible().map(\.name)
    #expect(names.contains("Your name") && !names.contains("Create tournament"))
    try press(.tournamentEnter, screen)
    #expect(log.intents == [.tournament(.enter(code: "K7Q2XD"))])
  }

  @Test func `a screen reader reads each row: place, name, points, a win that counts double, a pause`() {
    let (screen, _) = screen(Samples.tournament(.running))
    let words = screen.accessible(hidden: true).filter { $0.role == "paragraph" }.map(\.name)
    #expect(words.contains("Place 1: guest-Player-1, points: 57, next win counts double"))
    #expect(words.contains("Place 7: guest-Player-7, points: 39, paused"))
  }

  @Test func `the organiser takes a player out by two presses`() throws {
    let (screen, log) = screen(Samples.tournament(.running, isOrganiser: true))
    let row = try #require(screen.accessible(hidden: true).first { $0.name.hasPrefix("Place 3:") })
    screen.activate(row.id, at: 2)
    screen.handle([], at: 3)
    try press(.tournamentRemove, screen)
    #expect(log.intents == [.tournament(.remove(name: "guest-Player-3"))])
  }

  @Test func `the organiser lets a player in again by two presses, and sets the start in the form`() throws {
    var model = Samples.tournament(.running, isOrganiser: true)
    var row = TournamentModel.Row()
    (row.number, row.place, row.name, row.status) = (40, 0, "guest-Player-40", .removed)
    model.removed = [row]
    let (screen, log) = screen(model)
    let out = try #require(screen.accessible(hidden: true).first { $0.name == "guest-Player-40, removed" })
    screen.activate(out.id, at: 2)
    screen.handle([], at: 3)
    try press(.tournamentAdmit, screen)
    #expect(log.intents == [.tournament(.admit(name: "guest-Player-40"))])
    let (form, made) = self.screen(nil)
    let choice = try #require(form.accessible(hidden: true).first { $0.name == "Start: in 15 min" })
    form.activate(choice.id, at: 2)
    try press(.tournamentMake, form)
    #expect(made.intents == [.tournament(.make(name: "Tournament", clock: "20+1", minutes: 10, startsIn: 15))])
  }

  @Test func `the remaining time changes one line and moves no other row`() throws {
    let (screen, _) = screen(Samples.tournament(.running))
    let page = try #require(screen.topScene as? TournamentScene)
    let before = page.column.rows
    screen.pages.tournament?.remaining = 59
    #expect((page.column.rows.first as? TextRow)?.text == "Time left: 0:59")
    #expect(zip(before, page.column.rows).allSatisfy { $0 === $1 } && before.count == page.column.rows.count)
  }

  @Test func `a new phase is spoken once, and the end only by its message`() {
    let (screen, _) = screen(Samples.tournament(.running))
    var spoken: [String] = []
    screen.onSpeak = { spoken.append($0) }
    screen.handle([], at: 2)
    spoken = []
    screen.pages.tournament?.phase = .ending
    screen.handle([], at: 3)
    #expect(spoken.count { $0.hasPrefix("The time is up") } == 1)
    screen.pages.tournament?.phase = .over
    screen.handle([], at: 4)
    #expect(!spoken.contains { $0.hasPrefix("The tournament is over") })
  }

  @Test func `on a wide page the first three players stand in the column of the link at the end`() throws {
    let (screen, _) = screen(Samples.tournament(.running, isOrganiser: true), width: 1_920)
    func x(_ place: Int) throws -> Int {
      try #require(screen.accessible(hidden: true).first { $0.name.hasPrefix("Place \(place):") }).place.x
    }
    #expect(try x(1) == x(4))
    screen.pages.tournament?.phase = .over
    screen.handle([], at: 2)
    #expect(try x(1) == x(3) && x(3) < x(4))
    // In a narrow window the first three players stand in the column of the other players.
    screen.draw(width: 500, height: 900, at: 3)
    #expect(try x(1) == x(4))
  }

  @Test(arguments: [2, 13, 31, 60])
  func `a projector shows the whole table, in letters as large as the number of players allows`(players: Int) throws {
    var model = Samples.tournament(.running, isOrganiser: true)
    model.rows = (1...players).map { place in
      var row = model.rows[0]
      (row.number, row.place, row.name) = (place, place, "guest-Player-\(place)")
      return row
    }
    let (screen, _) = screen(model)
    screen.draw(width: 1_920, height: 1_080, at: 2)
    let column = try #require(screen.topScene as? TournamentScene).column
    #expect(column.contentHeight <= column.frame.height + 0.5)
    let letters = column.rows[0].frame.height / column.frame.height
    #expect(letters > (players <= 13 ? 0.06 : players <= 31 ? 0.05 : 0.04))
  }

  @Test func `each phase of a tournament offers the actions that are possible in it`() {
    func words(_ phase: TournamentModel.Phase, isOrganiser: Bool = false) -> Set<String> {
      Set(screen(Samples.tournament(phase, isOrganiser: isOrganiser)).screen.accessible().map(\.name))
    }
    #expect(words(.waiting, isOrganiser: true).contains("Start") && !words(.waiting).contains("Start"))
    #expect(words(.running).isSuperset(of: ["Pause", "Watch the top game", "Leave tournament", "Save table"]))
    #expect(words(.running, isOrganiser: true).contains("End tournament"))
    #expect(words(.over, isOrganiser: true).contains("Save games") && !words(.over).contains("Save games"))
    #expect(words(.over).isDisjoint(with: ["Pause", "Join", "End tournament", "Start"]))
  }

  @Test func `the whole status of a player stands between a long name and the points`() {
    let screen = Samples.screen()
    var row = TournamentModel.Row()
    (row.name, row.status) = ("guest-Wolfeschlegelstein", .paused)
    let view = StandingRow(context: screen.context, row)
    for width in [200.0, 280, 900] {
      view.frame = Rect(20, 0, width, 30)
      let place = view.statusPlace ?? Rect(0, 0, 0, 0)
      #expect(place.width > 20 && place.maxX <= view.frame.maxX - 3.9 * screen.context.metrics.em, "\(width)")
    }
  }

  private func playing(_ width: Int, _ height: Int) throws -> RootScreen {
    let screen = Samples.screen()
    var model = Samples.online()
    model.online?.draw = .nobody
    let mine = try #require(Samples.tournament(.running).mine)
    model.tournament = .init(mine, isWaiting: false)
    screen.model = model
    screen.pages.tournament = Samples.tournament(.running)
    screen.draw(width: width, height: height, at: 0)
    return screen
  }

  @Test func `on a phone a swipe to the left opens the table, and one to the right leads back to the board`() throws {
    let screen = try playing(390, 844)
    var plays = 0
    screen.onIntent = { if case .play = $0 { plays += 1 } }
    func swipe(from: Double, to: Double, y: Double, over way: Double = 0) {
      screen.handle([.pointerDown(x: from, y: y, isTouch: true), .pointerMoved(x: to, y: y + way)], at: 1)
      screen.handle([.pointerUp(x: to, y: y + way, isTouch: true), .pointerLeft], at: 1)
      screen.draw(width: 390, height: 844, at: 2)
    }
    for y in [420.0, 120] {
      swipe(from: 200, to: 350, y: y)
      swipe(from: 200, to: 130, y: y)
      swipe(from: 300, to: 150, y: y, over: 120)
      #expect(screen.currentScene == .board, "neither to the right, nor short, nor steep")
      swipe(from: 300, to: 150, y: y)
      #expect(screen.currentScene == .tournament)
      swipe(from: 300, to: 150, y: y)
      #expect(screen.currentScene == .tournament)
      swipe(from: 150, to: 300, y: y)
      #expect(screen.currentScene == .board && plays == 0)
    }
    screen.pages.tournament = nil
    swipe(from: 300, to: 150, y: 420)
    #expect(screen.currentScene == .board)
  }

  @Test func `beside a wide board stand the time, the first players and this player, also beside a watched game`()
    throws
  {
    let screen = try playing(1_280, 720)
    func words() -> [String] { screen.accessible(hidden: true).filter { $0.role == "paragraph" }.map(\.name) }
    #expect(words().contains("Time left: 7:32") && words().contains { $0.hasPrefix("Place 1: ") })
    #expect(screen.accessible(hidden: true).contains { $0.role == "textbox" }, "the chat is below")
    let few = words().count { $0.hasPrefix("Place ") }
    screen.pages.tournament?.rows.swapAt(1, 19)
    screen.pages.tournament?.remaining = 59
    for (index, _) in Samples.tournament(.running).rows.enumerated() {
      screen.pages.tournament?.rows[index].place = index + 1
    }
    screen.handle([], at: 1)
    #expect(words().contains("Time left: 0:59") && words().contains { $0.hasPrefix("Place 20: guest-Player-2,") })
    screen.model.online = OnlineModel(you: nil)
    screen.draw(width: 1_280, height: 720, at: 2)
    #expect(words().count { $0.hasPrefix("Place ") } > few)
    screen.pages.tournament = nil
    screen.draw(width: 1_280, height: 720, at: 3)
    #expect(!words().contains { $0.hasPrefix("Place ") })
  }

  @Test func `the board shows place and points, and one press opens the table`() throws {
    let screen = try playing(1_280, 720)
    screen.handle([], at: 2)
    #expect(screen.context.statusText().detail == "Place 2 · points: 54")
    // An aborted game may have paused the player. The status then also says why the game ended.
    screen.model.online = OnlineModel(you: .x)
    screen.model.tournament?.row.status = .paused
    screen.model.game.finish(GameEnd(outcome: nil, termination: .abandoned))
    screen.handle([], at: 3)
    #expect(screen.context.statusText().detail == "no first move was made in time · Place 2 · points: 54 · paused")
    try press(.tournament, screen)
    #expect(screen.currentScene == .tournament)
  }
}
