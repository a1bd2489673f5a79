import ClientModel
import Interface
import MatchProtocol
import Testing
import TicTacToe

@testable import ClientModel
@testable import WindowLogic

extension TableTests {
  @Test("invited spectators join by the match's link, with its room's code, and follow into the next game")
  func watchers() throws {
    let m = TestWindow.m
    var window = TestWindow()
    window.want(.connect(address: "127.0.0.1:4664"))
    window.online()
    #expect(window.want(.shareMatch).contains(.refuse))
    window.step(.network(.room(m, code: "ABC234", expiresIn: 9), nil))
    window.start()
    #expect(window.want(.shareMatch) == [.share("w/\(m)/ABC234")])
    // A match from the queue is public: its link needs no code.
    var other = TestWindow()
    other.want(.connect(address: "127.0.0.1:4664"))
    other.online()
    other.want(.quickMatch)
    other.start()
    #expect(other.want(.shareMatch) == [.share("w/\(m)")])
    var watcher = TestWindow()
    try watcher.connect(destination: .watch(id: m.rawValue, code: "ABC234"))
    watcher.online()
    watcher.start(you: nil)
    watcher.log(.resign, .o, you: nil)
    watcher.log(.end(.win(.x), .resign, ratings: nil), you: nil)
    watcher.log(.rematch(next: nil), .x, you: nil)
    let next = try #require(MatchID(rawValue: "next"))
    #expect(
      watcher.log(.rematch(next: next), .o, you: nil).contains(.command(.watch(next, code: "ABC234"))))
  }

  @Test func `a spectator who follows the link of a room that is gone watches on, with the code of the watched match`()
    throws
  {
    let m = TestWindow.m
    var watcher = TestWindow()
    try watcher.connect(destination: .watch(id: m.rawValue, code: "ABC234"))
    watcher.online()
    watcher.start(you: nil)
    try watcher.connect(destination: .room(code: "K7Q2XD"))
    watcher.effects = []
    watcher.online()
    #expect(watcher.effects.contains(.command(.watch(m, code: "ABC234"))))
    #expect(watcher.effects.contains(.command(.join("K7Q2XD"))))
    var refused = watcher
    refused.step(.network(.refused(.notFound, "no such match", .watch(m, code: "ABC234")), nil))
    #expect(refused.state.mode == .local)
    watcher.step(.network(.refused(.code, "no room has this code now", .join(code: "K7Q2XD")), nil))
    watcher.step(.network(.state(m), watcher.views[m]))
    watcher.move(4)
    #expect(watcher.state.mode == .watching(m) && watcher.board.game.moves.map(\.index) == [4])
    #expect(watcher.state.place == "w/\(m)/ABC234")
  }

  @Test func `a spectator who enters a match no longer watches the other one`() throws {
    var watcher = TestWindow()
    watcher.want(.connect(address: "127.0.0.1:4664"))
    watcher.online()
    let other = try #require(MatchID(rawValue: "ba9876543210"))
    watcher.want(.watch(id: other.rawValue))
    let players = Sides(
      x: PlayerInfo(name: "Ann", rating: 1_500, guest: false), o: PlayerInfo(name: "Ida", rating: 1_518, guest: false))
    var view = MatchView(state: MatchState(id: other), you: nil)
    let start = MatchEvent(
      at: 0, side: nil, mid: nil,
      .start(players, MatchTerms(clock: .standard), confirm: false, previous: nil, keys: []))
    try view.state.append(start, body: start.body)
    watcher.step(.network(.state(other), view))
    #expect(watcher.state.mode == .watching(other))
    watcher.effects = []
    watcher.start()
    #expect(watcher.state.mode == .online(TestWindow.m) && watcher.effects.contains(.command(.unwatch(other))))
  }

  @Test("spectators of a finished match are shown no time for a rematch")
  func noRematch() throws {
    var watcher = TestWindow()
    watcher.want(.connect(address: "127.0.0.1:4664"))
    watcher.online()
    watcher.want(.watch(id: TestWindow.m.rawValue))
    watcher.start(you: nil)
    watcher.log(.resign, .o, you: nil)
    watcher.log(.end(.win(.x), .resign, ratings: nil), you: nil)
    let model = try #require(watcher.state.online(at: watcher.now, client: 0))
    #expect(model.you == nil && model.rematchIn == nil)
  }

  @Test("late messages do not bring a match that is no longer watched back to the board")
  func unwatched() throws {
    let m = TestWindow.m
    var watcher = TestWindow()
    watcher.want(.connect(address: "127.0.0.1:4664"))
    watcher.online()
    watcher.want(.watch(id: m.rawValue))
    watcher.start(you: nil)
    #expect(watcher.state.mode == .watching(m))
    // `early` leaves before the match's first state arrives.
    var early = TestWindow()
    early.want(.connect(address: "127.0.0.1:4664"))
    early.online()
    early.want(.watch(id: m.rawValue))
    for window in [watcher, early] {
      for intent in [Intent.newGame(GameSetup(x: .human, o: .human)), .today, .listen, .quickMatch] {
        var window = window
        #expect(window.want(intent).contains(.command(.unwatch(m))), "\(intent)")
        let mode = window.state.mode
        if window.views[m] == nil { window.start(you: nil) }
        window.step(.network(.state(m), window.views[m]))
        window.log(.gone, .o, you: nil)
        #expect(window.state.mode == mode && window.state.match == nil, "\(intent)")
      }
    }
  }
}
