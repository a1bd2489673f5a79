import ArgumentParser
import Foundation
import MatchProtocol
import MatchStore
import PostgresStore
import ServerTransport

/// The flags of `serve`, in the groups of its help.
struct ServeOptions: ParsableArguments {
  @OptionGroup(title: "Addresses") var addresses: Addresses
  @OptionGroup(title: "Storage") var storage: Storage
  @OptionGroup(title: "Encryption") var encryption: Encryption
  @OptionGroup(title: "Limits") var limits: Limits
  @OptionGroup(title: "Log") var log: Log

  /// The groups with their defaults, from which `ConfigurationSources` reads the names of the flags.
  static var groups: [Any] { [Addresses(), Storage(), Encryption(), Limits(), Log()] }

  struct Addresses: ParsableArguments {
    @Option(help: ArgumentHelp("Address and port for games; port 0 picks a free one.", valueName: "host:port"))
    var listen = "127.0.0.1:4664"
    @Option(
      help: ArgumentHelp(
        "Address of this node that clients of other nodes are sent (default: that of --listen, if it is a single one).",
        valueName: "host:port"))
    var publicAddress: String?
    @Option(help: ArgumentHelp("Address and port of the page for people.", valueName: "host:port"))
    var page = "127.0.0.1:4680"
    @Flag(help: "Serve no page.")
    var noPage = false
    @Option(
      help: ArgumentHelp(
        "Folder of the page to play on, which scripts/web makes (default: beside the program).", valueName: "dir"))
    var web: String?
    @Option(
      help: ArgumentHelp(
        "Pages served elsewhere that may play here, as https://alina.example (default: none).", valueName: "origin,…"))
    var pageOrigin: String?
    @Option(
      help: ArgumentHelp(
        "Unix socket, or address and port of this machine, for orders, lists, metrics and health (default: admin.sock in $RUNTIME_DIRECTORY or the data folder; none with --memory).",
        valueName: "unix:path|host:port"))
    var admin: String?
    @Flag(help: "Open no administrators' port, and no port for metrics unless --metrics is given.")
    var noAdmin = false
    @Option(
      help: ArgumentHelp(
        "Address and port for metrics and health alone (default: 127.0.0.1:4681 beside a Unix socket, else none).",
        valueName: "host:port"))
    var metrics: String?
    @Option(
      help: ArgumentHelp("Networks whose connections start with a PROXY header (default: none).", valueName: "cidr,…"))
    var proxyFrom: String?
  }

  struct Storage: ParsableArguments {
    @Option(help: ArgumentHelp("Folder of the database (default: $XDG_DATA_HOME/alina).", valueName: "dir"))
    var data: String?
    @Option(
      help: ArgumentHelp(
        "PostgreSQL database instead of the folder, for any number of servers; its password: PGPASSFILE (default: none).",
        valueName: "postgres://…"))
    var store: String?
    @Flag(
      help: "Accept PostgreSQL hosts without synchronous replication: a failover may lose acknowledged moves."
    )
    var allowLossyFailover = false
    @Flag(help: "Keep everything in memory; nothing survives the process.")
    var memory = false
    @Option(help: ArgumentHelp("Days after which finished matches are deleted (default: never).", valueName: "days"))
    var keepDays: Number?
    /// Only for the test that proves the loss of data with `synchronous=NORMAL`.
    @Flag(help: .hidden) var weakSync = false
  }

  struct Encryption: ParsableArguments {
    @Option(help: ArgumentHelp("PEM file with the certificate chain; turns on TLS (default: none).", valueName: "file"))
    var tlsCert: String?
    @Option(help: ArgumentHelp("PEM file with the certificate's key (default: none).", valueName: "file"))
    var tlsKey: String?
    @Flag(help: "Use TLS with a certificate made once and kept in the data folder; clients pin it.")
    var tlsSelfSigned = false
    @Flag(help: "Allow plain connections on an address that is not this machine's own.")
    var insecure = false
  }

