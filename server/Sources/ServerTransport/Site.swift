import Base
import Foundation
import MatchStore
import NIOCore
import NIOHTTP1
import Processes
import Synchronization

/// The files of the game page, which `scripts/web` makes. All are in memory, so that no request reaches the disk or leaves the folder.
package final class Site: Sendable {
  private struct File {
    var type: String
    /// Whether the name contains a hash of the content, so that browsers may cache the file for ever.
    var isLasting: Bool
    /// The content in each coding, with an ETag; at the key `nil` the uncompressed content.
    var bodies: [String?: (tag: String, bytes: ByteBuffer)] = [:]
  }

  private static let types = [
    "html": "text/html; charset=utf-8", "css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8",
    "json": "application/json", "webmanifest": "application/manifest+json",
    "txt": "text/plain; charset=utf-8",
    "wasm": "application/wasm", "woff2": "font/woff2", "png": "image/png", "svg": "image/svg+xml",
  ]
  /// The codings of compressed copies, best first.
  private static let codings = [("br", "br"), ("gzip", "gz")]
  /// Only scripts, styles and modules of this server may run; no requests to other hosts; no other page may embed this page.
  private static let policy =
    "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; object-src 'none'; base-uri 'none'; "
    + "form-action 'none'; frame-ancestors 'none'"

  private let place: @Sendable () -> String?
  private let files = Mutex<[String: File]>([:])

  /// Throws a one-line error if the page is not in the folder.
  package init(folder: String) throws(StoreError) {
    place = { folder }
    try reload()
  }

  /// Finds the folder beside the program. If the page is not built yet, `reload` finds it later.
  package init() {
    place = Site.find
    try? reload()
  }

  package var isThere: Bool { files.withLock { !$0.isEmpty } }

  /// Throws a one-line error if the page is missing, and keeps the old files.
  package func reload() throws(StoreError) {
    guard let folder = place() else { throw .unusable("the game page is not built: run scripts/web") }
    var files: [String: File] = [:]
    let root = URL(filePath: folder).resolvingSymlinksInPath().path
    for path in FileManager.default.subpaths(atPath: root) ?? [] {
      // Only the build writes into v/, so all of its files are public; other folders may contain private files.
      let (ending, isLasting) = ((path as NSString).pathExtension, path.hasPrefix("v/"))
      let isCoded = Site.codings.contains { $0.1 == ending }
      guard let type = Site.types[ending] ?? (isLasting && !isCoded ? "application/octet-stream" : nil),
        let data = Site.read(root + "/" + path)
      else { continue }
      var file = File(type: type, isLasting: isLasting)
      let tag = SHA256.hash(Array(data)).hex.prefix(32)
      file.bodies[nil] = ("\"\(tag)\"", ByteBuffer(bytes: data))
      for (coding, ending) in Site.codings {
        guard let data = Site.read("\(root)/\(path).\(ending)") else { continue }
        file.bodies[coding] = ("\"\(tag)-\(ending)\"", ByteBuffer(bytes: data))
      }
      files[path] = file
    }
    guard files["index.html"] != nil else { throw .unusable("\(folder) has no page: scripts/web makes it") }
    self.files.withLock { $0 = files }
  }

  private static func read(_ path: String) -> Data? {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), !isFolder.boolValue else { return nil }
    return FileManager.default.contents(atPath: path)
  }

  /// The folder of the page: beside this program, in the build, or in the installed files.
  @Sendable private static func find() -> String? {
    ["/web", "/../../../.build-web/page", "/../share/alina/web"].map { Installation.folder + $0 }
      .first { FileManager.default.fileExists(atPath: $0 + "/index.html") }
  }

  /// `nil` if the path does not belong to the page.
  func answer(_ request: HTTPRequest) -> HTTPReply? {
    let path = request.path.joined(separator: "/")
    // A link such as `/w/MATCH` redirects to `#/w/MATCH`: the page reads only the fragment, so its files are the same on any host. A link
    // to a room's match also contains the room's code.
    let words = request.path.dropFirst().compactMap {
      $0.addingPercentEncoding(withAllowedCharacters: .alphanumerics.union(.init(charactersIn: "-_")))
    }
    if request.path.first == "l", words.count == 1, let preview = LetterPreview(link: words[0]) {
      var reply = HTTPReply(type: "text/html; charset=utf-8")
      reply.text = preview.page
      reply.headers = ["cache-control": "no-cache", "content-security-policy": "default-src 'none'"]
      return reply
    }
    if let kind = request.path.first, ["r", "w", "g", "l", "t"].contains(kind),
      words.count == 1 || words.count == 2 && kind == "w"
    {
      var reply = HTTPReply(status: .found)
      let home = words.map { _ in "../" }.joined()
      reply.headers = ["location": "\(home)#/\(kind)/\(words.joined(separator: "/"))", "cache-control": "no-cache"]
      return reply
    }
    let name = path.isEmpty ? "index.html" : path
    guard let file = files.withLock({ $0[name] }), let plain = file.bodies[nil] else { return nil }
    let wanted = request.headers[canonicalForm: "accept-encoding"].map { $0.filter { $0 != " " }.lowercased() }
    let coding = Site.codings.map(\.0).first { coding in
      file.bodies[coding] != nil
        && wanted.contains { $0 == coding || $0.hasPrefix(coding + ";") && !$0.hasSuffix(";q=0") }
    }
    let body = file.bodies[coding] ?? plain
    var reply = HTTPReply(type: file.type)
    reply.headers = [
      "etag": body.tag, "vary": "accept-encoding",
      "cache-control": file.isLasting ? "public, max-age=31536000, immutable" : "no-cache",
      "content-security-policy": Site.policy,
    ]
    // Tells the page that this server answers the links of letters (`/l/…`).
    if name == "index.html" { reply.headers.add(name: "server-timing", value: "alina") }
    if request.headers[canonicalForm: "if-none-match"].contains(where: { $0 == body.tag || $0 == "W/" + body.tag }) {
      reply.status = .notModified
      return reply
    }
    if let coding { reply.headers.add(name: "content-encoding", value: coding) }
    reply.bytes = body.bytes
    return reply
  }
}
