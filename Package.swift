// swift-tools-version: 6.2
// The architecture diagram: what is listed under a target is all it may know.
import Foundation
import PackageDescription

let environment = ProcessInfo.processInfo.environment
/// `HEADLESS=1` draws no pictures of the score, so that the arena and the music build without Cairo's headers.
let headless = environment["HEADLESS"] == "1"
/// `WEB=1` is the package of the page (scripts/web): the shared rooms and web/Sources, for Embedded Swift.
let web = environment["WEB"] == "1"
let cairo: [Target.Dependency] = headless ? [] : ["CCairo", "CPango"]
let yams = Target.Dependency.product(name: "Yams", package: "Yams")
let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let nio: [Target.Dependency] = ["NIOCore", "NIOPosix", "NIOHTTP1", "NIOWebSocket"].map {
  .product(name: $0, package: "swift-nio")
}

var targets: [Target] = [
  // Texts, hashes and chance, which know nothing of the game.
  .target(name: "Base"),

  // The rules, how a game is kept, and who plays.
  .target(name: "TicTacToe", dependencies: ["Base"]),
  .target(name: "Records", dependencies: ["Base", "TicTacToe"]),
  .target(name: "Opponents", dependencies: ["Base", "TicTacToe"]),
  .target(
    name: "Arena", dependencies: ["Base", "TicTacToe", "Records", "Opponents", "CProcess"],
    resources: [.embedInCode("Bench/baseline.c")]),
  .executableTarget(
    name: "alina-arena",
    dependencies: [
      "Arena", "Base", "TicTacToe", "Records", "Opponents", "Composer", "ScoreFiles", "Synth", "MatchProtocol",
      "MatchClient", argumentParser,
    ]),
  .systemLibrary(name: "CProcess"),

  // The music.
  .target(name: "ScoreModel"),
  .target(name: "Composer", dependencies: ["Base", "TicTacToe", "Records", "ScoreModel"]),
  .target(name: "Synth", dependencies: ["ScoreModel"]),
  .target(name: "Scores", dependencies: ["Base", "TicTacToe", "Records", "ScoreModel", "Composer", "Synth"]),
  .target(name: "SampledPiano", dependencies: ["Synth", "CFluidSynth"]),
  .target(
    name: "ScoreFiles",
    dependencies: ["Base", "TicTacToe", "Records", "ScoreModel", "Composer", "Synth", "Scores", "CSndfile", yams]
      + cairo),
  .executableTarget(
    name: "alina-score",
    dependencies: ["Base", "TicTacToe", "Records", "ScoreFiles", "Synth", "SampledPiano", argumentParser]),
  .systemLibrary(name: "CSndfile"),
  .systemLibrary(name: "CFluidSynth"),

  // The window.
  .target(name: "Locks"),
  .target(
    name: "Session", dependencies: ["Base", "TicTacToe", "Records", "Opponents", "ScoreModel", "Composer", "Locks"]),
  .target(name: "Screen", dependencies: ["TicTacToe", "ScoreModel", "CCairo", "CPango"], exclude: ["Web"]),
  .target(name: "Desk", dependencies: ["Base", "TicTacToe", "Screen", "MatchProtocol", "ClientModel"]),
  .target(
    name: "Play",
    dependencies: [
      "Base", "TicTacToe", "Records", "Opponents", "ScoreModel", "Composer", "Session", "Screen", "Desk",
      "MatchProtocol", "ClientModel", "Locks",
    ]),
  .target(name: "SDLPlatform", dependencies: ["Screen", "Synth", "ScoreModel", "CSDL2", "CSDL2Mixer"]),
  .executableTarget(
    name: "alina",
    dependencies: [
      "Base", "TicTacToe", "Records", "ScoreModel", "Composer", "ScoreFiles", "Session", "Screen", "Desk", "Play",
      "Synth", "SampledPiano", "SDLPlatform", "MatchProtocol", "ClientModel", "MatchClient", argumentParser,
    ]),
  .systemLibrary(name: "CSDL2"),
  .systemLibrary(name: "CSDL2Mixer"),
  .systemLibrary(name: "CCairo"),
  .systemLibrary(name: "CPango"),

  // The wire and the match server.
  .target(name: "MatchProtocol", dependencies: ["Base", "TicTacToe"]),
  .target(name: "ClientModel", dependencies: ["Base", "TicTacToe", "MatchProtocol"]),
  .target(name: "MatchClient", dependencies: ["Base", "ClientModel", "MatchProtocol", "TLS"]),
  .target(name: "TLS", dependencies: ["COpenSSL"]),
  .systemLibrary(name: "COpenSSL"),
  .target(
    name: "MatchServer",
    dependencies: ["Base", "MatchProtocol", "TLS", "TLSChannel", "CLibPQ", "CSQLite"] + nio,
    path: "server/Sources/MatchServer"),
  .target(
    name: "TLSChannel", dependencies: ["TLS", .product(name: "NIOCore", package: "swift-nio")],
    path: "server/Sources/TLSChannel"),
  .executableTarget(
    name: "alina-server", dependencies: ["Base", "TicTacToe", "MatchServer", argumentParser],
    path: "server/Sources/alina-server"),
  .systemLibrary(name: "CLibPQ", path: "server/Sources/CLibPQ", pkgConfig: "libpq"),
  .systemLibrary(name: "CSQLite", path: "server/Sources/CSQLite"),

  // The page of the match: what WEB=1 leaves, below, and what asks it and this system the same questions.
  .target(
    name: "Probe",
    dependencies: [
      "Base", "TicTacToe", "Records", "Opponents", "ScoreModel", "Composer", "Synth", "Scores", "MatchProtocol",
      "ClientModel",
    ], path: "web/Sources/Probe"),
  .testTarget(
    name: "WebTests", dependencies: ["Probe", "ScoreFiles", "Scores", "Records", "MatchProtocol"],
    exclude: ["probe.mjs"]),

  // Which tests a run is for, and which it cannot run here.
  .target(name: "TestSupport", path: "Tests/TestSupport"),
  .testTarget(name: "BaseTests", dependencies: ["Base"]),
  .testTarget(name: "TicTacToeTests", dependencies: ["TicTacToe"]),
  .testTarget(name: "RecordsTests", dependencies: ["Records"]),
  .testTarget(name: "OpponentsTests", dependencies: ["Opponents"]),
  .testTarget(name: "ArenaTests", dependencies: ["Arena"], exclude: ["Fixtures", "Goldens"]),
  .testTarget(name: "ComposerTests", dependencies: ["Composer", "ScoreFiles"], exclude: ["Goldens"]),
  .testTarget(name: "ScoreFilesTests", dependencies: ["ScoreFiles", "alina-score"], exclude: ["Goldens"]),
  .target(name: "CMallocProbe", path: "Tests/CMallocProbe"),
  .testTarget(
    name: "SynthTests", dependencies: ["Synth", "SampledPiano", "Composer", "ScoreFiles", "CMallocProbe"],
    exclude: ["Goldens"], swiftSettings: [optimised]),
  .testTarget(name: "SessionTests", dependencies: ["Session", "ScoreFiles"]),
  .testTarget(name: "ScreenTests", dependencies: ["Screen"], exclude: ["Goldens"]),
  .testTarget(name: "DeskTests", dependencies: ["Desk", "ClientModel", "MatchProtocol"]),
  .testTarget(name: "PlayTests", dependencies: ["Play", "ClientModel", "MatchProtocol", "ScoreFiles"]),
  .testTarget(name: "SDLPlatformTests", dependencies: ["SDLPlatform", "CSDL2"]),
  .target(name: "FuzzWire", dependencies: ["MatchProtocol"], path: "Tests/Fuzz", exclude: ["Corpus", "wire.dict"]),
  .testTarget(name: "MatchProtocolTests", dependencies: ["MatchProtocol", "FuzzWire"]),
  .testTarget(name: "MatchClientTests", dependencies: ["MatchClient", "TLS", "COpenSSL"]),
  .testTarget(
    name: "MatchServerTests",
    dependencies: [
      "MatchServer", "MatchClient", "TLS", "COpenSSL", .product(name: "NIOEmbedded", package: "swift-nio"),
    ],
    path: "server/Tests", exclude: ["Faults"]),
  // Runs the executables as programs; depends on them only in time.
  .testTarget(name: "EndToEndTests", dependencies: ["TicTacToe", "ScoreModel", "Composer", "ScoreFiles", "Synth"]),
]

