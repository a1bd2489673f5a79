import Foundation
import NIOCore
import NIOPosix
import ServerTestSupport
import TestSupport
import Testing

@Suite(.serialized) struct SettingsEndToEndTests {
  @Test func `checking a configuration makes no certificate`() throws {
    let folder = TemporaryFolder()
    let flags = ["--listen", "127.0.0.1:0", "--data", folder.path, "--tls-self-signed"]
    #expect(try ServerChild.run(["check-config"] + flags).code == 0)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
  }

  @Test func `flags override the environment and the file, and an invalid setting is reported in one line`() throws {
    let folder = TemporaryFolder()
    let file = folder.path + "/config"
    try "# ours\nrate = 7\nburst = 9\nmemory = true\n".write(toFile: file, atomically: true, encoding: .utf8)
    let server = ServerChild(folder)
    try server.start(
      ["--config", file, "--listen", "127.0.0.1:0"], environment: ["ALINA_BURST": "11"], bare: true)
    let peer = try RawPeer(server.port)
    #expect(try peer.hello().contains(#""limits":[7,11]"#))
    server.kill9()
    #expect(!FileManager.default.fileExists(atPath: folder.path + "/matches.sqlite"), "the setting `memory` applies")
    try server.start(
      ["--config", file, "--listen", "127.0.0.1:0"],
      environment: ["ALINA_MEMORY": "false", "ALINA_DATA": folder.path], bare: true)
    server.kill9()
    #expect(FileManager.default.fileExists(atPath: folder.path + "/matches.sqlite"), "`memory` is switched off")
    for named in [["--config", file], ["--config=\(file)"]] {
      #expect(try ServerChild.run(["check-config"] + named).out == "the configuration can be used\n", "\(named)")
    }
    try "rate = 7\nrats = 9\n".write(toFile: file, atomically: true, encoding: .utf8)
    let twice = folder.path + "/twice"
    try "rate = 7\r\nrate = 9\r\n".write(toFile: twice, atomically: true, encoding: .utf8)
    let old = folder.path + "/old"
    try "node-listen = 127.0.0.1:0\n".write(toFile: old, atomically: true, encoding: .utf8)
    let listening = folder.path + "/listening"
    try "# ours\nlisten = 4664\nthreads = many\n".write(toFile: listening, atomically: true, encoding: .utf8)
    let certificate = folder.path + "/certificate"
    try "no certificate".write(toFile: certificate, atomically: true, encoding: .utf8)
    let wrong: [([String], [String: String], String)] = [
      (["check-config", "--config", file], [:], "\(file):2: rats is not a setting"),
      (["check-config", "--config", twice], [:], "\(twice):2: rate is set twice"),
      (["check-config", "--config", "/nowhere"], [:], "cannot read /nowhere: No such file"),
      (["check-config"], ["ALINA_CONFIG": "/nowhere"], "ALINA_CONFIG: cannot read /nowhere"),
      (["check-config", "--config", "/"], [:], "--config: cannot read /: Is a directory"),
      (["check-config", "--config", listening], [:], "alina-server: \(listening):2: listen is HOST:PORT"),
      (["check-config", "--config", listening, "--listen=[::1]:1"], [:], "\(listening):3: threads is 1–64, not many"),
      (["check-config", "--config", listening, "--listen", "[::1"], [:], "alina-server: --listen is HOST:PORT"),
      (["check-config"], ["ALINA_LISTEN": "4664"], "alina-server: ALINA_LISTEN is HOST:PORT"),
      (["check-config"], ["ALINA_KEEP_DAYS": "x"], "alina-server: ALINA_KEEP_DAYS is 1–36500, not x"),
      (["check-config", "--rate", "x"], [:], "--rate is 1–1000000, not x"),
      (["check-config", "--drain-seconds", "x"], [:], "--drain-seconds is 0–600, not x"),
      (["check-config", "--max-connections", "x"], [:], "--max-connections is 1–"),
      (["check-config", "--tls-cert", certificate, "--tls-key", "/"], [:], "--tls-key: cannot read /: Is a directory"),
      (["check-config", "--tls-cert", certificate, "--tls-key", certificate], [:], "--tls-cert \(certificate)"),
      (["check-config", "--page", "[::1"], [:], "--page is HOST:PORT"),
      (["check-config"], ["ALINA_MEMORY": "perhaps"], "ALINA_MEMORY is true or false"),
      (["check-config"], ["ALINA_DATA": ""], "ALINA_DATA has no value"),
      (["check-config"], ["ALINA_THREADS": "-1"], "ALINA_THREADS is 1–"),
      (["check-config"], ["ALINA_PAGE_ORIGIN": "here"], "here is not an origin"),
      (["check-config", "--listen", "4664"], [:], "--listen is HOST:PORT"),
      (["check-config", "--listen", "0.0.0.0:4664"], [:], "--insecure"),
      (["check-config", "--listen", "127.example.org:4664"], [:], "reachable from outside"),
      (["check-config", "--admin", "0.0.0.0:9100"], [:], "reachable from outside"),
      (["check-config", "--admin", "[::]:9100"], [:], "reachable from outside"),
      (["check-config", "--rate", "0"], [:], "--rate is 1–"), (["check-config", "--tls-cert", "x"], [:], "--tls-key"),
      (["check-config", "--tls-cert", "/no.crt", "--tls-key", "/no.key"], [:], "/no.crt"),
      (["check-config", "--proxy-from", "10.0.0.0/99"], [:], "10.0.0.0/99"),
      (
        ["--listen", "256.1.2.3:1", "--insecure", "--memory", "--no-page", "--no-admin"], [:],
        "--listen: cannot listen on 256.1.2.3:1: there is no such address"
      ),
      (["--frobnicate"], [:], "frobnicate"),
      (["--node-name", "a", "--memory"], [:], "--node-name was removed: give every node the same --store"),
      (["check-config", "--language=1"], [:], "--language was removed"),
      (["check-config"], ["ALINA_CLUSTER_DIR": "x"], "ALINA_CLUSTER_DIR was removed"),
      (["check-config", "--config", old], [:], "\(old):1: node-listen was removed"),
      (["cluster-cert", "--cluster-dir", "x", "a"], [:], "cluster-cert was removed"),
      (["check-config", "--public-address", "here"], [:], "--public-address is HOST:PORT"),
    ]
    for (arguments, environment, text) in wrong {
      let result = try ServerChild.run(arguments, environment: environment)
      #expect(result.code != 0 && result.out.isEmpty, "\(arguments)")
      #expect(result.errors.contains(text) && result.errors.hasPrefix("alina-server: "), "\(result.errors)")
      #expect(result.errors.split(separator: "\n").count == 1, "\(result.errors)")
    }
    #expect(try ServerChild.run(["check-config", "--listen", "0.0.0.0:4664", "--insecure"]).code == 0)
  }

