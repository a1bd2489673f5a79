import Interface

/// The page of settings; every change holds at once and is kept.
final class SettingsScene: PageScene {
  override var title: String { context.text(.settings) }
  override var columnWidth: Double { 30 }
  override var mayHaveTwoColumns: Bool { true }

  override init(context: ViewContext) {
    super.init(context: context)
    let settings = context.settings
    func choice<T: Equatable>(
      _ caption: Phrase, _ options: [(T, String)], _ value: T, _ apply: @escaping (T) -> Void
    ) -> ChoiceRow {
      let row = ChoiceRow(
        context: context, caption: context.text(caption), options: options.map { $0.1 },
        selected: options.firstIndex { $0.0 == value } ?? 0)
      row.gapAfter = 0.5
      row.onSelect = { apply(options[$0].0) }
      return row
    }
    func percent(_ value: Double) -> String { value == 0 ? context.text(.off) : "\(Int((value * 100).rounded())) %" }
    func slider(
      _ caption: Phrase, _ value: Double, _ range: ClosedRange<Double>, _ step: Double,
      _ describe: @escaping (Double) -> String, _ apply: @escaping (Double) -> Void
    ) -> SliderRow {
      let row = SliderRow(
        context: context, caption: context.text(caption), value: value, in: range, step: step, describe: describe,
        onChange: apply)
      row.gapAfter = 0.5
      return row
    }
    let themeNames: [String: Phrase] = ["light": .themeLight, "dark": .themeDark, "contrast": .themeContrast]
    let names = context.services.soundDevices()
    let isKnown = settings.device.isEmpty || names.contains(settings.device)
    // A device that is unplugged stays chosen, so that it plays again when it is back.
    let devices =
      [("", context.text(.deviceStandard))] + (names + (isKnown ? [] : [settings.device])).map { ($0, $0) }
    column.isCentered = false
    let deviceRow = choice(.device, devices, settings.device) { settings.device = $0 }
    deviceRow.isHidden = context.services.isPage
    let grandIsElsewhere = TextRow(context: context, context.text(.grandElsewhere), italic: true)
    grandIsElsewhere.isHidden = !context.services.isPage
    column.set([
      choice(.theme, context.themes.map { ($0.name, themeNames[$0.name].map(context.text) ?? $0.name) }, settings.theme)
      {
        settings.theme = $0
      },
      choice(.language, Language.allCases.map { ($0, $0.name) }, settings.language) { settings.language = $0 },
      choice(
        .textSize, [0.75, 0.9, 1, 1.25, 1.5, 1.75, 2].map { ($0, "\(Int($0 * 100)) %") }, settings.textScale
      ) { settings.textScale = $0 },
      choice(
        .motion, [(false, context.text(.motionFull)), (true, context.text(.motionReduced))], settings.reducedMotion
      ) { settings.reducedMotion = $0 },
      choice(
        .screenSize, [(false, context.text(.window)), (true, context.text(.fullScreen))], settings.fullScreen
      ) { settings.fullScreen = $0 },
      choice(.strip, [(true, context.text(.shown)), (false, context.text(.hidden))], settings.showsStrip) {
        settings.showsStrip = $0
      },
      slider(.volume, settings.volume, 0...1, 0.05, percent) { settings.volume = $0 },
      slider(.drone, settings.drone, 0...1, 0.05, percent) { settings.drone = $0 },
      slider(.preview, settings.preview, 0...1, 0.05, percent) { settings.preview = $0 },
      slider(.pace, settings.pace, 0.7...1.3, 0.05, { "\(Int(($0 * 100).rounded())) %" }) { settings.pace = $0 },
      slider(.tuning, settings.a4, 415...466, 1, { "\(Int($0)) Hz" }) { settings.a4 = $0 },
      choice(
        .piano, context.pianos.map { ($0, context.text($0 == .modal ? .pianoModal : .pianoGrand)) }, context.piano
      ) { settings.piano = $0 },
      grandIsElsewhere,
      choice(.scoreRules, context.scoreRuleChoices, settings.scoreRules) { settings.scoreRules = $0 },
      deviceRow,
      choice(
        .reply, [(Reply.musical, context.text(.replyMusical)), (.immediate, context.text(.replyImmediate))],
        settings.reply
      ) { settings.reply = $0 },
      choice(
        .background,
        [
          (BackgroundSound.full, context.text(.backgroundFull)), (.drone, context.text(.backgroundDrone)),
          (.silent, context.text(.backgroundSilent)),
        ], settings.background
      ) { settings.background = $0 },
      choice(.coordinates, [(true, context.text(.shown)), (false, context.text(.hidden))], settings.coordinates) {
        settings.coordinates = $0
      },
      choice(
        .explain, [(true, context.text(.explainFirst)), (false, context.text(.explainNever))], settings.explains
      ) { settings.explains = $0 },
      choice(
        .filmShape,
        [
          (FilmShape.wide, context.text(.filmWide)), (.square, context.text(.filmSquare)),
          (.upright, context.text(.filmUpright)),
        ], settings.filmShape
      ) { settings.filmShape = $0 },
    ])
    setFoot([
      TextButton(context: context, title: context.text(.easings), intent: .show(.easings)),
      TextButton(context: context, title: context.text(.back), intent: .back),
    ])
  }
}

extension ViewContext {
  /// The score rules that can be chosen, as options; a file of the player's own is called by its name.
  var scoreRuleChoices: [(String, String)] {
    let titles: [String: Phrase] = ["score": .title, "morning": .scoreMorning, "night": .scoreNight]
    let chosen = settings.scoreRules
    let names = pages.scoreRules + (pages.scoreRules.contains(chosen) ? [] : [chosen])
    return names.map { name in
      (name, titles[name].map(text) ?? name.split(separator: "/").last.map(String.init) ?? name)
    }
  }
}
