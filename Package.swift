// swift-tools-version: 6.2
// The architecture as code. Each layer is a folder; a target may import only the targets listed for it. `scripts/check` compares every
// import with this list.
import Foundation
import PackageDescription

let environment = ProcessInfo.processInfo.environment
/// `HEADLESS=1` leaves out pictures of the score, so that arena and music build without Cairo's headers.
let headless = environment["HEADLESS"] == "1"
/// `WEB=1` selects the page's package (`scripts/web`): the shared targets and `web/Sources`, for Embedded Swift.
let web = environment["WEB"] == "1"
/// `DRAFT=1` optimises only the targets without which tests would take minutes; set by `./test NAME`.
let draft = environment["DRAFT"] == "1"
/// `BENCH=1` adds the benchmarks in `Benchmarks/`.
let bench = environment["BENCH"] == "1"

let cairo: [Target.Dependency] = headless ? [] : ["CCairo", "CPango"]
let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let nioCore = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let nioPosix = Target.Dependency.product(name: "NIOPosix", package: "swift-nio")

var targets: [Target] = []
/// Adds targets, each in the folder of its name below `folder`.
func layer(_ folder: String, _ targets: [Target]) -> [Target] {
  for target in targets { target.path = target.path ?? "\(folder)/\(target.name)" }
  return targets
}

// Core: the rules, records of games, and the computer players.
targets += layer(
  "Sources/Core",
  [
    .target(name: "Base"),
    .target(name: "TicTacToe", dependencies: ["Base"]),
    .target(name: "Oracle", dependencies: ["Base", "TicTacToe"]),
    .target(name: "Records", dependencies: ["Base", "TicTacToe"]),
    .target(name: "Opponents", dependencies: ["Base", "TicTacToe", "Oracle"]),
  ])

// Music: from facts to notes to samples, and the files of both.
targets += layer(
  "Sources/Music",
  [
    .target(name: "ScoreModel"),
    .target(name: "Tintinnabuli", dependencies: ["Base", "ScoreModel"]),
    .target(name: "GameScore", dependencies: ["Base", "TicTacToe", "Oracle", "Records", "ScoreModel", "Tintinnabuli"]),
    .target(name: "Synth", dependencies: ["ScoreModel"]),
    .target(name: "SampledPiano", dependencies: ["Synth", "CFluidSynth"]),
    .target(
      name: "ScoreFormats",
      dependencies: ["Base", "TicTacToe", "Records", "ScoreModel", "Tintinnabuli", "GameScore", "Synth"]),
    .target(
      name: "ScoreIO",
      dependencies: [
        "Base", "TicTacToe", "Oracle", "Records", "ScoreModel", "Tintinnabuli", "GameScore", "Synth", "ScoreFormats",
        "CSndfile", "CAlsa", "CYAML", "Processes",
      ] + cairo),
  ])

// Figures of the music: `alina-score measure` prints them, tests and benchmarks compare them.
targets += layer(
  "Benchmarks",
  [
    .target(
      name: "ScoreMeasures",
      dependencies: [
        "Base", "TicTacToe", "Oracle", "Records", "ScoreModel", "Tintinnabuli", "GameScore", "Synth", "ScoreFormats",
        "ScoreIO",
      ] + cairo)
  ])

// Network: the protocol and its client.
targets += layer(
  "Sources/Network",
  [
    .target(name: "MatchProtocol", dependencies: ["Base", "TicTacToe"]),
    .target(name: "ClientModel", dependencies: ["Base", "TicTacToe", "MatchProtocol"]),
    .target(name: "TLS", dependencies: ["COpenSSL"]),
    .target(
      name: "MatchClient", dependencies: ["Base", "TicTacToe", "MatchProtocol", "ClientModel", "TLS", "Processes"]),
  ])

