import MatchProtocol

/// Cleans text that players typed, before other players see it.
enum ChatText {
  /// No living script puts more than four combining marks (such as accents) on a letter, and more marks would overlap adjacent lines.
  private static let mostMarks = 4

  /// Removes control characters, bidirectional overrides, invisible format characters, and combining marks beyond the first `mostMarks` on
  /// a letter. Keeps the joiners inside emoji sequences: the emoji of a family is a sequence of persons.
  static func cleaned(_ text: String) -> String {
    var result = String.UnicodeScalarView()
    let scalars = text.unicodeScalars
    var marks = 0
    for i in scalars.indices {
      let scalar = scalars[i]
      let category = scalar.properties.generalCategory
      switch category {
      case .nonspacingMark, .enclosingMark, .spacingMark:
        marks += 1
        if marks <= mostMarks { result.append(scalar) }
      case .format where scalar == "\u{200D}" && joins(result.last, scalars[scalars.index(after: i)...].first):
        result.append(scalar)
      case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: continue
      default:
        // A removed character must not reset the count of marks: the letter before it could then keep more than `mostMarks`.
        marks = 0
        result.append(scalar)
      }
    }
    var clean = String(result)
    while clean.first == " " { clean.removeFirst() }
    while clean.last == " " { clean.removeLast() }
    return clean
  }

  /// Whether a zero-width joiner between `before` and `after` joins two emoji.
  private static func joins(_ before: Unicode.Scalar?, _ after: Unicode.Scalar?) -> Bool {
    func isPicture(_ scalar: Unicode.Scalar) -> Bool { scalar.properties.isEmoji && scalar.value > 0xFF }
    guard let before, let after else { return false }
    return (isPicture(before) || before == "\u{FE0F}") && isPicture(after)
  }
}

extension ClientCommand {
  /// The chat line of a `say` or an `emote`. Throws if the player may not send it.
  func chat(in match: LiveMatch) throws(Refusal) -> ServerMessage {
    try requirePlayer(of: match)
    var (text, emote): (String?, String?)
    switch line.message {
    case .say(_, let typed):
      text = ChatText.cleaned(typed)
      guard text?.isEmpty == false else { throw Refusal(.bad, "this text has no visible characters") }
    case .emote(_, let name):
      emote = name
      guard ClientLine.emotes.contains(name) else {
        throw Refusal(.bad, "an emote is one of \(ClientLine.emotes.joined(separator: ", "))")
      }
    default: preconditionFailure("not a command of chat")
    }
    guard !account.muted else { throw Refusal(.muted, "an administrator has muted you") }
    return .chat(match.id, from: account.name, text: text, emote: emote)
  }

  func requirePlayer(of match: LiveMatch) throws(Refusal) {
    guard match.side(of: account.id) != nil else { throw Refusal(.notFound, "you do not play in this match") }
  }
}
