import ScoreIO
import Tintinnabuli

/// The shipped score rules, as the window plays by them.
let testRules: ScoreRules = {
  do {
    return try RuleLibrary.load().rules
  } catch {
    fatalError("the shipped rules cannot be read: \(error)")
  }
}()
