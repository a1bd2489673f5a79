import TicTacToe
import Testing

@testable import Oracle

@Suite("Perft") struct PerftTests {
  @Test func `perft matches the reference counts of nodes, wins and draws, ply by ply`() {
    let perft = Perft()
    #expect(perft.nodes == Facts.ints("perft_nodes_by_ply"))
    #expect(perft.totalNodes == Facts.int("perft_total_nodes"))
    #expect(perft.xWins == Facts.ints("games_by_ply", "x_wins"))
    #expect(perft.oWins == Facts.ints("games_by_ply", "o_wins"))
    #expect(perft.draws == Facts.ints("games_by_ply", "draws"))
    #expect(perft.totalGames == Facts.int("games_total"))
    let byPly = zip(perft.xWins, zip(perft.oWins, perft.draws)).map { $0 + $1.0 + $1.1 }
    #expect(byPly == Facts.ints("games_total_by_ply"))
    #expect(perft.xWins.reduce(0, +) == Facts.int("games", "x_wins"))
    #expect(perft.oWins.reduce(0, +) == Facts.int("games", "o_wins"))
    #expect(perft.draws.reduce(0, +) == Facts.int("games", "draws"))
    #expect(Perft(depth: 3).nodes == [1, 9, 72, 504])
    #expect(Perft(depth: -1).nodes == [1])
  }
}

@Suite("Solver") struct SolverTests {
  @Test func `the reference table of positions equals ours`() {
    #expect(Facts.rows.count == 5478)
    #expect(Solver.positions.count == 5478)
    #expect(Set(Facts.rows.map(\.position)) == Set(Solver.positions))
    for row in Facts.rows {
      let position = row.position
      #expect(position.isReachable)
      let evaluation = Solver.shared.evaluation(of: position)
      #expect(row.side == (position.outcome != nil ? "-" : position.turn == .x ? "X" : "O"), "\(row.board)")
      let xView = position.turn == .x ? evaluation.value : evaluation.value.negated
      #expect(Int(xView.rawValue) == row.value, "\(row.board)")
      #expect(evaluation.distance == row.distance, "\(row.board)")
      #expect(Solver.shared.valuePreservingMoves(in: position) == row.preserving ?? [], "\(row.board)")
      #expect(Solver.shared.distanceOptimalMoves(in: position) == row.optimal ?? [], "\(row.board)")
    }
  }

  @Test func `every key gives a board with that key, and 5,478 boards are reachable`() {
    var reachable = 0
    for key in 0..<Position.keyCount {
      let position = Position(ternaryKey: key)
      #expect(position.ternaryKey == key)
      if position.isReachable { reachable += 1 }
    }
    #expect(reachable == 5478)
  }