  struct Limits: ParsableArguments {
    @Option(help: ArgumentHelp("Event loops for connections, 1–64.", valueName: "n"))
    var threads: Number = 1
    @Option(
      help: ArgumentHelp(
        "The most connections (default: the limit of open files minus 64 and the pages' share, at most 10000).",
        valueName: "n")
    )
    var maxConnections: Number?
    @Option(help: ArgumentHelp("The most connections from one address (IPv6: from one /64).", valueName: "n"))
    var maxPerAddress: Number = 64
    @Option(help: ArgumentHelp("Messages a second of one connection.", valueName: "n"))
    var rate: Number = 20
    @Option(help: ArgumentHelp("Messages at once of one connection.", valueName: "n"))
    var burst: Number = 40
    @Option(help: ArgumentHelp("Messages a second of a bot's connection.", valueName: "n"))
    var botRate: Number = 200
    @Option(help: ArgumentHelp("Logins a minute from one address.", valueName: "n"))
    var loginsPerMinute: Number = 30
    @Option(help: ArgumentHelp("Names registered in a day from one address.", valueName: "n"))
    var namesPerDay: Number = 20
    @Option(
      help: ArgumentHelp(
        "Guest accounts to keep. Further ones that are neither connected nor in a match are deleted, the longest absent first.",
        valueName: "n"))
    var maxGuests: Number = 20_000
    @Option(help: ArgumentHelp("Open tournaments.", valueName: "n"))
    var maxTournaments: Number = 64
    @Option(help: ArgumentHelp("Open tournaments that were made from one address.", valueName: "n"))
    var tournamentsPerAddress: Number = 2
    @Option(help: ArgumentHelp("Wrong codes of rooms a minute, of an address or an account.", valueName: "n"))
    var codeTries: Number = 5
    @Option(
      help: ArgumentHelp("Waiting writes above which commands are refused as busy.", valueName: "n"))
    var maxPending: Number = 4096
    @Option(
      help: ArgumentHelp(
        "Milliseconds that a write may wait before commands are refused as busy.", valueName: "ms"))
    var maxWait: Number = 2000
    @Option(help: ArgumentHelp("Seconds a stopping server may take to finish.", valueName: "seconds"))
    var drainSeconds: Number = 5
  }

  struct Log: ParsableArguments {
    @Option(help: ArgumentHelp("Format of the log on standard error: text or json.", valueName: "format"))
    var logFormat = "text"
    @Option(help: ArgumentHelp("trace, debug, info, notice, warning, error or critical.", valueName: "level"))
    var logLevel = "notice"
  }

  /// Validates the flags; throws for the first invalid flag. Creates missing files only if the server `starts`.
  func resolved(starts: Bool) throws -> ServerConfiguration {
    var result = ServerConfiguration()
    let address = try Self.address(addresses.listen, "listen")
    (result.listener.host, result.listener.port) = address
    try resolveStorage(&result)
    if let told = addresses.publicAddress {
      let (host, port) = try Self.address(told, "public-address")
      guard !Self.isEveryAddress(host), port > 0 else {
        throw ConfigurationError(text: "--public-address \(told) is not an address that a client can connect to")
      }
      result.lobby.address = told
    }
    let page = addresses.noPage ? nil : try Self.address(addresses.page, "page")
    result.page = page.map { .tcp(host: $0.host, port: $0.port) }
    try resolveAdmin(&result)
    result.listener.tls = try tls(starts: starts, host: address.host)
    try refuseUnencrypted(address, page)
    if let page { try resolve(page, &result) }
    try resolveLimits(&result)
    for text in (addresses.proxyFrom ?? "").split(separator: ",") {
      guard let range = AddressRange(String(text)) else {
        throw ConfigurationError(text: "--proxy-from: \(text) is not an address or network like 10.0.0.0/8")
      }
      result.listener.proxies.append(range)
    }
    try resolveLog(&result)
    return result
  }

  private func resolveStorage(_ result: inout ServerConfiguration) throws {
    result.data = storage.memory ? nil : storage.data ?? Self.defaultFolder
    result.weakSync = storage.weakSync
    do { result.store = try storage.store.map { try PGAddress($0) } } catch let error as StoreError {
      throw ConfigurationError(text: "--store: \(error.description)")
    }
    result.store?.allowsLossyFailover = storage.allowLossyFailover
    guard !storage.memory || storage.store == nil else {
      throw ConfigurationError(text: "--store and --memory exclude each other")
    }
  }

