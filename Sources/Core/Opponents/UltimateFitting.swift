import Base
import TicTacToe

/// Fits the weights of `UltimateNet` to positions with known values by gradient descent.
///
/// Source of the steps: D. Kingma, J. Ba, "Adam: a method for stochastic optimization", ICLR 2015.
struct UltimateFitting {
  private typealias Lanes = SIMD8<Float>

  /// The weights in the order of a weights file (see `UltimateNet.weightCount`).
  private(set) var weights: [Float]
  private let images = UltimateNet.images()
  /// At [input][unit], the weights from the input to the unit's eight neurons. `gradients` has the sums of the gradients for these weights.
  private var columns: [Lanes]
  private var gradients: [Lanes]
  /// The sums of the gradients for all other weights: the units' biases, the output weights, the output's bias.
  private var rest: [Float]
  /// Adam's running means: of each weight's gradient (`means`) and of the gradient's square (`squares`).
  private var means: [Float]
  private var squares: [Float]
  /// The shares that the start value 0 still has in `means` and in `squares`; `step` divides them out.
  private var decays: (Float, Float) = (1, 1)
  /// By unit, the weighted sums of the inputs in its eight neurons, from the last call of `output`.
  private var sums = [Lanes](repeating: Lanes(), count: units)

  private static var units: Int { UltimateNet.unitCount }
  private static var inputs: Int { UltimateNet.inputCount }
  /// The indices in `weights` of the first bias, of the first output weight and of the output's bias.
  private static var biases: Int { units * inputs }
  private static var outputs: Int { biases + units }
  private static var bias: Int { outputs + units }

  init(weights: [Float]) {
    self.weights = weights
    columns = UltimateNet.columns(of: weights, images)
    gradients = [Lanes](repeating: Lanes(), count: columns.count)
    rest = [Float](repeating: 0, count: weights.count - UltimateFitting.biases)
    means = [Float](repeating: 0, count: weights.count)
    squares = means
  }

  init(seed: UInt64) {
    var generator = SplitMix64(seed: seed)
    let random = (0..<UltimateFitting.biases).map { _ in (Float(generator.below(20_001)) / 10_000 - 1) * 0.15 }
    let outputs = (0..<UltimateFitting.units).map { Float($0 % 2 == 0 ? 0.1 : -0.1) }
    self.init(weights: random + outputs.map { _ in 0.3 } + outputs + [0])
  }

  /// The weights as integers, for a weights file.
  var rounded: [Int16] {
    weights.indices.map {
      let scale =
        $0 < UltimateFitting.outputs
        ? UltimateNet.scale : $0 < UltimateFitting.bias ? UltimateNet.outputScale : UltimateValue.scale
      return UltimateValue.rounded(weights[$0], scale: scale)
    }
  }

  /// The net's share of a position's log-odds of a win. `active` lists the inputs that are 1.
  mutating func output(_ active: [Int]) -> Float {
    let units = UltimateFitting.units
    for unit in 0..<units { sums[unit] = Lanes(repeating: weights[UltimateFitting.biases + unit]) }
    for input in active {
      for unit in 0..<units { sums[unit] += columns[input * units + unit] }
    }
    var result = weights[UltimateFitting.bias]
    for unit in 0..<units {
      let neurons = sums[unit].clamped(lowerBound: Lanes(repeating: 0), upperBound: Lanes(repeating: 1))
      result += (neurons * neurons).sum() * weights[UltimateFitting.outputs + unit]
    }
    return result
  }

  /// Adds one position's gradients. The last call of `output` must have been for this position.
  /// - Parameter error: The position's target for the probability of a win, minus the computed probability.
  mutating func learn(_ active: [Int], error: Float) {
    let units = UltimateFitting.units
    let (zero, one) = (Lanes(repeating: 0), Lanes(repeating: 1))
    for unit in 0..<units {
      let neurons = sums[unit].clamped(lowerBound: zero, upperBound: one)
      rest[units + unit] -= (neurons * neurons).sum() * error
      var slope = neurons * (-2 * weights[UltimateFitting.outputs + unit] * error)
      slope.replace(with: zero, where: sums[unit] .>= one)
      rest[unit] += slope.sum()
      sums[unit] = slope
    }
    rest[2 * units] -= error
    for input in active {
      for unit in 0..<units { gradients[input * units + unit] += sums[unit] }
    }
  }

  /// Changes the weights by the mean gradient of the `count` positions learned since the last step.
  mutating func step(count: Int, rate: Float) {
    let (units, inputs) = (UltimateFitting.units, UltimateFitting.inputs)
    decays = (decays.0 * 0.9, decays.1 * 0.999)
    let limit = Float(UltimateNet.outputLimit) / Float(UltimateNet.outputScale)
    for index in weights.indices {
      var gradient: Float = 0
      if index < UltimateFitting.biases {
        let (unit, input) = index.quotientAndRemainder(dividingBy: inputs)
        for symmetry in images.indices { gradient += gradients[images[symmetry][input] * units + unit][symmetry] }
      } else {
        gradient = rest[index - UltimateFitting.biases]
      }
      gradient /= Float(count)
      means[index] = 0.9 * means[index] + 0.1 * gradient
      squares[index] = 0.999 * squares[index] + 0.001 * gradient * gradient
      let spread = (squares[index] / (1 - decays.1)).squareRoot() + 1e-8
      weights[index] -= rate * means[index] / (1 - decays.0) / spread
      if (UltimateFitting.outputs..<UltimateFitting.bias).contains(index) {
        weights[index] = max(-limit, min(limit, weights[index]))
      }
    }
    columns = UltimateNet.columns(of: weights, images)
    for index in gradients.indices { gradients[index] = Lanes() }
    for index in rest.indices { rest[index] = 0 }
  }
}