  @Test func `the numbers of move sequences to each position match the reference table`() {
    var ways = [Position.start: 1]
    for position in Solver.positions {
      let count = ways[position] ?? 0
      for square in position.legalMoves { ways[position.playing(square), default: 0] += count }
    }
    for row in Facts.rows { #expect(ways[row.position] == row.sequences, "\(row.board)") }
  }

  @Test func `the counts of positions, values and moves match the reference`() {
    let solver = Solver.shared
    var byPly = [Int](repeating: 0, count: 10)
    var allXView: [String: Int] = [:]
    var liveXView: [String: Int] = [:]
    var liveMover: [String: Int] = [:]
    var liveMoverByPly = [[String: Int]](repeating: ["win": 0, "draw": 0, "loss": 0], count: 9)
    var preserving: [String: Int] = [:]
    var optimal: [String: Int] = [:]
    var transitions: [String: Int] = [:]
    var distances: [String: [String: Int]] = [:]
    var terminal: [String: [Int]] = [
      "x_wins": .init(repeating: 0, count: 10), "o_wins": .init(repeating: 0, count: 10),
      "draws": .init(repeating: 0, count: 10),
    ]
    var (single, everyMove, legal, kept) = (0, 0, 0, 0)
    for position in Solver.positions {
      byPly[position.ply] += 1
      let evaluation = solver.evaluation(of: position)
      let xView = position.turn == .x ? evaluation.value : evaluation.value.negated
      allXView[xName(xView), default: 0] += 1
      if let outcome = position.outcome {
        let name = outcome == .draw ? "draws" : outcome == .win(.x) ? "x_wins" : "o_wins"
        terminal[name]?[position.ply] += 1
        continue
      }
      liveXView[xName(xView), default: 0] += 1
      liveMover["\(evaluation.value)", default: 0] += 1
      liveMoverByPly[position.ply]["\(evaluation.value)", default: 0] += 1
      distances["\(evaluation.value)", default: [:]]["\(evaluation.distance)", default: 0] += 1
      let keeping = solver.valuePreservingMoves(in: position)
      let best = solver.distanceOptimalMoves(in: position)
      #expect(best.isSubset(of: keeping) && !best.isEmpty)
      preserving["\(keeping.count)", default: 0] += 1
      optimal["\(best.count)", default: 0] += 1
      legal += position.legalMoves.count
      kept += keeping.count
      if keeping.count == 1, position.legalMoves.count > 1 { single += 1 }
      if keeping == position.legalMoves { everyMove += 1 }
      for square in position.legalMoves {
        let after = solver.evaluation(of: position.playing(square)).value.negated
        transitions["\(evaluation.value)->\(after)", default: 0] += 1
      }
    }
    #expect(byPly == Facts.ints("positions_by_ply"))
    #expect(byPly.reduce(0, +) == Facts.int("positions_total"))
    #expect(allXView == Facts.table("values_all_positions_x_view"))
    #expect(liveXView == Facts.table("values_nonterminal_x_view"))
    #expect(liveMover == Facts.table("values_nonterminal_side_to_move_view"))
    #expect(liveMover.values.reduce(0, +) == Facts.int("nonterminal_positions"))
    #expect(
      liveMoverByPly == Facts.standard["values_nonterminal_by_ply_side_to_move_view"] as? [[String: Int]])
    for (name, counts) in terminal {
      #expect(counts == Facts.ints("terminal_positions_by_ply", name))
      #expect(counts.reduce(0, +) == Facts.int("terminal_positions", name))
    }
    #expect(terminal.values.joined().reduce(0, +) == Facts.int("terminal_positions_total"))
    #expect(preserving == Facts.table("optimal_move_count_distribution_value_preserving"))
    #expect(optimal == Facts.table("optimal_move_count_distribution_distance_optimal"))
    #expect(single == Facts.int("positions_with_a_single_value_preserving_move_and_2plus_legal"))
    #expect(everyMove == Facts.int("positions_where_every_move_is_optimal"))
    #expect(legal == Facts.int("legal_moves_over_nonterminal_positions"))
    #expect(kept == Facts.int("value_preserving_moves_over_nonterminal_positions"))
    #expect(transitions == Facts.table("move_value_transitions_side_to_move_view"))
    #expect(
      distances == Facts.standard["distance_to_end_distribution_nonterminal"] as? [String: [String: Int]])
    #expect(xName(solver.evaluation(of: .start).value) == Facts.standard["value_of_start_for_x"] as? String)
  }

  @Test func `first moves and replies match the reference`() {
    let solver = Solver.shared
    let firstMoves = Facts.standard["first_move_values_x_view"] as! [String: String]
    let replies = Facts.standard["second_move_optimal_replies"] as! [String: [Int]]
    for square in Square.all {
      let after = Position.start.playing(square)
      #expect(xName(solver.evaluation(of: after).value.negated) == firstMoves["\(square.index)"])
      #expect(solver.valuePreservingMoves(in: after).map(\.index) == replies["\(square.index)"])
    }
  }

  private func xName(_ value: Value) -> String { value == .draw ? "draw" : value == .win ? "x_win" : "o_win" }
}

@Suite("Symmetry") struct SymmetryTests {
  @Test func `the eight symmetries form a group and keep lines`() {
    #expect(Set(Symmetry.all.map(\.images)).count == 8)
    for a in Symmetry.all {
      #expect(Set(Line.all.map { a($0) }) == Set(Line.all))
      #expect(Square.all.allSatisfy { a.inverse(a($0)) == $0 })
      for b in Symmetry.all {
        let both = Square.all.map { a(b($0)) }
        #expect(Symmetry.all.contains { $0.images == both })
      }
    }
  }

