import Base

extension ScorePage {
  package var svg: String {
    var svg = """
      <svg xmlns="http://www.w3.org/2000/svg" width="\(number(width))" height="\(number(height))" viewBox="0 0 \(number(width)) \(number(height))">
      <rect width="100%" height="100%" fill="#fbf8f1"/>

      """
    for shape in shapes { svg += element(shape) + "\n" }
    return svg + "</svg>\n"
  }

  private func element(_ shape: Shape) -> String {
    switch shape {
    case .line(let x1, let y1, let x2, let y2, let width, let grey):
      return
        "<line x1=\"\(number(x1))\" y1=\"\(number(y1))\" x2=\"\(number(x2))\" y2=\"\(number(y2))\" stroke=\"\(colour(grey))\" stroke-width=\"\(number(width))\"/>"
    case .ellipse(let x, let y, let rx, let ry, let turn, let isFilled, let grey):
      let paint =
        isFilled ? "fill=\"\(colour(grey))\"" : "fill=\"none\" stroke=\"\(colour(grey))\" stroke-width=\"1.7\""
      let place = turn == 0 ? "" : " transform=\"rotate(\(number(turn)) \(number(x)) \(number(y)))\""
      return
        "<ellipse cx=\"\(number(x))\" cy=\"\(number(y))\" rx=\"\(number(rx))\" ry=\"\(number(ry))\" \(paint)\(place)/>"
    case .curve(let points, let width, let grey):
      let path = points.enumerated().map { index, point in
        (index == 0 ? "M" : index % 3 == 1 ? "C" : "") + "\(number(point[0])) \(number(point[1]))"
      }
      return
        "<path d=\"\(path.joined(separator: " "))\" fill=\"none\" stroke=\"\(colour(grey))\" stroke-width=\"\(number(width))\" stroke-linecap=\"round\"/>"
    case .text(let x, let y, let size, let text, let isItalic, let isCentered, let grey):
      return
        "<text x=\"\(number(x))\" y=\"\(number(y))\" font-family=\"EB Garamond, Georgia, serif\" font-variant-numeric=\"lining-nums\" font-size=\"\(number(size))\" fill=\"\(colour(grey))\"\(isItalic ? " font-style=\"italic\"" : "")\(isCentered ? " text-anchor=\"middle\"" : "")>\(escapedMarkup(text))</text>"
    }
  }

  private func number(_ x: Double) -> String {
    let text = fixed(x, 2)
    return text.hasSuffix(".00") ? String(text.dropLast(3)) : text
  }

  private func colour(_ grey: Double) -> String {
    let byte = String(Int(grey * 255), radix: 16).paddedLeft(to: 2, with: "0")
    return "#\(byte)\(byte)\(byte)"
  }
}
