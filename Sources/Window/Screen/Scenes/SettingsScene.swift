import Interface

/// The settings page; each change takes effect and is stored at once.
final class SettingsScene: PageScene {
  override var title: String { context.text(.settings) }
  override var columnWidth: Double { 30 }
  override var mayHaveTwoColumns: Bool { true }

  override init(context: ViewContext) {
    super.init(context: context)
    let settings = context.settings
    /// `shown`: the value in use, if this value differs from the setting.
    func choice<T: SettingValue>(
      _ caption: Phrase, _ options: [(T, String)], _ setting: Setting<T>, shown: T? = nil
    ) -> ChoiceRow {
      let value = shown ?? setting.wrappedValue
      let row = ChoiceRow(
        context: context, caption, options.map { $0.1 }, selected: options.firstIndex { $0.0 == value })
      row.gapAfter = 0.5
      row.onSelect = { setting.wrappedValue = options[$0].0 }
      return row
    }
    func words<T>(_ options: [(T, Phrase)]) -> [(T, String)] { options.map { ($0.0, context.text($0.1)) } }
    func slider(
      _ caption: Phrase, _ setting: Setting<Double>, _ range: ClosedRange<Double>, step: Double = 0.05,
      _ describe: @escaping (Double) -> String
    ) -> SliderRow {
      let row = SliderRow(
        context: context, caption, value: setting.wrappedValue, in: range, step: step, describe: describe,
        onChange: { setting.wrappedValue = $0 })
      row.gapAfter = 0.5
      return row
    }
    func percent(_ value: Double) -> String { "\(Int((value * 100).rounded())) %" }
    func level(_ value: Double) -> String { value == 0 ? context.text(.off) : percent(value) }
    let themeNames: [String: Phrase] = ["light": .themeLight, "dark": .themeDark, "contrast": .themeContrast]
    let names = context.services.soundDevices()
    let isKnown = settings.device.isEmpty || names.contains(settings.device)
    // An unplugged device stays offered and selected.
    let devices =
      [("", context.text(.deviceStandard))] + (names + (isKnown ? [] : [settings.device])).map { ($0, $0) }
    column.isCentered = false
    let deviceRow = choice(.device, devices, settings.$device)
    deviceRow.isHidden = context.services.isPage
    let pianoRow = choice(
      .piano, words(context.pianos.map { ($0, $0 == .modal ? .pianoModal : .pianoGrand) }), settings.$piano,
      shown: context.piano)
    pianoRow.isHidden = context.pianos.count == 1
    let speechRow = choice(.speech, words([(false, .off), (true, .speechOn)]), settings.$speech)
    speechRow.isHidden = !context.services.canSpeak()
    column.set([
      choice(
        .theme, context.themes.map { ($0.name, themeNames[$0.name].map(context.text) ?? $0.name) }, settings.$theme),
      choice(.language, Language.allCases.map { ($0, $0.name) }, settings.$language),
      choice(.textSize, [0.75, 0.9, 1, 1.25, 1.5, 1.75, 2].map { ($0, "\(Int($0 * 100)) %") }, settings.$textScale),
      choice(.motion, words([(false, .motionFull), (true, .motionReduced)]), settings.$reducedMotion),
      choice(.screenSize, words([(false, .window), (true, .fullScreen)]), settings.$fullScreen),
      choice(.strip, words([(true, .shown), (false, .hidden)]), settings.$showsStrip),
      slider(.volume, settings.$volume, 0...1, level),
      choice(.loudness, words([(.even, .loudnessEven), (.concert, .loudnessConcert)]), settings.$loudness),
      slider(.drone, settings.$drone, 0...1, level),
      slider(.preview, settings.$preview, 0...1, level),
      slider(.pace, settings.$pace, 0.7...1.3, percent),
      slider(.tuning, settings.$a4, 415...466, step: 1, { "\(Int($0)) Hz" }),
      pianoRow,
      choice(.scoreRules, context.scoreRuleChoices, settings.$scoreRules),
      ContentsRow(context: context, title: context.text(.ownMusic), intent: .show(.music)),
      deviceRow,
      choice(.reply, words([(.musical, .replyMusical), (.immediate, .replyImmediate)]), settings.$reply),
      choice(
        .background, words([(.full, .backgroundFull), (.drone, .backgroundDrone), (.silent, .backgroundSilent)]),
        settings.$background),
      speechRow,
      choice(.coordinates, words([(true, .shown), (false, .hidden)]), settings.$coordinates),
      choice(.explain, words([(true, .explainFirst), (false, .explainNever)]), settings.$explains),
      choice(
        .filmShape, words([(.wide, .filmWide), (.square, .filmSquare), (.upright, .filmUpright)]),
        settings.$filmShape),
    ])
    setFooter([(.back, .back)])
  }
}

extension ViewContext {
  var scoreRuleChoices: [(String, String)] {
    let titles: [String: Phrase] = ["score": .title, "morning": .scoreMorning, "night": .scoreNight]
    let (chosen, own) = (settings.scoreRules, settings.ownMusic)
    let others = [own, chosen].filter { !$0.isEmpty && !pages.scoreRules.contains($0) }
    let names = pages.scoreRules + (others.count == 2 && own == chosen ? [own] : others)
    return names.map { name in
      (
        name,
        name == own
          ? text(.ownMusic) : titles[name].map(text) ?? name.split(separator: "/").last.map(String.init) ?? name
      )
    }
  }
}
