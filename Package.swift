// swift-tools-version: 6.2
// The architecture diagram: what is listed under a target is all it may know.
import Foundation
import PackageDescription

/// `SOUNDLESS=1` keeps the rules, the wire and the match server alone: ThreadSanitizer's build, because Swift 6.3.1 cannot
/// compile Synth under it ("Broken module found").
let soundless = ProcessInfo.processInfo.environment["SOUNDLESS"] == "1"
/// `HEADLESS=1` drops what needs SDL2 and Cairo headers, so that the arena and the server build without them.
let headless = soundless || ProcessInfo.processInfo.environment["HEADLESS"] == "1"
/// `SERVERLESS=1` drops the match server and its dependencies, for a quick build of everything else.
let serverless = ProcessInfo.processInfo.environment["SERVERLESS"] == "1"
/// `ALINA_NEXT=1` (./test) adds a second build of the server, from the same sources (links in server/Next) under other
/// names, whose matches know one kind of event more: what the tests upgrade a cluster to.
let next = !serverless && ProcessInfo.processInfo.environment["ALINA_NEXT"] == "1"
let yams = Target.Dependency.product(name: "Yams", package: "Yams")
let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")

/// Pictures of the score are drawn where there is a window anyway.
let cairo: [Target.Dependency] = headless ? [] : ["CCairo", "CPango"]

var targets: [Target] = [
  // The rules and the wire: import nothing but what is drawn here.
  .target(name: "TicTacToe"),
  .target(name: "MatchProtocol", dependencies: ["TicTacToe"]),
  .target(name: "MatchClient", dependencies: ["MatchProtocol"] + nio),
  .testTarget(name: "TicTacToeTests", dependencies: ["TicTacToe"]),
  .testTarget(name: "MatchProtocolTests", dependencies: ["MatchProtocol"]),
]

if !soundless {
  targets += [
    .target(name: "Opponents", dependencies: ["TicTacToe"], swiftSettings: hot),
    .target(
      name: "Arena", dependencies: ["TicTacToe", "Opponents", "CProcess"],
      resources: [.embedInCode("Bench/baseline.c")],
      swiftSettings: hot),
    .systemLibrary(name: "CProcess"),
    .executableTarget(
      name: "alina-arena",
      dependencies: [
        "Arena", "TicTacToe", "Opponents", "Composer", "ScoreFiles", "Synth", "MatchProtocol", "MatchClient",
        argumentParser,
      ]),
    .target(name: "ScoreModel"),
    .target(name: "Composer", dependencies: ["TicTacToe", "ScoreModel"], swiftSettings: hot),
    .target(name: "Synth", dependencies: ["ScoreModel"], swiftSettings: hot),
    .target(name: "SampledPiano", dependencies: ["Synth", "CFluidSynth"], swiftSettings: hot),
    .target(name: "Session", dependencies: ["TicTacToe", "Opponents", "ScoreModel", "Composer"]),
    .target(
      name: "ScoreFiles", dependencies: ["TicTacToe", "ScoreModel", "Composer", "Synth", "CSndfile", yams] + cairo),
    .executableTarget(name: "alina-score", dependencies: ["ScoreFiles", "Synth", "SampledPiano", argumentParser]),
    .systemLibrary(name: "CSndfile"),
    .systemLibrary(name: "CFluidSynth"),

    .testTarget(name: "OpponentsTests", dependencies: ["Opponents"]),
    .testTarget(name: "ArenaTests", dependencies: ["Arena"], exclude: ["Fixtures", "Goldens"]),
    .testTarget(name: "ComposerTests", dependencies: ["Composer", "ScoreFiles"], exclude: ["Goldens"]),
    .testTarget(name: "ScoreFilesTests", dependencies: ["ScoreFiles", "alina-score"], exclude: ["Goldens"]),
    .target(name: "CMallocProbe", path: "Tests/CMallocProbe"),
    .testTarget(
      name: "SynthTests", dependencies: ["Synth", "SampledPiano", "Composer", "ScoreFiles", "CMallocProbe"],
      exclude: ["Goldens"], swiftSettings: hot),
    .testTarget(name: "SessionTests", dependencies: ["Session", "ScoreFiles"]),
  ]
}

