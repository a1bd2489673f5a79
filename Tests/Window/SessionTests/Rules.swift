import ScoreIO
import Tintinnabuli

let testRules: ScoreRules = {
  do {
    return try RuleLibrary.load().rules
  } catch {
    fatalError("the shipped rules cannot be read: \(error)")
  }
}()