// Window: one game on a screen, for the window and the page.
targets += layer(
  "Sources/Window",
  [
    .target(
      name: "Session",
      dependencies: [
        "Base", "TicTacToe", "Oracle", "Records", "Opponents", "ScoreModel", "Tintinnabuli", "GameScore", "Locks",
      ]),
    .target(name: "Interface", dependencies: ["TicTacToe", "Oracle", "ScoreModel"]),
    .target(
      name: "WindowLogic",
      dependencies: ["Base", "TicTacToe", "Oracle", "Records", "MatchProtocol", "ClientModel", "Interface"]),
    .target(
      name: "Screen", dependencies: ["Base", "TicTacToe", "Oracle", "ScoreModel", "Interface", "CCairo", "CPango"],
      exclude: ["Web"]),
    .target(
      name: "Play",
      dependencies: [
        "Base", "TicTacToe", "Oracle", "Records", "Opponents", "ScoreModel", "Tintinnabuli", "GameScore",
        "ScoreFormats", "MatchProtocol", "ClientModel",
        "Session", "Interface", "WindowLogic", "Screen", "Locks",
      ]),
    .target(
      name: "Film",
      dependencies: ["Records", "ScoreModel", "GameScore", "Synth", "ScoreIO", "Screen", "Play", "Processes"]),
    .target(
      name: "SDLPlatform", dependencies: ["Base", "ScoreModel", "Synth", "Screen", "CSDL2", "CSDL2Mixer", "Processes"]),
  ])

// Arena: matches without a window.
targets += layer(
  "Sources/Arena",
  [
    .target(name: "RulesLibrary", dependencies: ["Base", "TicTacToe"]),
    .target(name: "ArenaFiles", dependencies: ["CProcess", "Processes"]),
    .target(
      name: "Arena",
      dependencies: [
        "Base", "TicTacToe", "Oracle", "Records", "Opponents", "RulesLibrary", "ArenaFiles", "CProcess", "Processes",
      ]),
    .target(name: "ArenaTexts", dependencies: ["Base", "TicTacToe", "Oracle", "Records", "Opponents", "Arena"]),
  ])

// Apps: arguments, and one call.
targets += layer(
  "Sources/Apps",
  [
    .executableTarget(
      name: "alina",
      dependencies: [
        "Base", "TicTacToe", "Records", "ScoreModel", "Tintinnabuli", "GameScore", "Synth", "SampledPiano", "ScoreIO",
        "MatchProtocol",
        "ClientModel", "MatchClient", "Session", "Interface", "WindowLogic", "Screen", "Play", "Film", "SDLPlatform",
        "Processes", "Locks",
        argumentParser,
      ]),
    .executableTarget(
      name: "alina-arena",
      dependencies: [
        "Base", "TicTacToe", "Oracle", "Records", "Opponents", "Tintinnabuli", "GameScore", "Synth", "ScoreIO",
        "MatchProtocol", "MatchClient", "Arena", "ArenaTexts", "Locks", "Processes", argumentParser,
      ]),
    .executableTarget(
      name: "alina-score",
      dependencies: [
        "Base", "TicTacToe", "Oracle", "Records", "Opponents", "ScoreModel", "Tintinnabuli", "GameScore", "Synth",
        "SampledPiano", "ScoreFormats", "ScoreIO", "ScoreMeasures", "Processes",
        argumentParser,
      ] + (headless ? [] : ["CCairo", "Film", "Play", "Screen"])),
  ])

// System: libraries of the operating system as modules.
targets += layer(
  "Sources/System",
  [
    .target(name: "Locks"),
    .target(name: "Processes", dependencies: ["CProcess"]),
    .systemLibrary(name: "CProcess"),
    .systemLibrary(name: "CSndfile"),
    .systemLibrary(name: "CAlsa"),
    .systemLibrary(name: "CYAML"),
    .systemLibrary(name: "CFluidSynth"),
    .systemLibrary(name: "COpenSSL"),
    .systemLibrary(name: "CSDL2"),
    .systemLibrary(name: "CSDL2Mixer"),
    .systemLibrary(name: "CCairo"),
    .systemLibrary(name: "CPango"),
  ])

// The match server.
targets += layer(
  "server/Sources",
  [
    .target(
      name: "TLSChannel", dependencies: ["TLS", nioCore]),
    .target(name: "MatchStore", dependencies: ["Base", "TicTacToe", "MatchProtocol"]),
    .target(name: "SQLiteStore", dependencies: ["Base", "TicTacToe", "MatchProtocol", "MatchStore", "CSQLite"]),
    .target(name: "PostgresStore", dependencies: ["Base", "TicTacToe", "MatchProtocol", "MatchStore", "CLibPQ"]),
    .target(name: "Lobby", dependencies: ["Base", "TicTacToe", "MatchProtocol", "MatchStore"]),
    .target(
      name: "ServerTransport",
      dependencies: [
        "Base", "TicTacToe", "Records", "MatchProtocol", "TLS", "TLSChannel", "Processes", "MatchStore", "Lobby",
        nioCore,
        nioPosix,
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOWebSocket", package: "swift-nio"),
      ]),
    .executableTarget(
      name: "alina-server",
      dependencies: [
        "Base", "MatchProtocol", "Processes", "MatchStore", "SQLiteStore", "PostgresStore", "Lobby", "ServerTransport",
        nioPosix, argumentParser,
      ]),
    .systemLibrary(name: "CLibPQ", pkgConfig: "libpq"),
    .systemLibrary(name: "CSQLite"),
  ])

