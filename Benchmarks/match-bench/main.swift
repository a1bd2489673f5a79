// The load generator for the match server: see Options.help.
import Foundation

if CommandLine.arguments.dropFirst().first == "echo" { try Echo.serve() }
var measure = Measure(Options(Array(CommandLine.arguments.dropFirst())))
try measure.run()
print("| what | measured | ratios | goal |\n|---|---|---|---|")
for row in measure.rows { print("| \(row.name) | \(row.value) | \(row.ratio) | \(row.goal) |") }
for fault in measure.faults.prefix(20) { print("FAULT: \(fault)") }
exit(measure.faults.isEmpty ? 0 : 1)
