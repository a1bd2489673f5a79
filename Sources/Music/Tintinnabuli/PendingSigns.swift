import ScoreModel

/// The signs of a piece that a cut kept from being heard; also the signs and the long note of the last event's bar.
struct PendingSigns: Sendable {
  /// The name of a sign that a later bar has to play, and the voice whose event caused the sign.
  struct PendingSign: Sendable, Hashable {
    var sign: String
    var voice: Voice
  }

  /// The last event's bar: at the next event `collectCutSigns` finds which of its signs the cut kept from being heard.
  struct Said: Sendable {
    var start: Tick
    var onsets: [Tick]
    /// The long note of M in the last bar.
    var goal: Note?
    /// The bar's signs with their voices, and the pairs on which they sound.
    var signs: [(sign: PendingSign, pair: Int)]
  }

  private(set) var pending: [PendingSign] = []
  private(set) var said: Said?
  /// The time between the start of the last long note that was heard and the last event.
  private(set) var sinceLongNote = Tick.zero

  /// Makes pending the signs of the last bar that the cut at `moment` keeps from being heard. `elapsed` is the time since the last bar's
  /// start by a match's log; `nil` outside matches. Returns the sounding bar's long note if the cut keeps it from being heard.
  mutating func collectCutSigns(
    at moment: Tick, elapsed: Tick?, _ book: ScoreBook, isMatch: Bool, short: Double, _ rules: ScoreRules
  ) -> Note? {
    // A note counts as heard after `gestures.heard` seconds, and as a long note after twice the length of the quickest short note.
    let (heard, long) = (Tick.seconds(rules.gestures.heard), Tick.seconds(2 * rules.bars.quickest))
    var cutNote: Note?
    var sinceLongNote = Tick.zero
    func hear(_ note: Note, for sounded: Tick, byAll: Bool = true) {
      if sounded < heard { cutNote = note } else if byAll, sounded >= long { sinceLongNote = sounded }
    }
    if let said {
      let elapsed = elapsed ?? moment - said.start
      sinceLongNote = self.sinceLongNote + elapsed
      for (sign, pair) in said.signs where pair < said.onsets.count && said.onsets[pair] + heard > elapsed {
        pending.append(sign)
      }
      if let goal = said.goal { hear(goal, for: elapsed - goal.onset) }
      // Listeners of a match hear different echoes, so a match assumes that an echo's long note was heard at the earliest possible time.
      if isMatch { sinceLongNote = min(sinceLongNote, .seconds(short * Double(rules.bars.long) + rules.echoes.after)) }
      self.said = nil
    }
    let begun = [book.current, book.previous].compactMap { $0 }.first { $0.written.bar.start <= moment }
    if let bar = begun?.written.bar, [.echo, .phrase, .sentence].contains(bar.kind), begun?.cut == nil,
      let note = bar.pairs.last?.m
    {
      hear(note, for: moment - bar.start - note.onset, byAll: !isMatch)
    }
    self.sinceLongNote = sinceLongNote
    return rules.gestures.resolve > 0 ? cutNote : nil
  }

  /// Puts the first pending sign into a plan, and makes the event's further signs pending.
  mutating func scheduleNext(_ plan: inout BarPlan, _ signs: [SignRule], _ rules: ScoreRules) {
    let covered = Set(plan.sign.covers)
    let isDraw = plan.sign.when.contains(.draw)
    let due = rules.signs.first { sign in
      // A sign waits if the bar's own sign equals or covers it: listeners could not tell the two apart. A covered awakening waits only in a
      // draw.
      let waits = sign.name == plan.sign.name || (covered.contains(sign.name) && (sign.awakenM == nil || isDraw))
      return pending.contains { $0.sign == sign.name } && !waits
    }
    // The second pair can play one sign: if T leaves the triad there for the bar's own sign, a pending sign waits.
    if let due, plan.count > 2 || plan.ply > 1, plan.awakensAt != 1 {
      plan.pending = pending.first { $0.sign == due.name }.map { (due, $0.voice) }
      pending.removeAll { $0.sign == due.name }
    }
    if plan.sign.when.contains(where: { [.win, .loss, .draw].contains($0) }) {
      pending = []
      return
    }
    var said = covered.union([plan.sign.name])
    for sign in signs.dropFirst() where !sign.when.isEmpty && !said.contains(sign.name) {
      if let voice = plan.voice, !pending.contains(where: { $0.sign == sign.name }) {
        pending.append(PendingSign(sign: sign.name, voice: voice))
      }
      said.formUnion(sign.covers)
    }
  }

  mutating func record(_ plan: BarPlan, _ written: WrittenBar, by voice: Voice) {
    var signs: [(sign: PendingSign, pair: Int)] = []
    if let pending = plan.pending { signs.append((PendingSign(sign: pending.rule.name, voice: pending.voice), 1)) }
    if !plan.sign.when.isEmpty {
      let isSecond = plan.sign.secondPair != nil || plan.awakensAt == 1 && plan.pending?.rule.awakenM == nil
      signs.append((PendingSign(sign: plan.sign.name, voice: voice), isSecond ? 1 : 0))
    }
    said = Said(
      start: written.bar.start, onsets: written.onsets, goal: written.bar.pairs.last?.m, signs: signs)
  }

  mutating func clear() { (pending, said) = ([], nil) }

  /// Corrects the start of the last bar, which the synthesizer began late.
  mutating func shift(from start: Tick, to frame: Tick) { if said?.start == start { said?.start = frame } }
}