var packages: [String: Package.Dependency] = [
  "swift-argument-parser": .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
  "Yams": .package(url: "https://github.com/jpsim/Yams", exact: "6.2.2"),
  "swift-nio": .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
]

/// For Benchmarks/, a package of its own.
var products: [Product] = [
  .library(name: "MatchProtocol", targets: ["MatchProtocol", "TicTacToe", "Base"]),
  .library(name: "TLSChannel", targets: ["TLSChannel", "TLS"]),
  .library(name: "Synth", targets: ["Synth", "SampledPiano", "ScoreModel", "Composer", "ScoreFiles"]),
]

/// Signal processing is 150 times slower without the optimiser, so that what is ours has it in debug builds too.
var optimised: SwiftSetting { .unsafeFlags(["-O"], .when(configuration: .debug)) }

for target in targets where target.type == .test { target.dependencies.append("TestSupport") }
for target in targets where [.regular, .executable].contains(target.type) && target.name != "CMallocProbe" {
  target.swiftSettings = (target.swiftSettings ?? []) + [optimised]
}

// Warnings are errors with the compiler that we know; another one's are told and no more.
#if compiler(<6.4)
  for target in targets where target.type != .system {
    target.swiftSettings = (target.swiftSettings ?? []) + [.treatAllWarnings(as: .error)]
  }
