extension Record {
  /// The record as one line of JSON, without the line end; members that hold nothing are left out.
  public var jsonLine: String {
    var members: [JSON.Member] = []
    if !tags.isEmpty {
      members.append(.init("tags", .object(tags.map { .init($0.name, .string($0.value)) })))
    }
    if game.start != .start { members.append(.init("start", .string(game.start.notation))) }
    members.append(.init("moves", .string(game.moves.map { $0.square.name }.joined())))
    members.append(.init("result", .string(resultToken)))
    if let end = game.end { members.append(.init("termination", .string(end.termination.rawValue))) }
    if let offer = game.drawOffer { members.append(.init("drawOffer", .string(offer == .x ? "x" : "o"))) }
    addColumn("emt", game.moves.map { $0.elapsed }, to: &members)
    addColumn("clk", game.moves.map { $0.clock }, to: &members)
    addColumn("frame", game.moves.map { $0.frame }, to: &members)
    if let startFrame { members.append(.init("startFrame", .integer(startFrame))) }
    if let endFrame { members.append(.init("endFrame", .integer(endFrame))) }
    let kept = bars.prefix(game.moves.count + 1)
    if kept.contains(where: { !$0.isEmpty }) {
      members.append(.init("bars", .array(kept.map { .array($0.map { .integer(Int64($0)) }) })))
    }
    if !comments.isEmpty {
      members.append(
        .init("comments", .array(comments.map { .array([.integer(Int64($0.ply)), .string($0.text)]) })))
    }
    return JSON.object(members).text
  }

  private func addColumn(_ name: String, _ values: [Int64?], to members: inout [JSON.Member]) {
    guard values.contains(where: { $0 != nil }) else { return }
    members.append(.init(name, .array(values.map { $0.map { .integer($0) } ?? .null })))
  }

  /// Reads a record from one line of JSON; members it does not know are passed over.
  ///
  /// `line` is the number of the line in its file, for errors. Lines of an arena's file are read too: their `x`, `o`,
  /// and `game` members become the tags `White`, `Black` and `Round`.
  public init(jsonLine text: String, line: Int = 1) throws(NotationError) {
    do {
      try self.init(json: JSON(text))
    } catch {
      throw NotationError(line: line + error.line - 1, column: error.column, message: error.message)
    }
  }

  package init(json: JSON) throws(NotationError) {
    func refuse(_ message: String) -> NotationError { NotationError(column: 1, message: message) }
    guard json.members != nil else { throw refuse("a game is a JSON object") }
    guard let moves = json["moves"]?.string else { throw refuse("member 'moves' must be a string like \"b2a1\"") }
    // The text form is the one gate: what it refuses is refused here, with the member's name for a place.
    var text = ""
    for (name, key) in [("White", "x"), ("Black", "o")] {
      if let value = json[key]?.string { text += "[\(name) \"\(Record.escaped(value))\"]" }
    }
    if let value = json["game"]?.integer { text += "[Round \"\(value)\"]" }
    if let tags = json["tags"] {
      guard let members = tags.members else { throw refuse("member 'tags' must be an object") }
      for member in members {
        guard let value = member.value.string, Record.isTagName(member.key),
          !Record.derivedTags.contains(member.key)
        else {
          throw refuse("tag \(quoted(member.key)) must be a string and not follow from the game")
        }
        text += "[\(member.key) \"\(Record.escaped(value))\"]"
      }
    }
    for (name, key) in [("FEN", "start"), ("Termination", "termination"), ("DrawOffer", "drawOffer")] {
      guard let value = json[key] else { continue }
      guard let string = value.string else { throw refuse("member '\(key)' must be a string") }
      text += "[\(name) \"\(Record.escaped(string))\"]"
    }
    let squares = Array(moves.utf8)
    guard squares.count % 2 == 0 else { throw refuse("'moves' must be pairs like \"b2a1\"") }
    for index in stride(from: 0, to: squares.count, by: 2) {
      let name = String(decoding: squares[index..<index + 2], as: UTF8.self)
      guard Square(name: name) != nil else { throw refuse("\(quoted(name)) in 'moves' is no cell a1–c3") }
      text += " \(name)"
    }
    guard let result = json["result"]?.string, ["1-0", "0-1", "1/2-1/2", "*"].contains(result) else {
      throw refuse("member 'result' must be 1-0, 0-1, 1/2-1/2 or *")
    }
    text += " \(result)"
    do {
      try self.init(text: text)
    } catch {
      throw refuse(error.message)
    }
    try readColumns(json)
  }

  private mutating func readColumns(_ json: JSON) throws(NotationError) {
    func refuse(_ message: String) -> NotationError { NotationError(column: 1, message: message) }
    func column(_ name: String, limit: Int64) throws(NotationError) -> [Int64?]? {
      guard let value = json[name] else { return nil }
      let values = value.array?.map { $0 == .null ? nil : ($0.integer ?? -1) }
      guard let values, values.count == game.moves.count,
        values.allSatisfy({ $0.map { (0...limit).contains($0) } ?? true })
      else { throw refuse("member '\(name)' must hold a number 0–\(limit) or null for each of the moves") }
      return values
    }
    let elapsed = try column("emt", limit: Limit.milliseconds)
    let clock = try column("clk", limit: Limit.milliseconds)
    let frame = try column("frame", limit: Limit.frame)
    game.annotate { index, move in
      move.elapsed = elapsed?[index]
      move.clock = clock?[index]
      move.frame = frame?[index]
    }
    func read(_ name: String, into slot: inout Int64?) throws(NotationError) {
      guard let value = json[name] else { return }
      guard let number = value.integer, (0...Limit.frame).contains(number) else {
        throw refuse("member '\(name)' must be a number 0–\(Limit.frame)")
      }
      slot = number
    }
    try read("startFrame", into: &startFrame)
    try read("endFrame", into: &endFrame)
    if let value = json["bars"] {
      let rows = value.array?.map { row in row.array?.compactMap { $0.integer.flatMap { Int(exactly: $0) } } ?? [-1] }
      guard let rows, rows.count <= game.moves.count + 1,
        rows.allSatisfy({ $0.count <= Limit.bars && $0.allSatisfy { (0...Limit.candidate).contains($0) } }),
        zip(rows, value.array ?? []).allSatisfy({ $0.count == $1.array?.count })
      else { throw refuse("member 'bars' must hold a list of candidate numbers for each ply") }
      bars = rows
    }
    if let value = json["comments"] {
      guard let pairs = value.array else { throw refuse("member 'comments' must be a list of [ply, text]") }
      for pair in pairs {
        guard let parts = pair.array, parts.count == 2, let ply = parts[0].integer.flatMap({ Int(exactly: $0) }),
          let text = parts[1].string
        else { throw refuse("member 'comments' must be a list of [ply, text]") }
        try addComment(text, ply: ply)
      }
    }
  }
}
