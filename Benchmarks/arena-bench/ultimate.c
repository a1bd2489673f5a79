// The C baseline of the benchmark's rows about Ultimate: the same work as the Swift code.
//   ultimate random GAMES | search SIMULATIONS    prints nanoseconds and a signature (computed from the results)
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef unsigned __int128 cells;

// Nanoseconds of processor time of this thread.
static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return t.tv_sec * 1e9 + t.tv_nsec;
}

static uint64_t mix(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

static int has_line(unsigned m) {
  return ((m & m >> 1 & m >> 2 & 0111) | (m & m >> 3 & m >> 6 & 7) | (m & m >> 4 & m >> 8 & 1)
          | (m >> 2 & m >> 4 & m >> 6 & 1)) != 0;
}

// The cells that would be part of a line if they were added to the mask's cells.
static unsigned completions(unsigned m) {
  unsigned result = 0;
  for (int c = 0; c < 9; c++)
    if (has_line(m | 1u << c) && !has_line(m & ~(1u << c))) result |= 1u << c;
  return result;
}

static uint8_t lines[512];
static uint16_t completing[512];
// By mask of occupied cells: the empty cells in order, four bits each, and their number in the top four bits.
static uint64_t empties[512];

static void prepare_tables(void) {
  for (unsigned m = 0; m < 512; m++) {
    lines[m] = (uint8_t)has_line(m);
    completing[m] = (uint16_t)completions(m);
    uint64_t list = (uint64_t)(9 - __builtin_popcount(m)) << 60;
    for (int c = 0, shift = 0; c < 9; c++)
      if (!(m >> c & 1)) list |= (uint64_t)c << shift, shift += 4;
    empties[m] = list;
  }
}

// States ---------------------------------------------------------------------------------------------------------

enum { any_board = 9 };

typedef struct {
  cells side[2];
  uint16_t boards[2], closed;
  uint8_t target, turn;
} state;

static const state start = {.target = any_board};

static unsigned board_of(cells c, int board) { return (unsigned)(c >> 9 * board) & 0x1FF; }

static cells moves_of(const state *s) {
  if (lines[s->boards[0]] || lines[s->boards[1]]) return 0;
  cells boards = 0;
  if (s->target != any_board) boards = (cells)0x1FF << 9 * s->target;
  else
    for (unsigned open = ~s->closed & 0x1FFu; open; open &= open - 1)
      boards |= (cells)0x1FF << 9 * __builtin_ctz(open);
  return ~(s->side[0] | s->side[1]) & boards;
}

// Plays a move. Returns 1 if the move wins the game, 2 if it ends the game in a draw, else 0.
static int mark(state *s, int cell) {
  int board = cell / 9, place = cell % 9, mover = s->turn;
  s->side[mover] |= (cells)1 << cell;
  s->turn ^= 1;
  if (lines[board_of(s->side[mover], board)]) {
    s->closed |= (uint16_t)(1u << board);
    s->boards[mover] |= (uint16_t)(1u << board);
    if (lines[s->boards[mover]]) {
      s->target = any_board;
      return 1;
    }
  } else if (board_of(s->side[0] | s->side[1], board) == 0x1FF) {
    s->closed |= (uint16_t)(1u << board);
  }
  s->target = s->closed >> place & 1 ? any_board : (uint8_t)place;
  return s->closed == 0x1FF ? 2 : 0;
}

// Playouts -------------------------------------------------------------------------------------------------------

static uint64_t random_state;

static inline uint64_t draw(uint64_t bound, uint64_t *r) {
  *r = *r * 6364136223846793005u + 1442695040888963407u;
  return ((*r >> 32) * bound) >> 32;
}

static inline uint8_t cell_of(uint64_t list, uint64_t *r) { return list >> 4 * draw(list >> 60, r) & 15; }

#define ONES 0x0102040810204081u
#define FIVE 0x0100040010004001u
#define FOUR 0x0000040010004001u

// Plays random moves from `s` to the end of the game and adds their number to `plies`. Returns 1 if X wins, -1 if O wins, 0 for a draw.
static int playout(const state *s, long *plies) {
  uint16_t marks[2][9];
  uint8_t next[9];
  uint64_t r = random_state, fields = 0;
  cells x = s->side[0], o = s->side[1];
  for (int b = 0; b < 9; b++, x >>= 9, o >>= 9) {
    marks[0][b] = (uint16_t)x & 0x1FF, marks[1][b] = (uint16_t)o & 0x1FF;
    uint64_t list = empties[marks[0][b] | marks[1][b]];
    next[b] = cell_of(list, &r);
    fields |= (list >> 60) * (~s->closed >> b & 1) << 7 * b;
  }
  uint16_t *mine = marks[s->turn], *theirs = marks[s->turn ^ 1];
  uint64_t my = s->boards[s->turn], their = s->boards[s->turn ^ 1], board = s->target;
  int score = s->turn ? -1 : 1;
  for (;;) {
    ++*plies;
    if (!(fields >> 7 * board & 127)) {
      uint64_t sums = fields * ONES, drawn = draw(sums >> 56 & 127, &r);
      uint64_t five = (drawn * FIVE | 128 * FIVE) - (sums & 127 * FIVE);
      uint64_t four = (drawn * FOUR | 128 * FOUR) - (sums >> 7 & 127 * FOUR);
      board = ((five >> 7 & FIVE) + (four >> 7 & FOUR)) * FIVE >> 56;
    }
    uint64_t cell = next[board];
    uint16_t m = mine[board] | (uint16_t)(1u << cell);
    mine[board] = m;
    uint64_t list = empties[m | theirs[board]], won = lines[m];
    next[board] = cell_of(list, &r);
    fields -= (1 + (list >> 60 & -won)) << 7 * board;
    my |= won << board;
    if (lines[my]) break;
    if (!fields) {
      score = 0;
      break;
    }
    uint16_t *t = mine;
    mine = theirs, theirs = t;
    uint64_t u = my;
    my = their, their = u, score = -score, board = cell;
  }
  random_state = r;
  return score;
}

// Search ---------------------------------------------------------------------------------------------------------

enum { none, win, even, loss };

typedef struct {
  float mean, spread;
  uint32_t visits, first;
  uint8_t count, cell, proof;
} node;

#define CAPACITY (1 << 20)
#define TABLE 4096
static node nodes[CAPACITY];
static uint32_t used;
static float exploration_table[TABLE], root_table[TABLE];

static float square_root(float x) {
  float r;
  __asm__("sqrtss %1, %0" : "=x"(r) : "x"(x));
  return r;
}

static float exploration(uint32_t n) {
  if (n <= 1) return 0;
  int exponent = 31 - __builtin_clz(n);
  float mantissa = (float)n / (float)(1u << exponent) - 1;
  return square_root(0.69314718f * ((float)exponent + mantissa));
}

static void add_nodes(uint32_t n, cells moves, const state *s) {
  uint32_t first = used;
  unsigned mine = s->turn;
  unsigned boards = completing[s->boards[mine]] & (s->target == any_board ? ~s->closed & 0x1FFu : 1u << s->target);
  cells winning = 0;
  for (; boards; boards &= boards - 1) {
    int b = __builtin_ctz(boards);
    winning |= (cells)completing[board_of(s->side[mine], b)] << 9 * b;
  }
  winning &= moves;
  for (cells rest = moves; rest; rest &= rest - 1) {
    int cell = (uint64_t)rest ? __builtin_ctzll((uint64_t)rest) : 64 + __builtin_ctzll((uint64_t)(rest >> 64));
    nodes[used++] = (node){.cell = (uint8_t)cell, .proof = winning >> cell & 1 ? win : none};
  }
  nodes[n].first = first, nodes[n].count = (uint8_t)(used - first);
  if (winning) nodes[n].proof = loss;
}

static uint32_t best_of(const node *n) {
  float factor = 0.9f * (n->visits < TABLE ? exploration_table[n->visits] : exploration(n->visits)), bound = -3.4e38f;
  uint32_t best = n->first;
  uint64_t untried = 0;
  for (uint32_t c = n->first; c < n->first + n->count; c++) {
    if (!nodes[c].visits) {
      if (!draw(++untried, &random_state)) best = c;
      bound = 3.4e38f;
      continue;
    }
    float value = nodes[c].mean + factor * nodes[c].spread;
    if (nodes[c].proof == loss) value = -1e9f;
    else if (nodes[c].proof == even) value = 0;
    if (value > bound) bound = value, best = c;
  }
  return best;
}

static void settle(node *n) {
  int has_draw = 0;
  for (uint32_t c = n->first; c < n->first + n->count; c++) {
    if (nodes[c].proof == none) return;
    if (nodes[c].proof == win) {
      n->proof = loss;
      return;
    }
    has_draw |= nodes[c].proof == even;
  }
  n->proof = has_draw ? even : win;
}

static float proven(uint8_t proof) { return proof == win ? 1 : proof == loss ? -1 : 0; }

static void simulate(void) {
  state s = start;
  uint32_t path[82], n = 0;
  int depth = 0;
  long plies = 0;
  float score;
  path[0] = 0;
  for (;;) {
    if (!nodes[n].count) {
      if (nodes[n].visits < 4 || used + 81 > CAPACITY) {
        int x = playout(&s, &plies);
        score = (float)(s.turn == 0 ? -x : x);
        break;
      }
      add_nodes(n, moves_of(&s), &s);
      if (nodes[n].proof == loss) {
        score = -1;
        break;
      }
    }
    n = best_of(nodes + n);
    path[++depth] = n;
    if (nodes[n].proof == none) {
      if (!mark(&s, nodes[n].cell)) continue;
      nodes[n].proof = even;
    }
    score = proven(nodes[n].proof);
    break;
  }
  for (;;) {
    node *p = nodes + path[depth];
    uint32_t visits = ++p->visits;
    float root = visits < TABLE ? root_table[visits] : 1 / square_root((float)visits);
    p->spread = root;
    p->mean += (score - p->mean) * root * root;
    score = -score;
    if (depth == 0) break;
    depth--;
    if (p->proof != none) {
      node *parent = nodes + path[depth];
      settle(parent);
      if (parent->proof != none) score = proven(parent->proof);
    }
  }
}

static uint64_t search(uint64_t seed, long simulations) {
  random_state = seed;
  nodes[0] = (node){.visits = 1};
  used = 1;
  add_nodes(0, moves_of(&start), &start);
  for (long i = 0; i < simulations; i++) simulate();
  uint64_t signature = 0;
  for (int c = 0; c < nodes[0].count; c++) signature = mix(signature + nodes[nodes[0].first + (uint32_t)c].visits);
  return signature;
}

int main(int count, char **words) {
  if (count < 3) return 2;
  prepare_tables();
  for (uint32_t n = 0; n < TABLE; n++)
    exploration_table[n] = exploration(n), root_table[n] = n ? 1 / square_root((float)n) : 0;
  long amount = atol(words[2]), plies = 0;
  uint64_t signature = 0;
  double begun = now();
  if (!strcmp(words[1], "random")) {
    long ends[3] = {0};
    random_state = 1;
    for (long i = 0; i < amount; i++) ends[playout(&start, &plies) + 1]++;
    printf("%.0f %ld/%ld/%ld\n", now() - begun, ends[2], ends[1], ends[0]);
    return 0;
  }
  for (long i = 0; i < amount / 10000; i++) signature = mix(signature + search((uint64_t)i + 1, 10000));
  printf("%.0f %llu\n", now() - begun, (unsigned long long)signature);
  return 0;
}
