// swift-tools-version: 6.2
// Measurements that are no tests: `swift run -c release --package-path Benchmarks synth-bench` and `scripts/load`.
import PackageDescription

let package = Package(
  name: "Benchmarks",
  dependencies: [
    .package(name: "Alina", path: ".."),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", from: "0.2.0"),
  ],
  targets: [
    .target(name: "CRealtimeProbe"),
    .executableTarget(
      name: "synth-bench", dependencies: ["CRealtimeProbe", .product(name: "Synth", package: "Alina")]),
    .executableTarget(
      name: "match-bench",
      dependencies: [
        .product(name: "MatchProtocol", package: "Alina"), .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"), .product(name: "TLSChannel", package: "Alina"),
        .product(name: "Histogram", package: "hdrhistogram-swift"),
      ]),
  ]
)
