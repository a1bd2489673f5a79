import GameScore
import Records
import ScoreModel
import Tintinnabuli

@testable import Session

/// The environment of a session. The test sets its clock.
final class Bench {
  var now = Tick.zero
  /// This window's time when the match starts.
  var start = Tick.zero
  var posted: [[ScoreEvent]] = []
  var late: [LateBatch] = []
  /// Called after each look at the clock, so that a test can advance the clock while a bar is composed.
  var duringCompose: (() -> Void)?

  lazy var port = SoundPort(
    now: { [unowned self] in
      defer { duringCompose?() }
      return now
    },
    post: { [unowned self] in if !$0.isEmpty { posted.append($0) } },
    takeLate: { [unowned self] in
      defer { late = [] }
      return late
    },
    lead: .milliseconds(50))

  func session(x: Participant, o: Participant, seed: UInt64 = 1) -> GameSession {
    GameSession(seed: seed, rules: rules, participants: Participants(x: x, o: o), sound: port) { $0() }
  }

  /// Time advances in the steps of the window's loop.
  func pass(_ session: GameSession, seconds: Double) {
    let end = now + .seconds(seconds)
    while now < end {
      now = now + .milliseconds(20)
      session.advance()
    }
  }

  var rules: ScoreRules { testRules }
}

let person = Participant.human(name: "you")