#endif

// In the browser: the shared rooms without what they know of this system, twins of the rest, and the page's two modules.
if web {
  let rooms = [
    "Base", "TicTacToe", "Records", "Opponents", "ScoreModel", "Composer", "Synth", "Scores", "Locks", "Session",
    "MatchProtocol", "ClientModel", "Probe", "Screen", "Desk", "Play",
  ]
  let twins = ["Locks"]
  targets = targets.filter { rooms.contains($0.name) }
  for target in targets where twins.contains(target.name) { target.path = "web/Sources/\(target.name)" }
  for target in targets where target.name == "Screen" { target.exclude = ["Cairo"] }
  targets += [
    .target(name: "Glibc", path: "web/Sources/Glibc"),
    .executableTarget(
      name: "alina-sound", dependencies: ["Base", "Scores", "Synth", "Composer", "ScoreModel"],
      path: "web/Sources/alina-sound"),
    .executableTarget(
      name: "alina-web",
      dependencies: [
        "Base", "TicTacToe", "Records", "Opponents", "ScoreModel", "Composer", "Scores", "Session", "Screen", "Desk",
        "Play", "MatchProtocol", "ClientModel",
      ], path: "web/Sources/alina-web"),
    .executableTarget(name: "alina-probe", dependencies: ["Probe", "Scores"], path: "web/Sources/alina-probe"),
  ]
  for target in targets where target.name != "Glibc" {
    target.dependencies.removeAll { dependency in
      if case .byNameItem(let name, _) = dependency { !targets.contains { $0.name == name } } else { true }
    }
    target.dependencies.append("Glibc")
    target.swiftSettings = [
      .enableExperimentalFeature("Embedded"), .enableExperimentalFeature("Extern"), .treatAllWarnings(as: .error),
    ]
    // Partials are added four at once, as browsers can since 2021 (Safari 2023). What is not the sound is small rather than fast.
    let size = ["Synth", "alina-sound"].contains(target.name) ? [] : ["-Osize"]
    target.swiftSettings?.append(.unsafeFlags(["-Xcc", "-msimd128"] + size))
    target.linkerSettings = [.unsafeFlags(["-Xclang-linker", "-nostdlib"])]
  }
  (packages, products) = ([:], [])
}

/// `ONLY="alina alina-server"` keeps these targets and what they stand on: nothing else is fetched, resolved or built.
if let only = environment["ONLY"], !only.isEmpty {
  var kept: Set<String> = []
  func keep(_ name: String) {
    guard kept.insert(name).inserted, let target = targets.first(where: { $0.name == name }) else { return }
    for dependency in target.dependencies {
      switch dependency {
      case .byNameItem(let name, _), .targetItem(let name, _): keep(name)
      case .productItem(_, let package, _, _): if let package { kept.insert(package) }
      @unknown default: break
      }
    }
  }
  for name in only.split(separator: " ") { keep(String(name)) }
  targets.removeAll { !kept.contains($0.name) }
  packages = packages.filter { kept.contains($0.key) }
  products = []
}

let package = Package(
  name: "Alina",
  products: products,
  dependencies: packages.sorted { $0.key < $1.key }.map(\.value),
  targets: targets
)
