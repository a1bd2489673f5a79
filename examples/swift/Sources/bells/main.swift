import Foundation
import ScoreModel
import Synth
import Tintinnabuli

// Three events in sequence and the closing arch, as raw stereo: 32-bit floats, 48,000 frames per second.
var rules = ScoreRules()
rules.signs = [SignRule("calm")]
rules.melody.compass = Pitch(69)...Pitch(95)
rules.melody.register = Pitch(73)...Pitch(90)
for (rule, cost) in [(.third, 7), (.leap, 26), (.repeat, 60), (.tension, 10), (.goal, 1_000), (.chance, 22)]
  as [(ScoreRules.MelodyRule, Int)]
{
  rules.melody[rule] = cost
}
var conductor = Conductor(seed: 7, rules: rules)
var score = conductor.open(at: .zero) + conductor.begin(at: .zero)
for (index, degree) in [4, 2, 7].enumerated() {
  let end = index == 2 ? End(.win, winner: .first) : nil
  score += conductor.compose(
    Event(voice: index % 2 == 0 ? .first : .second, degree: degree, end: end), at: .seconds(2 + 6 * Double(index)))
}
score += conductor.renderToEnd()

var patch = Patch()
patch.levels.master = 12
var renderer = OfflineRenderer(score, engine: Engine(patch: patch))
let length = (conductor.bars.last?.end ?? .zero) + OfflineRenderer.tail
renderer.render(frames: Int(length.rawValue)).withUnsafeBytes { FileHandle.standardOutput.write(Data($0)) }
