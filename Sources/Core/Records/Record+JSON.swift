import Base
import TicTacToe

extension Record {
  /// One line without the line feed; empty members are omitted.
  package var jsonLine: String {
    var members = JSONObject()
    let named = JSONObject(fields: tags.map { .init(name: $0.name, value: .string($0.value)) })
    members.add("tags", tags.isEmpty ? nil : .object(named))
    members.add("rules", game.variant.isImplied ? nil : .string(game.variant.rawValue))
    members.add("start", game.isFromStart ? nil : .string(game.startState.notation))
    members.add("moves", .string(game.cells.map { game.variant.name(of: $0) }.joined()))
    members.add("result", .string(resultToken))
    members.add("termination", game.end.map { .string($0.termination.rawValue) })
    members.add("drawOffer", game.drawOffer.map { .string($0.text) })
    func addColumn(_ name: String, _ value: (MoveTimes) -> Int64?) {
      let values = game.cells.indices.map { value(times(ofMove: $0)).map { JSON.int($0) } ?? .null }
      members.add(name, values.allSatisfy { $0 == .null } ? nil : .array(values))
    }
    addColumn("emt") { $0.elapsed }
    addColumn("clk") { $0.clock }
    addColumn("frame") { $0.frame }
    members.add("startFrame", startFrame.map { .int($0) })
    members.add("endFrame", endFrame.map { .int($0) })
    let kept = bars.prefix(game.cells.count + 1)
    members.add(
      "bars", kept.allSatisfy { $0.isEmpty } ? nil : .array(kept.map { .array($0.map { .int($0) }) }))
    let remarks = comments.map { JSON.array([.int($0.ply), .string($0.text)]) }
    members.add("comments", remarks.isEmpty ? nil : .array(remarks))
    return JSON.object(members).text
  }

  /// Reads a record from one line of JSON, also from an arena's file, whose members `x`, `o` and `game` become the tags `White`, `Black`
  /// and `Round`. Unknown members are ignored.
  ///
  /// - Parameters:
  ///   - line: The line's number in its file, for errors.
  ///   - variants: The accepted variants; a game of any other variant is an error.
  ///   - rules: The variant of a line without the member `rules`, as in an arena's file.
  package init(
    jsonLine text: String, line: Int = 1, variants: [Variant] = [.classic], rules: Variant = .classic
  ) throws(NotationError) {
    do {
      try self.init(json: JSON(text), variants: variants, rules: rules)
    } catch {
      throw NotationError(line: line + error.line - 1, column: error.column, message: error.message)
    }
  }

