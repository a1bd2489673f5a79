import ClientModel
import Interface
import MatchProtocol
import Testing
import TicTacToe

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
