import Interface
import Records
import Screen
import Session
import TicTacToe

/// The options of one run, from the command line or the page's URL.
package struct LaunchOptions {
  package var seed: UInt64
  package var rulesName: String
  package var rules: ScoreRulesProvider.Loaded
  /// `nil` for the opponent of the last game.
  package var opponent: Seat?
  /// `nil` for X if an opponent is named, else for the side of the last game.
  package var side: Player?
  /// `nil` for the variant of the last game.
  package var variant: Variant?
  /// Whether games are saved in the player's folder, and learning opponents learn from the games there.
  package var keepsGames = true
  /// Whether a game that was unfinished when the program last ended is resumed.
  package var mayResume = true
  /// Sets settings that apply to this run only.
  package var overrides: (Settings) -> Void = { _ in }

  package init(seed: UInt64, rulesName: String, rules: ScoreRulesProvider.Loaded) {
    (self.seed, self.rulesName, self.rules) = (seed, rulesName, rules)
  }

  fileprivate func setup(remembered settings: Settings) -> GameSetup {
    let opponent = opponent ?? Seat(argument: settings.opponent) ?? .level(3)
    let side = side ?? (self.opponent == nil && settings.side == "o" ? .o : .x)
    let setup = side == .o ? GameSetup(x: opponent, o: .human) : GameSetup(x: .human, o: opponent)
    return setup.playing(variant ?? settings.game)
  }
}

extension App {
  package convenience init(_ machine: AppEnvironment, _ opening: LaunchOptions) {
    let services = machine.services
    var setup = opening.setup(remembered: Settings(services: services))
    let workers: GameSession.Workers = { services.inBackground($0) }
    let session = GameSession(
      seed: opening.seed, rules: opening.rules.rules, participants: setup.participants(), sound: machine.sound.port,
      workers: services.isPage ? nil : workers)
    session.rulesReference = opening.rules.reference
    let folder = services.dataFolder()
    let store =
      opening.keepsGames && !folder.isEmpty
      ? GameStore(folder: folder + "/games", files: services.files) : nil
    var damage: GameStore.Damaged?
    var unfinished: (name: String, record: Record)?
    if opening.mayResume, let store {
      do throws(GameStore.Damaged) { unfinished = try store.unfinished() } catch { damage = error }
    }
    if let record = unfinished?.record {
      setup = GameSetup(
        x: Seat(recordName: record[player: .x]), o: Seat(recordName: record[player: .o]), variant: record.game.variant)
      setup.clockSeconds = record.clockSeconds
    }
    self.init(
      machine, session, setup: setup, store: store, rulesName: opening.rulesName, seed: opening.seed,
      resuming: unfinished,
      overrides: { settings in
        opening.overrides(settings)
        if let variant = opening.variant { settings.game = variant }
      })
    session.seat(library.participants(of: setup, learning: opening.keepsGames))
    if unfinished == nil { session.set(setup.variant) }
    if unfinished != nil { screen.say("\(.gameResumed)") }
    if let damage { screen.say("\(.setAside, Message(damage.path), Message(damage.aside))") }
    if opening.keepsGames, folder.isEmpty { screen.say("\(.nothingKept)") }
  }
}
