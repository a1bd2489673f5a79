import ArgumentParser
import Foundation
import ServerTransport

/// Makes what a node shows to the others.
struct ClusterCert: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cluster-cert",
    abstract: "Make the certificate of a node, and the cluster's authority if there is none.",
    discussion: """
      ca.crt, NAME.crt and NAME.key go to the machine of node NAME; ca.key, which can make more nodes, to none. \
      All are valid for ten years.
      """)
  @Option(help: ArgumentHelp("Folder of the authority and the certificates.", valueName: "dir"))
  var clusterDir: String
  @Argument(help: "The node's name: 1–32 characters a–z, 0–9 and -.") var name: String

  func run() throws {
    guard NodeTLS.isName(name) else {
      throw ConfigurationError(text: "a node's name has 1–32 characters a–z, 0–9 and -, and a letter, not '\(name)'")
    }
    try NodeTLS.make(in: clusterDir, name: name)
    print("made \(clusterDir)/\(name).crt and \(name).key")
  }
}
