import Interface
import TicTacToe

final class ContentsScene: PageScene {
  override var title: String { context.text(.menu) }
  override var columnWidth: Double { 26 }

  override init(context: ViewContext) {
    super.init(context: context)
    let services = context.services
    // Devices with touch usually have no keyboard.
    let hasKeys = services.leastTarget == 0
    let controls = context.model.menuControls(isPage: services.isPage, canShare: services.share != nil)
    column.set(
      controls.map {
        ContentsRow(
          context: context, title: context.text($0.phrase), key: hasKeys ? context.keyName($0.key) : "",
          intent: $0.intent,
          subtitle: $0.subtitle.map(context.text))
      })
    setFooter([(.back, .back)])
  }
}

extension ViewContext {
  /// As printed on the reader's keyboard, such as `Strg` in German.
  func keyName(_ key: String) -> String { key.replacing("Ctrl", by: text(.controlKey)) }
}