if !headless {
  targets += [
    .target(name: "Screen", dependencies: ["TicTacToe", "ScoreModel", "CCairo", "CPango"], swiftSettings: hot),
    .target(
      name: "SDLPlatform", dependencies: ["Screen", "Synth", "ScoreModel", "CSDL2", "CSDL2Mixer"], swiftSettings: hot),
    .executableTarget(
      name: "alina",
      dependencies: [
        "TicTacToe", "Opponents", "ScoreModel", "Composer", "ScoreFiles", "Session", "Screen", "Synth", "SampledPiano",
        "SDLPlatform", "MatchProtocol", "MatchClient", argumentParser,
      ]),
    .systemLibrary(name: "CSDL2"),
    .systemLibrary(name: "CSDL2Mixer"),
    .systemLibrary(name: "CCairo"),
    .systemLibrary(name: "CPango"),
    .testTarget(name: "ScreenTests", dependencies: ["Screen"], exclude: ["Goldens"]),
    .testTarget(name: "SDLPlatformTests", dependencies: ["SDLPlatform", "CSDL2"]),
    // Runs the executables as programs; depends on them only in time.
    .testTarget(name: "EndToEndTests", dependencies: ["TicTacToe", "ScoreModel", "Composer", "ScoreFiles", "Synth"]),
  ]
}

if !serverless {
  targets += [
    .target(
      name: "MatchServer", dependencies: ["MatchProtocol"] + serving, path: "server/Sources/MatchServer"),
    .systemLibrary(name: "CLibPQ", path: "server/Sources/CLibPQ", pkgConfig: "libpq"),
    .executableTarget(
      name: "alina-server", dependencies: ["MatchServer", argumentParser], path: "server/Sources/alina-server"),
    .testTarget(
      name: "MatchServerTests",
      dependencies: ["MatchServer", "MatchClient", .product(name: "GRDB", package: "GRDB.swift")], path: "server/Tests",
      exclude: ["Faults"]),
  ]
}

if next {
  func settings(_ renamed: String...) -> [SwiftSetting] {
    [.define("ALINA_NEXT"), .unsafeFlags(renamed.flatMap { ["-module-alias", "\($0)=\($0)Next"] })]
  }
  targets += [
    .target(
      name: "MatchProtocolNext", dependencies: ["TicTacToe"], path: "server/Next/MatchProtocol",
      swiftSettings: settings()),
    .target(
      name: "MatchServerNext", dependencies: ["MatchProtocolNext"] + serving, path: "server/Next/MatchServer",
      swiftSettings: settings("MatchProtocol")),
    .executableTarget(
      name: "alina-server-next", dependencies: ["MatchServerNext", argumentParser], path: "server/Next/alina-server",
      swiftSettings: settings("MatchProtocol", "MatchServer")),
  ]
}

/// What the match server stands on.
var serving: [Target.Dependency] {
  ["CLibPQ"] + nio + [
    .product(name: "GRDB", package: "GRDB.swift"),
    .product(name: "Hummingbird", package: "hummingbird"),
    .product(name: "Logging", package: "swift-log"),
    .product(name: "Metrics", package: "swift-metrics"),
    .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
    .product(name: "UnixSignals", package: "swift-service-lifecycle"),
    .product(name: "X509", package: "swift-certificates"), .product(name: "Crypto", package: "swift-crypto"),
  ]
}

/// What the wire stands on.
var nio: [Target.Dependency] {
  ["NIOCore", "NIOPosix", "NIOTLS"].map { .product(name: $0, package: "swift-nio") } + [
    .product(name: "NIOSSL", package: "swift-nio-ssl")
  ]
}

/// SIMD code and per-sample loops are 150–200 times slower without the optimiser.
var hot: [SwiftSetting] { [.unsafeFlags(["-O"], .when(configuration: .debug))] }

/// `STRICT=1` (scripts/check) makes warnings errors in our own targets; those of packages are not ours to mend.
if ProcessInfo.processInfo.environment["STRICT"] == "1" {
  for target in targets where target.type != .system {
    target.swiftSettings = (target.swiftSettings ?? []) + [.treatAllWarnings(as: .error)]
  }
}

let package = Package(
  name: "Alina",
  // For Benchmarks/, a package of its own.
  products: [.library(name: "MatchProtocol", targets: ["MatchProtocol", "TicTacToe"])]
    + (soundless
      ? [] : [.library(name: "Synth", targets: ["Synth", "SampledPiano", "ScoreModel", "Composer", "ScoreFiles"])]),
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
    .package(url: "https://github.com/apple/swift-certificates", from: "1.21.1"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
  ],
  targets: targets
)