// The page; `WEB=1` below adds the rest. The probe compares results of the page's module with this system's.
targets += layer(
  "web/Sources",
  [
    .target(
      name: "Probe",
      dependencies: [
        "Base", "TicTacToe", "Oracle", "Records", "Opponents", "ScoreModel", "Tintinnabuli", "GameScore", "Synth",
        "ScoreFormats",
        "MatchProtocol", "ClientModel",
      ])
  ])

// Tests, by layer.
/// Selects the tests of a run and skips those that cannot run here.
targets += layer("Tests", [.target(name: "TestSupport", dependencies: ["Processes"])])
targets += layer(
  "Tests/Core",
  [
    .testTarget(name: "BaseTests", dependencies: ["Base"]),
    .testTarget(name: "TicTacToeTests", dependencies: ["Base", "TicTacToe"]),
    .testTarget(name: "OracleTests", dependencies: ["Base", "TicTacToe", "Oracle"]),
    .testTarget(name: "RecordsTests", dependencies: ["Base", "TicTacToe", "Oracle", "Records"]),
    .testTarget(name: "OpponentsTests", dependencies: ["Base", "TicTacToe", "Oracle", "Opponents"]),
  ])
targets += layer(
  "Tests/Music",
  [
    .target(name: "CMallocProbe"),
    .testTarget(
      name: "GameScoreTests",
      dependencies: [
        "Base", "TicTacToe", "Oracle", "Records", "ScoreModel", "Tintinnabuli", "GameScore", "ScoreIO",
        "ScoreMeasures",
      ],
      exclude: ["Goldens"]),
    .testTarget(
      name: "SynthTests",
      dependencies: [
        "Oracle", "ScoreModel", "Tintinnabuli", "GameScore", "Synth", "SampledPiano", "ScoreIO", "ScoreMeasures",
        "CMallocProbe",
      ],
      exclude: ["Goldens"]),
    .testTarget(
      name: "ScoreIOTests",
      dependencies: [
        "Base", "TicTacToe", "Oracle", "Records", "ScoreModel", "Tintinnabuli", "GameScore", "Synth", "ScoreFormats",
        "ScoreIO", "ScoreMeasures", "alina-score",
      ],
      exclude: ["Goldens"]),
  ])
targets += layer(
  "Tests/Network",
  [
    .target(name: "Fuzz", dependencies: ["TicTacToe", "MatchProtocol"], exclude: ["Corpus", "wire.dict"]),
    .testTarget(name: "MatchProtocolTests", dependencies: ["Base", "TicTacToe", "MatchProtocol", "Fuzz"]),
    .testTarget(
      name: "MatchClientTests",
      dependencies: ["Base", "TicTacToe", "MatchProtocol", "ClientModel", "TLS", "MatchClient", "COpenSSL"]),
  ])
targets += layer(
  "Tests/Window",
  [
    .testTarget(
      name: "SessionTests",
      dependencies: [
        "Base", "TicTacToe", "Records", "Opponents", "ScoreModel", "Tintinnabuli", "GameScore", "ScoreIO", "Session",
      ]),
    .testTarget(
      name: "ScreenTests",
      dependencies: ["Base", "TicTacToe", "Oracle", "ScoreModel", "Interface", "Screen", "CCairo", "CPango"],
      exclude: ["Goldens"]),
    .testTarget(
      name: "WindowLogicTests",
      dependencies: [
        "Base", "TicTacToe", "Oracle", "Records", "MatchProtocol", "ClientModel", "Interface", "WindowLogic",
      ]),
    .testTarget(
      name: "PlayTests",
      dependencies: [
        "Base", "TicTacToe", "Oracle", "Records", "ScoreModel", "Tintinnabuli", "GameScore", "ScoreFormats", "ScoreIO",
        "MatchProtocol", "ClientModel", "Session", "Interface", "WindowLogic", "Screen", "Play",
      ]),
    .testTarget(
      name: "SDLPlatformTests", dependencies: ["Base", "ScoreModel", "Synth", "Screen", "SDLPlatform", "CSDL2"]),
  ])