  package init(
    json: JSON, variants: [Variant] = [.classic], rules: Variant = .classic
  ) throws(NotationError) {
    guard json.object != nil else { throw refuse("a game is a JSON object") }
    guard let moves = json["moves"]?.string else { throw refuse("member 'moves' must be a string like \"b2a1\"") }
    // Converts the line to the PGN-like text, so that the same checks apply. Their errors name tags; errors found here name JSON members.
    var text = ""
    var variant = rules
    if let value = json["rules"] {
      guard let named = value.string.flatMap({ Variant(rawValue: $0) }) else {
        throw refuse("member 'rules' must be \(Variant.names)")
      }
      variant = named
    }
    if !variant.isImplied { text += "[Variant \"\(variant.title)\"]" }
    for (name, key) in [("White", "x"), ("Black", "o")] {
      if let value = json[key]?.string { text += "[\(name) \"\(Record.escaped(value))\"]" }
    }
    if let value = json["game"]?.int { text += "[Round \"\(value)\"]" }
    if let tags = json["tags"] {
      guard let fields = tags.object?.fields else { throw refuse("member 'tags' must be an object") }
      for field in fields {
        guard let value = field.value.string, Record.isTagName(field.name), !Record.derivedTags.contains(field.name)
        else {
          throw refuse("tag \(quoted(field.name)) must be a string and not follow from the game")
        }
        text += "[\(field.name) \"\(Record.escaped(value))\"]"
      }
    }
    for (name, key) in [("FEN", "start"), ("Termination", "termination"), ("DrawOffer", "drawOffer")] {
      guard let value = json[key] else { continue }
      guard let string = value.string else { throw refuse("member '\(key)' must be a string") }
      // The arena writes this termination for games that it adjudicated; a record needs only their result.
      if key == "termination", string == "adjudication" { continue }
      text += "[\(name) \"\(Record.escaped(string))\"]"
    }
    let squares = Array(moves.utf8)
    guard squares.count % 2 == 0 else { throw refuse("'moves' must be pairs like \"b2a1\"") }
    for index in stride(from: 0, to: squares.count, by: 2) {
      let name = String(decoding: squares[index..<index + 2], as: UTF8.self)
      guard variant.cell(named: name) != nil else {
        throw refuse("\(quoted(name)) in 'moves' is not a cell (\(variant.cellRange))")
      }
      text += " \(name)"
    }
    guard let result = json["result"]?.string, Record.results.contains(where: { $0.token == result }) else {
      throw refuse("member 'result' must be 1-0, 0-1, 1/2-1/2 or *")
    }
    do {
      try self.init(text: "\(text) \(result)", variants: variants)
    } catch {
      // In a game adjudicated by `alina-arena run --ending boards`, the side with more boards wins although the rules call a draw. The
      // record has the draw.
      guard json["termination"]?.string == "adjudication",
        let drawn = try? Record(text: "\(text) 1/2-1/2", variants: variants), drawn.game.end?.termination == .normal
      else { throw refuse(error.message) }
      self = drawn
    }
    try readColumns(json)
  }

  private mutating func readColumns(_ json: JSON) throws(NotationError) {
    func column(_ name: String, limit: Int64) throws(NotationError) -> [Int64?]? {
      guard let value = json[name] else { return nil }
      let values = value.array?.map { $0 == .null ? nil : ($0.int64 ?? -1) }
      guard let values, values.count == game.cells.count,
        values.allSatisfy({ $0.map { (0...limit).contains($0) } ?? true })
      else { throw refuse("member '\(name)' must hold a number 0–\(limit) or null for each of the moves") }
      return values
    }
    let elapsed = try column("emt", limit: Limit.milliseconds)
    let clock = try column("clk", limit: Limit.milliseconds)
    let frames = try column("frame", limit: Limit.frame)
    times = game.cells.indices.map {
      MoveTimes(elapsed: elapsed?[$0], clock: clock?[$0], frame: frames?[$0])
    }
    func frame(_ name: String) throws(NotationError) -> Int64? {
      guard let value = json[name] else { return nil }
      guard let number = value.int64, (0...Limit.frame).contains(number) else {
        throw refuse("member '\(name)' must be a number 0–\(Limit.frame)")
      }
      return number
    }
    (startFrame, endFrame) = (try frame("startFrame"), try frame("endFrame"))
    if let value = json["bars"] {
      let rows = value.array?.map { row in row.array?.compactMap { $0.int } ?? [-1] }
      guard let rows, rows.count <= game.cells.count + 1,
        rows.allSatisfy({ $0.count <= Limit.bars && $0.allSatisfy { (0...Limit.candidate).contains($0) } }),
        zip(rows, value.array ?? []).allSatisfy({ $0.count == $1.array?.count })
      else { throw refuse("member 'bars' must hold a list of candidate numbers for each ply") }
      bars = rows
    }
    if let value = json["comments"] {
      guard let pairs = value.array else { throw refuse("member 'comments' must be a list of [ply, text]") }
      for pair in pairs {
        guard let parts = pair.array, parts.count == 2, let ply = parts[0].int,
          let text = parts[1].string
        else { throw refuse("member 'comments' must be a list of [ply, text]") }
        try addComment(text, ply: ply)
      }
    }
  }
}

private func refuse(_ message: String) -> NotationError { NotationError(column: 1, message: message) }