  @Test func `the counts of positions up to symmetry match the reference`() {
    let solver = Solver.shared
    var classes: [Position] = []
    for position in Solver.positions {
      let (canonical, symmetry) = position.canonical
      #expect(symmetry(position) == canonical)
      #expect(canonical.canonical.position == canonical)
      #expect(solver.evaluation(of: canonical) == solver.evaluation(of: position))
      if canonical == position { classes.append(position) }
    }
    var byPly = [Int](repeating: 0, count: 10)
    var terminal = [String: [Int]]()
    for name in ["x_wins", "o_wins", "draws"] { terminal[name] = .init(repeating: 0, count: 10) }
    var (all, live, mover, preserving) = ([String: Int](), [String: Int](), [String: Int](), [String: Int]())
    for position in classes {
      byPly[position.ply] += 1
      let value = solver.evaluation(of: position).value
      let xView = position.turn == .x ? value : value.negated
      let name = xView == .draw ? "draw" : xView == .win ? "x_win" : "o_win"
      all[name, default: 0] += 1
      if let outcome = position.outcome {
        terminal[outcome == .draw ? "draws" : outcome == .win(.x) ? "x_wins" : "o_wins"]?[position.ply] += 1
      } else {
        live[name, default: 0] += 1
        mover["\(value)", default: 0] += 1
        preserving["\(solver.valuePreservingMoves(in: position).count)", default: 0] += 1
      }
    }
    #expect(byPly == Facts.ints("positions_by_ply_up_to_symmetry"))
    #expect(classes.count == Facts.int("positions_total_up_to_symmetry"))
    for (name, counts) in terminal {
      #expect(counts == Facts.ints("terminal_positions_up_to_symmetry_by_ply", name))
      #expect(counts.reduce(0, +) == Facts.int("terminal_positions_up_to_symmetry", name))
    }
    #expect(terminal.values.joined().reduce(0, +) == Facts.int("terminal_positions_up_to_symmetry_total"))
    #expect(all == Facts.table("values_all_x_view_up_to_symmetry"))
    #expect(live == Facts.table("values_nonterminal_x_view_up_to_symmetry"))
    #expect(mover == Facts.table("values_nonterminal_side_to_move_view_up_to_symmetry"))
    #expect(live.values.reduce(0, +) == Facts.int("nonterminal_positions_up_to_symmetry"))
    #expect(preserving == Facts.table("optimal_move_count_distribution_value_preserving_up_to_symmetry"))
  }

  @Test func `the counts of games up to symmetry match the reference, computed in two ways`() {
    // Burnside's lemma. A symmetry maps a sequence of moves to itself if it fixes each cell in it.
    var fixed = 0
    for symmetry in Symmetry.all {
      let allowed = Square.all.reduce(into: SquareSet()) { if symmetry($1) == $1 { $0.insert($1) } }
      func count(_ position: Position) -> Int {
        if position.outcome != nil { return 1 }
        return position.legalMoves.intersection(allowed).reduce(0) { $0 + count(position.playing($1)) }
      }
      fixed += count(.start)
    }
    #expect(fixed / 8 == Facts.int("games_up_to_symmetry_sequence_orbits"))
    // Paths to the ends of games; positions that are equal up to symmetry are one position.
    func paths(_ position: Position) -> Int {
      if position.outcome != nil { return 1 }
      let next = Set(position.legalMoves.map { position.playing($0).canonical.position })
      #expect(next.count <= position.distinctMoves.count)
      return next.reduce(0) { $0 + paths($1) }
    }
    #expect(paths(.start) == Facts.int("games_up_to_symmetry_quotient_position_graph"))
  }

  @Test func `one move of each class of equivalent moves reaches, up to symmetry, every position that all moves reach`()
  {
    for position in Solver.positions where position.outcome == nil {
      let all = Set(position.legalMoves.map { position.playing($0).canonical.position })
      let distinct = Set(position.distinctMoves.map { position.playing($0).canonical.position })
      #expect(all == distinct)
    }
    #expect(Position.start.distinctMoves.count == 3)
  }
}
