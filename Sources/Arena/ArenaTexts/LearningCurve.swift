import Arena

package struct LearningCurve {
  private let points: [MenaceTraining.Point]

  package init(_ training: MenaceTraining) { points = training.curve }

  private func x(_ games: Int) -> Double {
    let (low, high) = (points.first?.games ?? 0, points.last?.games ?? 1)
    return 60 + 520 * Double(games - low) / Double(max(1, high - low))
  }

  private func y(_ score: Double) -> Double { 350 - 310 * score }

  private func number(_ value: Double) -> String {
    let tenths = Int((value * 10).rounded())
    return "\(tenths / 10).\(abs(tenths % 10))"
  }

  private func line(_ score: (MenaceTraining.Point) -> Double, _ color: String) -> String {
    let path = points.map { "\(number(x($0.games))),\(number(y(score($0))))" }.joined(separator: " ")
    return "<polyline fill=\"none\" stroke=\"\(color)\" stroke-width=\"2\" points=\"\(path)\"/>\n"
  }

  package var svg: String {
    var out = """
      <svg xmlns="http://www.w3.org/2000/svg" width="720" height="400" viewBox="0 0 720 400" font-family="serif" \
      font-size="14" fill="#222">
      <rect width="720" height="400" fill="#f7f2e7"/>
      <text x="60" y="26">menace: exact mean score over both seats</text>\n
      """
    for percent in stride(from: 0, through: 100, by: 25) {
      let height = number(y(Double(percent) / 100))
      out += "<line x1=\"60\" x2=\"580\" y1=\"\(height)\" y2=\"\(height)\" stroke=\"#bbb\" stroke-width=\"0.7\"/>\n"
      out += "<text x=\"52\" y=\"\(height)\" text-anchor=\"end\" dominant-baseline=\"middle\">\(percent) %</text>\n"
    }
    out += line(\.againstRandom, "#1f5f8b") + line(\.againstPerfect, "#a03c2a")
    if let first = points.first, let last = points.last {
      for games in [first.games, (first.games + last.games) / 2, last.games] {
        out += "<text x=\"\(number(x(games)))\" y=\"374\" text-anchor=\"middle\">\(games)</text>\n"
      }
      out += "<text x=\"588\" y=\"\(number(y(last.againstRandom)))\" fill=\"#1f5f8b\">against random</text>\n"
      out += "<text x=\"588\" y=\"\(number(y(last.againstPerfect)))\" fill=\"#a03c2a\">against perfect</text>\n"
    }
    return out + "<text x=\"320\" y=\"393\" text-anchor=\"middle\">games</text>\n</svg>\n"
  }
}
