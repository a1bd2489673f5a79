import Interface
import MatchProtocol
import Testing
import TicTacToe

@testable import ClientModel
@testable import WindowLogic

extension TournamentTests {
  @Test(arguments: [false, true])
  func `a player who leaves a watched match waits on for the next game, unless it was refused`(isRefused: Bool) {
    var window = Self.running()
    window.step(.tick)
    window.step(.network(.queued(waited: 0, bots: 0), nil))
    window.want(.watch(id: TestWindow.m.rawValue))
    window.log(Self.start, you: nil)
    #expect(window.state.mode == .watching(TestWindow.m))
    if isRefused {
      var terms = MatchTerms(clock: TimeControl("20+1"))
      terms.tournament = Self.code
      window.step(.network(.refused(.over, "over", .seek(.init(terms, key: nil))), nil))
    }
    window.want(.leave)
    #expect(window.state.match == nil && window.state.network.phase == (isRefused ? .lobby : .queued(bots: 0)))
    guard !isRefused else { return }
    window.turn(to: .network)
    #expect(window.want(.quickMatch).contains(.refuse))
    #expect(window.want(.leave).contains(Self.order(.pause)) && window.state.network.phase == .lobby)
  }

  @Test func `a player who stops waiting while the connection is lost is asked no game until paused, or refused`() {
    var window = Self.waitingAfterGame()
    window.turn(to: .network)
    window.step(.network(.status(.waiting(milliseconds: 900, reason: .lost)), nil))
    #expect(window.want(.leave).contains(Self.order(.pause)))
    window.now += 5
    window.online()
    // The server has not yet read the order.
    window.step(.network(.tournament(Self.view(.running)), nil))
    window.effects = []
    window.step(.tick)
    #expect(Self.count(window.effects) == 0)
    var refused = window
    refused.step(.network(.refused(.busy, "busy", .tournament(TournamentOrder(.pause, Self.code))), nil))
    refused.step(.tick)
    #expect(Self.count(refused.effects) == 1)
    window.step(.network(.tournament(Self.view(.running, status: .paused)), nil))
    window.step(.network(.tournament(Self.view(.running)), nil))
    window.step(.tick)
    #expect(Self.count(window.effects) == 1)
  }
}
