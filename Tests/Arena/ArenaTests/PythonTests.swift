import Foundation
import TestSupport
import Testing
import TicTacToe

/// `PYTHON` names an interpreter that has the modules needed by the package's tests.
private enum Python {
  static let interpreter = ProcessInfo.processInfo.environment["PYTHON"] ?? "/usr/bin/python3"

  static func run(_ arguments: [String], engine: String = "") throws -> Child.Output {
    let folder = repository.appending(path: "python").path
    return try Child.run(
      [interpreter] + arguments,
      environment: [
        "ALINA_ARENA": engine, "PYTHONPATH": "\(folder):\(folder)/tests", "PYTHONDONTWRITEBYTECODE": "1",
        "ALINA_OPEN_SPIEL_GAMES": "\(amount("ALINA_OPEN_SPIEL_GAMES", quick: 100, all: 2_000))",
      ])
  }

  static func has(_ modules: String...) -> Bool {
    (try? run(["-c", "import \(modules.joined(separator: ", "))"]))?.status == 0
  }
}

@Suite("The Python package") struct PythonTests {
  private func expectTests(_ name: String) throws {
    let result = try Python.run(["-m", "unittest", name], engine: Support.arena)
    // unittest reports on standard error. If it skips a test, it writes "OK (skipped=1)" instead of "OK".
    #expect(result.status == 0 && result.errors.contains("\nOK\n"), "\(result.errors.suffix(2000))")
  }

  @Test(.enabled(if: Python.has("numpy"), "python3 has no module numpy"))
  func `thousands of games per call follow the rules, and invalid calls are reported`() throws {
    try expectTests("test_environments.BatchTests")
    try expectTests("test_environments.StateTests")
    try expectTests("test_environments.AgentTests")
    try expectTests("test_environments.CodinGameTests")
  }

  @Test(.enabled(if: Python.has("numpy", "gymnasium", "pettingzoo"), "python3 has no gymnasium or no pettingzoo"))
  func `PettingZoo and Gymnasium accept the environments of every game`() throws {
    try expectTests("test_environments.EnvironmentTests")
  }

  @Test(.enabled(if: Python.has("numpy", "pyspiel"), "python3 has no module pyspiel (open_spiel)"))
  func `Ultimate agrees with OpenSpiel`() throws { try expectTests("test_open_spiel.OpenSpielTests") }
}
