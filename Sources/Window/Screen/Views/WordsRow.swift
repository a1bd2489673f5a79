import Interface

/// Pressable words between the rows of a page, in centred lines.
final class WordsRow: PageRow {
  let words: [TextButton]

  init(context: ViewContext, _ words: [(Phrase, Intent)]) {
    self.words = words.map { TextButton(context: context, $0.0, $0.1) }
    super.init(context: context)
    for word in self.words { add(word) }
  }

  override func arrange(x: Double, y: Double, width: Double) -> Double {
    let height = -TextButton.arrangeInRows(words, width: width, midX: x + width / 2, bottom: 0)
    _ = TextButton.arrangeInRows(words, width: width, midX: x + width / 2, bottom: y + height)
    frame = Rect(x, y, width, height)
    return height
  }
}
