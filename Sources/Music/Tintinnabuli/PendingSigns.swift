import ScoreModel

/// The signs of a piece (its musical answers to facts such as a threat) that a cut kept from being heard. Also the signs and the long note
/// of the last event's bar.
struct PendingSigns: Sendable {
  /// The name of a sign that a later bar has to play, and the voice whose event caused the sign.
  struct PendingSign: Sendable, Hashable {
    var sign: String
    var voice: Voice
  }

  /// The last event's bar. From it `collectCutSigns` finds at the next event which signs of this bar were not heard because of the cut, and
  /// whether the long note was heard.
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

  /// Marks as pending the signs (musical answers to facts) of the last bar that the cut at `moment` keeps from being heard. `elapsed` is
  /// the time since the last bar's start by a match's log; `nil` outside matches. If the cut keeps the long note of the sounding bar,
  /// phrase or echo from being heard, returns this note; the next bar plays it in its first pair.
  mutating func collectCutSigns(
    at moment: Tick, elapsed: Tick?, _ book: ScoreBook, isMatch: Bool, short: Double, _ rules: ScoreRules
  ) -> Note? {
    // A note counts as heard once it has sounded for `gestures.heard` seconds. It counts as a long note once it has sounded for twice the
    // length of the quickest short note.
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
      // The long note of an echo counts as heard, too. Listeners of a match hear different echoes, so a match assumes that an echo
      // came at the earliest possible time.
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

  /// Puts the first pending sign (musical answer to a fact) into a plan, and makes the event's further signs pending, for later bars to
  /// play.
  mutating func scheduleNext(_ plan: inout BarPlan, _ signs: [SignRule], _ rules: ScoreRules) {
    let covered = Set(plan.sign.covers)
    let isDraw = plan.sign.when.contains(.draw)
    let due = rules.signs.first { sign in
      // A pending sign waits for a later bar if the bar's own sign equals or covers it, because listeners could not tell the two apart. A
      // pending awakening sounds even if the own sign covers it, except in a draw.
      let waits = sign.name == plan.sign.name || (covered.contains(sign.name) && (sign.awakenM == nil || isDraw))
      return pending.contains { $0.sign == sign.name } && !waits
    }
    // The second pair can play one sign: if T leaves the triad there for the bar's own sign (`awakensAt`), a pending sign waits for
    // a later bar.
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

  /// Records a bar's signs (musical answers to facts) and the pairs on which the signs sound.
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

  /// After the end of the piece, drops all signs that later bars had to play.
  mutating func clear() { (pending, said) = ([], nil) }

  /// Corrects the start of the last bar, which the synthesizer began late.
  mutating func shift(from start: Tick, to frame: Tick) { if said?.start == start { said?.start = frame } }
}
