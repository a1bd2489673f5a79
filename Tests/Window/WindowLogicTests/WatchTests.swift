import ClientModel
import MatchProtocol
import Testing
import TicTacToe

@testable import WindowLogic

extension TableTests {
  @Test("those who are let watch come by the match's link, with the code of its room, and go on to the next game")
  func watchers() throws {
    let m = TestWindow.m
    var window = TestWindow()
    window.want(.connect(address: "127.0.0.1:4664"))
    window.online()
    #expect(window.want(.shareMatch).contains(.refuse))
    window.step(.network(.room(m, code: "ABC234", expiresIn: 9), nil))
    window.start()
    #expect(window.want(.shareMatch) == [.share("w/\(m)/ABC234")])
    // A match of the queue is for everybody.
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
}