  /// Makes a missing self-signed certificate for `host` only if the server `starts`.
  private func tls(starts: Bool, host: String) throws -> ServerTLS? {
    let folder = storage.data ?? Self.defaultFolder
    switch (encryption.tlsCert, encryption.tlsKey, encryption.tlsSelfSigned) {
    case (let certificate?, let key?, false):
      for (flag, file) in [("--tls-cert", certificate), ("--tls-key", key)] {
        do { _ = try String(readFrom: file) } catch { throw ConfigurationError(text: "\(flag): \(error)") }
      }
      do { return try ServerTLS(certificate: certificate, key: key) } catch {
        throw ConfigurationError(text: "--tls-cert \(certificate) and --tls-key \(key) cannot be used: \(error)")
      }
    case (nil, nil, true) where starts || ServerTLS.hasSelfSigned(in: folder):
      do { return try ServerTLS.selfSigned(in: folder, names: ["localhost", host]) } catch {
        throw ConfigurationError(text: "--tls-self-signed: no certificate in \(folder): \(error)")
      }
    case (nil, nil, _): return nil
    default:
      throw ConfigurationError(text: "TLS needs --tls-cert and --tls-key, or --tls-self-signed alone")
    }
  }

  private func refuseUnencrypted(_ address: (host: String, port: Int), _ page: (host: String, port: Int)?) throws {
    let isEncrypted = encryption.tlsCert != nil || encryption.tlsSelfSigned
    for (flag, address) in [("--listen", address)] + (page.map { [("--page", $0)] } ?? []) {
      guard isEncrypted || encryption.insecure || PeerAddress.isLoopback(address.host) else {
        throw ConfigurationError(
          text: "\(flag) \(address.host):\(address.port) is reachable from outside: give certificates, "
            + "--tls-self-signed, or --insecure to go without")
      }
    }
  }

  private func resolveLimits(_ result: inout ServerConfiguration) throws {
    let million = 1...1_000_000
    let rate = try limits.rate.checked("rate", million)
    let burst = try limits.burst.checked("burst", million)
    let botRate = try limits.botRate.checked("bot-rate", million)
    result.threads = try limits.threads.checked("threads", 1...64)
    result.keepDays = try storage.keepDays?.checked("keep-days", 1...36_500)
    let most = result.share(max(1, Self.raisedFileLimit() - 64))
    result.listener.maxConnections =
      try limits.maxConnections?.checked("max-connections", 1...most) ?? min(10_000, most)
    result.listener.maxPerAddress = try limits.maxPerAddress.checked("max-per-address", million)
    result.listener.drainSeconds = try limits.drainSeconds.checked("drain-seconds", 0...600)
    (result.listener.session.rate, result.listener.session.burst) = (rate, burst)
    result.listener.session.botRate = botRate
    result.lobby.rate = [rate, burst]
    result.lobby.botRate = [botRate, max(burst, botRate)]
    result.lobby.loginsPerMinute = try limits.loginsPerMinute.checked("logins-per-minute", million)
    result.lobby.namesPerDay = try limits.namesPerDay.checked("names-per-day", million)
    result.lobby.codeTriesPerMinute = try limits.codeTries.checked("code-tries", million)
    result.lobby.maxGuests = try limits.maxGuests.checked("max-guests", million)
    result.lobby.maxTournaments = try limits.maxTournaments.checked("max-tournaments", million)
    result.lobby.tournamentsPerAddress = try limits.tournamentsPerAddress.checked("tournaments-per-address", million)
    result.lobby.maxPending = try limits.maxPending.checked("max-pending", 1...10_000_000)
    result.lobby.maxWait = try limits.maxWait.checked("max-wait", 1...600_000)
  }

