import ScoreModel

/// The signs and the long note that a piece still owes its listeners.
struct Debts: Sendable {
  /// A sign that is still to be heard, and whose event gave it.
  struct Debt: Sendable, Hashable {
    var sign: String
    var voice: Voice
  }

  /// The bar of the last event, as far as the next one must know it.
  struct Said: Sendable {
    var start: Tick
    var onsets: [Tick]
    /// The long note.
    var goal: Note?
    /// The signs it says, whose they are, and the pairs they are heard on.
    var signs: [(debt: Debt, pair: Int)]
  }

  private(set) var owed: [Debt] = []
  private(set) var said: Said?
  /// How long ago, at the last event, a long note had been heard.
  private(set) var since = Tick.zero

  /// Signs of the last event's bar that had no time to sound are owed. Returns the long note that the cut keeps from being
  /// heard, of that bar, of a phrase or of an echo: the next downbeat resolves it. `elapsed` is the bar's time where a log knows it.
  mutating func collect(
    at moment: Tick, elapsed: Tick?, _ book: ScoreBook, isMatch: Bool, short: Double, _ rules: ScoreRules
  ) -> Note? {
    // A note needs a moment to be heard, what begins just before the cut counts as cut; and two quick ones' time to be long.
    let (heard, long) = (Tick.seconds(rules.gestures.heard), Tick.seconds(2 * rules.bars.quickest))
    var unsaid: Note?
    var since = Tick.zero
    func hear(_ note: Note, for sounded: Tick, byAll: Bool = true) {
      if sounded < heard { unsaid = note } else if byAll, sounded >= long { since = sounded }
    }
    if let said {
      let elapsed = elapsed ?? moment - said.start
      since = self.since + elapsed
      for (debt, pair) in said.signs where pair < said.onsets.count && said.onsets[pair] + heard > elapsed {
        owed.append(debt)
      }
      if let goal = said.goal { hear(goal, for: elapsed - goal.onset) }
      // Echoes are each listener's own: a match goes by when the first must have come.
      if isMatch { since = min(since, .seconds(short * Double(rules.bars.long) + rules.echoes.after)) }
      self.said = nil
    }
    let begun = [book.current, book.previous].compactMap { $0 }.first { $0.written.bar.start <= moment }
    if let bar = begun?.written.bar, [.echo, .phrase, .sentence].contains(bar.kind), begun?.cut == nil,
      let note = bar.pairs.last?.m
    {
      hear(note, for: moment - bar.start - note.onset, byAll: !isMatch)
    }
    self.since = since
    return rules.gestures.resolve > 0 ? unsaid : nil
  }

  /// Takes the owed sign that comes first, and owes what this event says besides its own sign.
  mutating func settle(_ plan: inout BarPlan, _ signs: [SignRule], _ rules: ScoreRules) {
    let covered = Set(plan.sign.covers)
    let isDraw = plan.sign.when.contains(.draw)
    let due = rules.signs.first { sign in
      // The awakening is the one sign a result does not say too; in a draw nothing had awoken.
      let isSaid = sign.name == plan.sign.name || (covered.contains(sign.name) && (sign.awakenM == nil || isDraw))
      return owed.contains { $0.sign == sign.name } && !isSaid
    }
    // The second pair has room for one: where an awakening takes it, debts wait.
    if let due, plan.count > 2 || plan.ply > 1, plan.awakensAt != 1 {
      plan.owed = owed.first { $0.sign == due.name }.map { (due, $0.voice) }
      owed.removeAll { $0.sign == due.name }
    }
    if plan.sign.when.contains(where: { [.win, .loss, .draw].contains($0) }) {
      owed = []
      return
    }
    var said = covered.union([plan.sign.name])
    for sign in signs.dropFirst() where !sign.when.isEmpty && !said.contains(sign.name) {
      if let voice = plan.voice, !owed.contains(where: { $0.sign == sign.name }) {
        owed.append(Debt(sign: sign.name, voice: voice))
      }
      said.formUnion(sign.covers)
    }
  }

  /// Remembers what a bar says, and where in it.
  mutating func say(_ plan: BarPlan, _ written: WrittenBar, by voice: Voice) {
    var signs: [(debt: Debt, pair: Int)] = []
    if let owed = plan.owed { signs.append((Debt(sign: owed.rule.name, voice: owed.voice), 1)) }
    if !plan.sign.when.isEmpty {
      let isSecond = plan.sign.secondPair != nil || plan.awakensAt == 1 && plan.owed?.rule.awakenM == nil
      signs.append((Debt(sign: plan.sign.name, voice: voice), isSecond ? 1 : 0))
    }
    said = Said(
      start: written.bar.start, onsets: written.onsets, goal: written.bar.pairs.last?.m, signs: signs)
  }

  /// Nothing is owed any more: the piece has ended.
  mutating func forgive() { (owed, said) = ([], nil) }

  /// The bar that began at a moment began at another.
  mutating func shift(from start: Tick, to frame: Tick) { if said?.start == start { said?.start = frame } }
}