  @Test func `an address in use is named in the error, for games and pages`() throws {
    let other = try ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton).bind(host: "127.0.0.1", port: 0)
      .wait()
    defer { try? other.close().wait() }
    let taken = "127.0.0.1:\(try #require(other.localAddress?.port))"
    for flags in [
      ["--listen", taken], ["--listen", "127.0.0.1:0", "--page", taken], ["--listen", "127.0.0.1:0", "--admin", taken],
    ] {
      let unused = ["--page", "--admin"].filter { !flags.contains($0) }.map { "--no-" + $0.dropFirst(2) }
      let result = try ServerChild.run(["--memory"] + flags + unused)
      let last = result.errors.split(separator: "\n").last ?? ""
      #expect(
        result.code == 1
          && last == "alina-server: \(flags[flags.count - 2]): cannot listen on \(taken): Address already in use",
        "\(result)")
    }
  }

  @Test func `the help names each flag with its unit and default`() throws {
    let text = try ServerChild.run(["--help"]).out
    let help = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    for flag in [
      "--listen <host:port>", "--data <dir>", "--admin <unix:path|host:port>", "--max-wait <ms>",
      "--drain-seconds <seconds>", "--keep-days <days>", "backup", "restore", "(default: 127.0.0.1:4664)",
      "(default: 2000)",
      "(default: never)", "(default: $XDG_DATA_HOME/alina)", "ALINA_LISTEN",
    ] { #expect(help.contains(flag), "\(flag)") }
    #expect(help.contains("Flags that take no value are off unless given."))
    let serve = try #require(help.range(of: "Flags of serve, the default:").map { help[$0.upperBound...] })
    let flags = serve.replacing(" -h, --help", with: " --help").split(separator: " --").dropLast()
    #expect(flags.count >= 25)
    for flag in flags where flag.contains("<") { #expect(flag.contains("(default: "), "--\(flag)") }
  }
}