targets += layer(
  "Tests/Arena",
  [
    .testTarget(
      name: "ArenaTests",
      dependencies: ["Base", "TicTacToe", "Oracle", "Records", "Opponents", "ArenaFiles", "Arena", "ArenaTexts"],
      exclude: ["Fixtures", "Goldens"])
  ])
targets += layer(
  "Tests/Web",
  [
    .testTarget(
      name: "WebTests",
      dependencies: ["Base", "TicTacToe", "Records", "ScoreFormats", "ScoreIO", "MatchProtocol", "Probe"],
      exclude: ["probe.mjs"])
  ])
targets += layer(
  "Tests/Apps",
  [
    // Runs the executables as processes; the dependency only makes sure that they are built first.
    .testTarget(
      name: "EndToEndTests",
      dependencies: [
        "Base", "TicTacToe", "Oracle", "Records", "ScoreModel", "Tintinnabuli", "GameScore", "Synth", "ScoreIO",
      ])
  ])
targets += layer(
  "server",
  [
    /// Shared by the tests of stores, lobby and server.
    .target(
      name: "ServerTestSupport",
      dependencies: [
        "Base", "TicTacToe", "MatchProtocol", "MatchStore", "SQLiteStore", "PostgresStore", "TestSupport",
      ],
      path: "server/Tests/Support"),
    .testTarget(
      name: "StoreTests",
      dependencies: [
        "Base", "TicTacToe", "MatchProtocol", "MatchStore", "SQLiteStore", "PostgresStore", "ServerTestSupport",
        "CSQLite",
      ], path: "server/Tests/Stores"),
    .testTarget(
      name: "LobbyTests",
      dependencies: [
        "Base", "TicTacToe", "MatchProtocol", "MatchStore", "Lobby", "ServerTestSupport",
      ], path: "server/Tests/Lobby"),
    .testTarget(
      name: "SimulationTests",
      dependencies: [
        "Base", "TicTacToe", "MatchProtocol", "ClientModel", "MatchStore", "SQLiteStore", "PostgresStore", "Lobby",
        "ServerTestSupport",
      ], path: "server/Tests/Simulation"),
    .testTarget(
      name: "MatchServerTests",
      dependencies: [
        "Base", "TicTacToe", "Records", "MatchProtocol", "MatchClient", "TLS", "TLSChannel", "MatchStore",
        "SQLiteStore",
        "PostgresStore",
        "Lobby",
        "ServerTransport", "ServerTestSupport", "COpenSSL", nioCore, nioPosix,
        .product(name: "NIOEmbedded", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
      ], path: "server/Tests/Server"),
  ])

var packages: [String: Package.Dependency] = [
  "swift-argument-parser": .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
  "swift-nio": .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
]

if bench {
  packages["hdrhistogram-swift"] = .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", exact: "0.2.0")
  targets += layer(
    "Benchmarks",
    [
      .target(name: "CRealtimeProbe"),
      .executableTarget(
        name: "arena-bench", dependencies: ["Base", "TicTacToe", "Oracle", "Opponents", "Arena"],
        resources: [.embedInCode("baseline.c"), .embedInCode("ultimate.c")]),
      .executableTarget(
        name: "frame-bench", dependencies: ["TicTacToe", "Interface", "Screen", "SDLPlatform"]),
      .executableTarget(
        name: "store-bench",
        dependencies: ["Base", "TicTacToe", "MatchProtocol", "MatchStore", "SQLiteStore", "PostgresStore"]),
      .executableTarget(
        name: "synth-bench",
        dependencies: ["ScoreModel", "Tintinnabuli", "GameScore", "Synth", "SampledPiano", "ScoreIO", "CRealtimeProbe"]),
      .executableTarget(
        name: "match-bench",
        dependencies: [
          "Base", "TicTacToe", "MatchProtocol", "TLS", "TLSChannel", nioCore, nioPosix,
          .product(name: "Histogram", package: "hdrhistogram-swift"),
        ]),
    ])
}

/// The targets that count, search, compose, draw or render. Without the optimiser they are up to 150 times slower and allocate on the
/// audio thread, so they are optimised in debug builds too. The other targets then compile in a third of the time.
var computing = ["Base", "TicTacToe", "Oracle", "ScoreModel", "Tintinnabuli", "Synth", "SampledPiano"]
if !draft {
  computing += [
    "Records", "Opponents", "GameScore", "Screen", "SDLPlatform", "Arena", "MatchProtocol", "MatchStore", "Lobby",
    "SynthTests", "SimulationTests", "TestSupport",
  ]
}
for target in targets where computing.contains(target.name) {
  target.swiftSettings = (target.swiftSettings ?? []) + [.unsafeFlags(["-O"], .when(configuration: .debug))]
}

/// The targets that wait for a player, a file or a server. Release builds leave the optimiser out for them, too: it takes a ninth of
/// the processor time of `./play`, and a player does not notice it.
let waiting = [
  "ArenaTexts", "ClientModel", "Interface", "MatchClient", "Play", "Processes", "ScoreFormats", "Session",
  "WindowLogic",
]
for target in targets where target.type == .test { target.dependencies.append("TestSupport") }
for target in targets where [.regular, .executable].contains(target.type) && target.name != "CMallocProbe" {
  // All others inline functions of one target into another.
  let flag = waiting.contains(target.name) ? "-Onone" : "-cross-module-optimization"
  target.swiftSettings = (target.swiftSettings ?? []) + [.unsafeFlags([flag], .when(configuration: .release))]
}

// Warnings are errors with the known compiler versions, and only printed with others.
#if compiler(<6.4)
  for target in targets where target.type != .system {
    target.swiftSettings = (target.swiftSettings ?? []) + [.treatAllWarnings(as: .error)]
  }
#endif

// In the browser: the shared targets without their system-specific parts, replacements for those, and the page's modules.
if web {
  let shared = [
    "Base", "TicTacToe", "Oracle", "Records", "Opponents", "ScoreModel", "Tintinnabuli", "GameScore", "Synth",
    "ScoreFormats",
    "MatchProtocol",
    "ClientModel", "Session", "Interface", "WindowLogic", "Screen", "Play", "Locks", "Probe",
  ]
  targets = targets.filter { shared.contains($0.name) }
  for target in targets where target.name == "Screen" { target.exclude = ["Cairo"] }
  targets += layer(
    "web/Sources",
    [
      .target(name: "Glibc"),
      .executableTarget(
        name: "alina-sound", dependencies: ["ScoreModel", "Tintinnabuli", "GameScore", "Synth", "ScoreFormats"]),
      .executableTarget(
        name: "alina-web",
        dependencies: [
          "Base", "TicTacToe", "Records", "ScoreModel", "Tintinnabuli", "GameScore", "ScoreFormats", "MatchProtocol",
          "ClientModel",
          "Session", "Interface", "WindowLogic", "Screen", "Play",
        ]),
      .executableTarget(name: "alina-probe", dependencies: ["Probe", "ScoreFormats"]),
    ])
  for target in targets where target.name != "Glibc" {
    target.dependencies.removeAll { dependency in
      if case .byNameItem(let name, _) = dependency { !targets.contains { $0.name == name } } else { true }
    }
    target.dependencies.append("Glibc")
    target.swiftSettings = [
      .enableExperimentalFeature("Embedded"), .enableExperimentalFeature("Extern"), .treatAllWarnings(as: .error),
    ]
    // SIMD adds partials four at once (in browsers since 2021, Safari 2023). Targets other than the sound are optimised for size.
    let size = ["Synth", "alina-sound"].contains(target.name) ? [] : ["-Osize"]
    // Disables a compiler pass that turns list literals into constants: across several modules some of these come out empty.
    let mended = ["-Xllvm", "-sil-disable-pass=object-outliner"]
    target.swiftSettings?.append(.unsafeFlags(["-Xcc", "-msimd128"] + mended + size))
    // Importing modules compile the code they use, so a module's own object file would only be dropped by the linker.
    if target.type == .regular {
      target.swiftSettings?.append(.unsafeFlags(["-Xfrontend", "-emit-empty-object-file"]))
    }
    target.linkerSettings = [.unsafeFlags(["-Xclang-linker", "-nostdlib"])]
  }
  packages = [:]
}

/// `ONLY="alina alina-server"` keeps these targets and their dependencies: no others are fetched, resolved or built.
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
}

/// The libraries for other packages.
let libraries = ["ScoreModel", "Tintinnabuli", "Synth"].filter { name in targets.contains { $0.name == name } }

/// The rules of the games for Python, as a shared library.
let sharedLibraries: [Product] =
  targets.contains { $0.name == "RulesLibrary" }
  ? [.library(name: "alina_rules", type: .dynamic, targets: ["RulesLibrary"])] : []

let package = Package(
  name: "Alina",
  products: web ? [] : libraries.map { .library(name: $0, targets: [$0]) } + sharedLibraries,
  dependencies: packages.sorted { $0.key < $1.key }.map(\.value),
  targets: targets
)