  /// Shells and systemd set a low soft limit of open files, which a process may raise to the hard limit.
  private static func raisedFileLimit() -> Int {
    var files = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &files)
    files.rlim_cur = files.rlim_max
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &files)
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &files)
    return Int(min(files.rlim_cur, 1_000_000))
  }

  private func resolveLog(_ result: inout ServerConfiguration) throws {
    guard let format = Logger.Format(rawValue: log.logFormat) else {
      throw ConfigurationError(text: "--log-format is text or json, not \(log.logFormat)")
    }
    guard let level = Logger.Level(rawValue: log.logLevel) else {
      throw ConfigurationError(
        text: "--log-level is one of \(Logger.Level.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    (result.logFormat, result.logLevel) = (format, level)
  }

  private func resolveAdmin(_ result: inout ServerConfiguration) throws {
    if !addresses.noAdmin {
      let usual = storage.memory ? nil : Self.socket(in: storage.data)
      result.admin = try (addresses.admin ?? usual.map { "unix:\($0)" }).map(Self.adminAddress)
    }
    if case .tcp(let host, _) = result.admin, !PeerAddress.isLoopback(host) {
      throw ConfigurationError(text: "--admin \(host) is reachable from outside, and asks for no password")
    }
    var metrics = addresses.metrics
    if case .socket = result.admin { metrics = metrics ?? "127.0.0.1:4681" }
    result.metrics = try metrics.map { try Self.tcp($0, "metrics") }
  }

  /// The administrators' socket is in the first folder of $RUNTIME_DIRECTORY if set, else in `data`, else in the default folder.
  static func socket(in data: String?) -> String {
    let runtime = ProcessInfo.processInfo.environment["RUNTIME_DIRECTORY"]?.split(separator: ":").first
    return (runtime.map(String.init) ?? data ?? defaultFolder) + "/admin.sock"
  }

  static func adminAddress(_ text: String) throws -> ListenAddress {
    if text.hasPrefix("unix:") { return .socket(path: String(text.dropFirst(5))) }
    return try tcp(text, "admin")
  }

  private static func tcp(_ text: String, _ option: String) throws -> ListenAddress {
    let (host, port) = try address(text, option)
    return .tcp(host: host, port: port)
  }

  /// On a loopback address the page is never encrypted: the proxy on this machine encrypts it.
  private func resolve(_ page: (host: String, port: Int), _ result: inout ServerConfiguration) throws {
    if !PeerAddress.isLoopback(page.host) { result.pageTLS = result.listener.tls }
    for origin in (addresses.pageOrigin ?? "").split(separator: ",").map(String.init) {
      let parts = origin.split(separator: "/", omittingEmptySubsequences: false)
      guard parts.count == 3, ["http:", "https:"].contains(parts[0]), parts[1].isEmpty, !parts[2].isEmpty,
        origin == origin.lowercased()
      else {
        throw ConfigurationError(text: "--page-origin: \(origin) is not an origin like https://alina.example")
      }
      result.pageOrigins.insert(origin)
    }
    guard let web = addresses.web else {
      result.site = Site()
      return
    }
    do { result.site = try Site(folder: web) } catch {
      throw ConfigurationError(text: "--web: \(error.description)")
    }
  }

  static var defaultFolder: String {
    let environment = ProcessInfo.processInfo.environment
    let base = environment["XDG_DATA_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
    return (base ?? NSHomeDirectory() + "/.local/share") + "/alina"
  }

  static func address(_ text: String, _ name: String) throws -> (host: String, port: Int) {
    guard let parts = text.wholeMatch(of: /(?:\[([^\[\]]+)\]|([^\[\]:]+)):([0-9]+)/), let port = Int(parts.3),
      let host = parts.1 ?? parts.2, port <= 65_535
    else {
      throw ConfigurationError(
        text: "--\(name) is HOST:PORT, or [ADDRESS]:PORT for IPv6, with a port of 0–65535, not \(text)")
    }
    return (String(host), port)
  }

  static func isEveryAddress(_ host: String) -> Bool { ["0.0.0.0", "::", "0"].contains(host) }
}

/// A number as the user wrote it, so that invalid numbers from all sources get the same error message.
struct Number: ExpressibleByArgument, ExpressibleByIntegerLiteral {
  let defaultValueDescription: String

  init(argument: String) { defaultValueDescription = argument }
  init(integerLiteral value: Int) { defaultValueDescription = "\(value)" }

  func checked(_ name: String, _ range: ClosedRange<Int>) throws -> Int {
    guard let value = Int(defaultValueDescription), range.contains(value) else {
      throw ConfigurationError(
        text: "--\(name) is \(range.lowerBound)–\(range.upperBound), not \(defaultValueDescription)")
    }
    return value
  }
}

struct Serve: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Serve matches until SIGTERM or SIGINT (this is the default).",
    discussion: """
      Once ready, the line "listening HOST:PORT" goes to standard output, and "in a browser: URL" if a page is served; \
      everything else is logged to standard error. \
      SIGHUP reads the certificates and the page again.
      """)
  @OptionGroup var options: ServeOptions

  func run() async throws {
    try await ServerProcess.run(try options.resolved(starts: true)) { address, page in
      let browser = page.map { "in a browser: \($0)\n" } ?? ""
      LineWriter.output.write("listening \(address)\n\(browser)")
    }
  }
}

struct CheckConfig: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check-config", abstract: "Check flags, environment and file, and the certificates; start nothing.")
  @OptionGroup var options: ServeOptions

  func run() throws {
    let configuration = try options.resolved(starts: false)
    var text = "the configuration can be used\n"
    if configuration.store != nil, configuration.lobby.address.isEmpty,
      ServeOptions.isEveryAddress(configuration.listener.host)
    {
      text = "note: several nodes need --public-address, or clients cannot go from one to another\n" + text
    }
    try writeOut(text.utf8)
  }
}
