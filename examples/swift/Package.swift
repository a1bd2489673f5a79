// swift-tools-version: 6.2
import PackageDescription

// A package that composes with Alina's libraries. ONLY avoids fetching dependencies they do not need:
//   ONLY="Tintinnabuli Synth" swift run --package-path examples/swift bells > bells.raw
let package = Package(
  name: "bells",
  dependencies: [.package(name: "Alina", path: "../..")],
  targets: [
    .executableTarget(
      name: "bells",
      dependencies: [
        .product(name: "ScoreModel", package: "Alina"), .product(name: "Tintinnabuli", package: "Alina"),
        .product(name: "Synth", package: "Alina"),
      ])
  ])
