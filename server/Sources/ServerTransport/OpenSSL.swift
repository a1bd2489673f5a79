import Foundation
import MatchStore
import Processes

/// Creates keys and certificates with the program `openssl`.
enum OpenSSL {
  /// Creates a P-256 key and a self-signed certificate, valid for ten years from an hour ago because clocks differ. Puts the key in place
  /// first, readable by its owner only. On failure throws a one-line error and leaves no files behind.
  static func make(
    name: String, extensions: [String], certificate: String, key: String
  ) throws {
    let folder = (certificate as NSString).deletingLastPathComponent
    // A folder readable by its owner only, so that the key is never exposed.
    var template = (folder + "/.making-XXXXXX").utf8CString.map { $0 }
    guard mkdtemp(&template) != nil else { throw cannot("make a certificate in", folder) }
    let work = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    defer { try? FileManager.default.removeItem(atPath: work) }
    let settings = """
      [req]
      prompt = no
      distinguished_name = name
      [name]
      CN = \(name)
      [ca]
      default_ca = here
      [here]
      database = index
      new_certs_dir = .
      rand_serial = yes
      default_md = sha256
      policy = any
      x509_extensions = extensions
      [any]
      commonName = supplied
      [extensions]
      \(extensions.joined(separator: "\n"))

      """
    let start = Date.now.addingTimeInterval(-3600)
    try settings.write(toFile: work + "/settings", atomically: false, encoding: .utf8)
    try Data().write(to: URL(filePath: work + "/index"))
    try run(
      [
        "req", "-new", "-config", "settings", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
        "-keyout", "key", "-out", "request",
      ], in: work)
    try run(
      [
        "ca", "-batch", "-config", "settings", "-notext", "-in", "request", "-out", "certificate",
        "-startdate", date(start), "-enddate", date(start.addingTimeInterval(86_400 * 3650)), "-selfsign",
        "-keyfile", "key",
      ], in: work)
    for (from, to, mode) in [("key", key, mode_t(0o600)), ("certificate", certificate, 0o644)] {
      guard chmod("\(work)/\(from)", mode) == 0, rename("\(work)/\(from)", to) == 0 else { throw cannot("write", to) }
    }
  }

  private static func cannot(_ what: String, _ path: String) -> StoreError {
    .unusable("cannot \(what) \(path): \(String(cString: strerror(errno)))")
  }

  private static func date(_ date: Date) -> String {
    let text = date.formatted(.iso8601)  // 2026-11-22T10:00:00Z
    return text.filter { $0.isNumber } + "Z"
  }

  /// Runs `openssl` without a shell; throws a one-line error if it is missing or fails.
  private static func run(_ arguments: [String], in folder: String) throws {
    let places = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
    let programs = places.split(separator: ":").map { "\($0)/openssl" }
    guard let program = programs.first(where: { FileManager.default.isExecutableFile(atPath: $0) }) else {
      throw StoreError.unusable("there is no program openssl to make certificates with: install the package openssl")
    }
    let errors = try makePipe()
    defer { close(errors.reading) }
    let child: pid_t
    do {
      defer { close(errors.writing) }
      child = try spawn([program] + arguments, folder: folder, errors: .descriptor(errors.writing))
    }
    let reader = FileHandle(fileDescriptor: errors.reading, closeOnDealloc: false)
    let said = String(decoding: reader.readDataToEndOfFile(), as: UTF8.self)
    guard reap(child) == 0 else {
      throw StoreError.unusable("openssl \(arguments[0]) failed: \(said.split(separator: "\n").last ?? "")")
    }
  }
}
