// The C baseline of `scripts/bench-arena`: the same work as the Swift code, compiled and run by the benchmark.
//   baseline random GAMES | mcts SIMULATIONS | perft REPEATS | solve REPEATS
//                           prints nanoseconds and a signature (computed from the results)
//   baseline engine           a trivial UCI engine
//   baseline floor GAMES      two such engines play over plain pipes on one processor, without the arena's guard processes, clocks and
//                           checks of moves; prints nanoseconds, and the number of wins of X and of O
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double clock_time(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return t.tv_sec * 1e9 + t.tv_nsec;
}

// Nanoseconds of processor time of this thread.
static double now(void) { return clock_time(CLOCK_THREAD_CPUTIME_ID); }
static double wall(void) { return clock_time(CLOCK_MONOTONIC); }

static uint64_t mix(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

static int has_line(unsigned m) {
  return ((m & m >> 1 & m >> 2 & 0111) | (m & m >> 3 & m >> 6 & 7) | (m & m >> 4 & m >> 8 & 1)
          | (m >> 2 & m >> 4 & m >> 6 & 1)) != 0;
}

// Random games ---------------------------------------------------------------------------------------------------

// At index 5 … 9 the number of games whose first line was completed at this ply; at index 10 the number of draws.
static uint64_t random_ends[11];

static uint64_t random_games(uint64_t seed, uint64_t games) {
  uint8_t line[512];
  for (int m = 0; m < 512; m++) line[m] = has_line(m);
  uint64_t signature = 0;
  for (uint64_t g = 0; g < games; g++) {
    uint64_t random = mix(seed + (g + 1) * 0x9E3779B97F4A7C15u);
    uint64_t list = 0x876543210u, sequence = 0;
    unsigned x = 0, o = 0;
    uint64_t ends = 1u << 10;
#define PLY(n, side)                                                     \
  {                                                                      \
    __uint128_t product = (__uint128_t)random * (9 - n);                 \
    uint64_t place = (uint64_t)(product >> 64) * 4;                      \
    random = (uint64_t)product;                                          \
    uint64_t cell = list >> place & 15;                                  \
    list ^= (cell ^ (list >> (4 * (8 - n)) & 15)) << place;              \
    sequence |= cell << (4 * n);                                         \
    side |= 1u << cell;                                                  \
  }
    PLY(0, x) PLY(1, o) PLY(2, x) PLY(3, o) PLY(4, x)
    ends |= (uint64_t)line[x] << 5;
    PLY(5, o)
    ends |= (uint64_t)line[o] << 6;
    PLY(6, x)
    ends |= (uint64_t)line[x] << 7;
    PLY(7, o)
    ends |= (uint64_t)line[o] << 8;
    PLY(8, x)
    ends |= (uint64_t)line[x] << 9;
    // The game ends at the first line; a game without a line is a draw of nine moves.
    uint64_t end = (uint64_t)__builtin_ctzll(ends);
    uint64_t length = end - end / 10;
    random_ends[end]++;
    uint64_t played = sequence & ((1ull << (4 * length)) - 1);
    signature += (played | end << 40) * 0xD6E8FEB86659FD93u;
  }
  return signature;
}

// Monte Carlo tree search ----------------------------------------------------------------------------------------

typedef struct {
  float mean[9], spread[9];
  uint32_t visits[9], total;
  uint16_t unvisited;
  uint32_t epoch;
} node;

static node nodes[19683];
static uint64_t cells[512];
static float exploration_table[4096], root_table[4096];
static long weight[18];
static uint32_t epoch;

static float square_root(float x) {
  float r;
  __asm__("sqrtss %1, %0" : "=x"(r) : "x"(x));
  return r;
}

static float exploration(uint32_t n) {
  if (n <= 1) return 0;
  int exponent = 31 - __builtin_clz(n);
  float mantissa = (float)n / (float)(1u << exponent) - 1;
  return square_root(2 * 0.69314718f * ((float)exponent + mantissa));
}

static uint64_t state;
static uint64_t next_random(void) { return mix(state += 0x9E3779B97F4A7C15u); }

static int pick(unsigned mask, uint64_t *random) {
  __uint128_t product = (__uint128_t)*random * (unsigned)__builtin_popcount(mask);
  *random = (uint64_t)product;
  return (int)(cells[mask] >> (4 * (uint64_t)(product >> 64)) & 15);
}

static void prepare(node *n, unsigned empty) {
  memset(n, 0, sizeof *n);
  n->epoch = epoch;
  n->unvisited = (uint16_t)empty;
  for (int c = 0; c < 9; c++) n->mean[c] = empty >> c & 1 ? 0 : -1e9f;
}

static float playout(unsigned me, unsigned other, unsigned empty, uint64_t *random) {
  float sign = 1;
  for (;;) {
    unsigned bit = 1u << pick(empty, random);
    me |= bit;
    if (has_line(me)) return sign;
    empty &= ~bit;
    if (!empty) return 0;
    unsigned t = me;
    me = other, other = t, sign = -sign;
  }
}

static int best(const node *n) {
  float factor = n->total < 4096 ? exploration_table[n->total] : exploration(n->total), bound = -3.4e38f;
  int found = 0;
  for (int c = 0; c < 9; c++) {
    float value = n->mean[c] + factor * n->spread[c];
    if (value > bound) bound = value, found = c;
  }
  return found;
}

static void simulate(void) {
  unsigned me = 0, other = 0;
  long key = 0;
  uint64_t random = next_random();
  int offset = 0, path[9], depth = 0;
  float score;
  for (;;) {
    node *n = nodes + key;
    int is_new = n->unvisited != 0;
    int cell = is_new ? pick(n->unvisited, &random) : best(n);
    path[depth++] = (int)key * 16 + cell;
    me |= 1u << cell;
    key += weight[offset + cell];
    if (has_line(me)) {
      score = 1;
      break;
    }
    unsigned empty = ~(me | other) & 0x1FF;
    if (!empty) {
      score = 0;
      break;
    }
    unsigned t = me;
    me = other, other = t, offset = 9 - offset;
    if (nodes[key].epoch != epoch) prepare(nodes + key, empty);
    if (is_new) {
      score = -playout(me, other, empty, &random);
      break;
    }
  }
  while (depth > 0) {
    int step = path[--depth], cell = step & 15;
    node *n = nodes + (step >> 4);
    uint32_t visits = ++n->visits[cell];
    n->total++;
    n->unvisited &= (uint16_t)~(1u << cell);
    float root = visits < 4096 ? root_table[visits] : 1 / square_root((float)visits);
    n->spread[cell] = root;
    n->mean[cell] += (score - n->mean[cell]) * root * root;
    score = -score;
  }
}

static uint64_t mcts(uint64_t seed, long simulations) {
  if (epoch == 0) {
    long power = 1;
    for (int c = 0; c < 9; c++, power *= 3) weight[c] = power, weight[9 + c] = 2 * power;
    for (int m = 0; m < 512; m++)
      for (int c = 0, shift = 0; c < 9; c++)
        if (m >> c & 1) cells[m] |= (uint64_t)c << shift, shift += 4;
    for (int n = 0; n < 4096; n++)
      exploration_table[n] = exploration((uint32_t)n), root_table[n] = n ? 1 / square_root((float)n) : 0;
  }
  state = seed;
  epoch++;
  prepare(nodes, 0x1FF);
  for (long i = 0; i < simulations; i++) simulate();
  uint64_t signature = 0;
  for (int c = 0; c < 9; c++) signature = mix(signature + nodes[0].visits[c]);
  return signature;
}

// Perft ----------------------------------------------------------------------------------------------------------

static uint64_t visited[10], x_wins[10], o_wins[10], draws[10];
// For each mask of a side's cells: the cells that complete a line for that side.
static uint16_t completing[512];

// The number of cells in a mask of at most two cells.
static unsigned one_or_two(unsigned m) { return (m != 0) + ((m & (m - 1)) != 0); }

static void visit(unsigned me, unsigned other, int level) {
  unsigned rest = ~(me | other) & 0x1FF, won = completing[me] & rest, on = rest ^ won;
  uint64_t *wins = level % 2 == 0 ? x_wins : o_wins, *other_wins = level % 2 == 0 ? o_wins : x_wins;
  if (level == 7) {
    // Counts the last two plies without playing them: `many` of the two moves do not win, and `lost` of these let the opponent win.
    unsigned many = one_or_two(on), lost = one_or_two(completing[other] & (many == 1 ? rest ^ on : on));
    visited[8] += 2;
    wins[8] += 2 - many;
    visited[9] += many;
    other_wins[9] += lost;
    draws[9] += many - lost;
    return;
  }
  visited[level + 1] += (uint64_t)(9 - level);
  wins[level + 1] += (uint64_t)__builtin_popcount(won);
  while (on) {
    unsigned bit = on & -on;
    on ^= bit;
    visit(other, me | bit, level + 1);
  }
}

static uint64_t perft(void) {
  memset(visited, 0, sizeof visited);
  memset(x_wins, 0, sizeof x_wins);
  memset(o_wins, 0, sizeof o_wins);
  memset(draws, 0, sizeof draws);
  for (unsigned m = 0; m < 512; m++) {
    completing[m] = 0;
    for (int c = 0; c < 9; c++)
      if (has_line(m | 1u << c)) completing[m] |= (uint16_t)(1u << c);
  }
  visited[0] = 1;
  visit(0, 0, 0);
  uint64_t total = 0;
  for (int i = 0; i < 10; i++) total += visited[i];
  return total;
}

// Solver ---------------------------------------------------------------------------------------------------------

static int8_t table[19683];

static void solve(void) {
  uint8_t line[512];
  uint16_t combinations[10][126], masks[512];
  int32_t keys[512];
  int counts[10];
  for (int m = 0; m < 512; m++) line[m] = has_line((unsigned)m);
  memset(table, -128, sizeof table);
  // For each number n of marks, the masks of those marks that can be X's: half of them, rounded up.
  for (int n = 0; n < 10; n++) {
    counts[n] = 0;
    for (int m = 0; m < 1 << n; m++)
      if (__builtin_popcount((unsigned)m) == (n + 1) / 2) combinations[n][counts[n]++] = (uint16_t)m;
  }
  for (unsigned occupied = 512; occupied-- > 0;) {
    int marks = 0, empty = 0, is_o = __builtin_popcount(occupied) % 2, steps[9], all = 0;
    masks[0] = 0, keys[0] = 0;
    for (int c = 0, p = 1; c < 9; c++, p *= 3) {
      if (!(occupied >> c & 1)) {
        steps[empty++] = p << is_o;
        continue;
      }
      // Adds cell c to each subset in `masks`. `keys[i]` is how much the board's key falls if `masks[i]` are X's instead of O's.
      for (int i = 0; i < 1 << marks; i++) {
        masks[i | 1 << marks] = (uint16_t)(masks[i] | 1u << c);
        keys[i | 1 << marks] = keys[i] + p;
      }
      marks++, all += 2 * p;
    }
    for (int i = 0; i < counts[marks]; i++) {
      int set = combinations[marks][i];
      unsigned x = masks[set], o = occupied ^ x;
      int key = all - keys[set];
      if (line[is_o ? o : x]) continue;
      int least = 0;
      if (line[is_o ? x : o]) {
        least = 33;
      } else if (empty > 0) {
        least = 127;
        for (int e = 0; e < empty; e++) {
          int score = table[key + steps[e]];
          if (score < least) least = score;
        }
      }
      table[key] = (int8_t)(least == 0 ? 0 : least < 0 ? -least - 1 : 1 - least);
    }
  }
}

static uint64_t solved(void) {
  uint64_t sum = 0;
  for (int i = 0; i < 19683; i++) sum = sum * 31 + (uint8_t)table[i];
  return sum;
}

// A trivial engine -----------------------------------------------------------------------------------------------

static int engine(void) {
  static char input[4096];
  unsigned taken = 0;
  setvbuf(stdout, NULL, _IOLBF, 4096);
  while (fgets(input, sizeof input, stdin)) {
    if (!strncmp(input, "uci\n", 4)) {
      puts("id name baseline\nuciok");
    } else if (!strncmp(input, "isready", 7)) {
      puts("readyok");
    } else if (!strncmp(input, "position", 8)) {
      taken = 0;
      char *moves = strstr(input, " moves ");
      for (char *p = moves ? moves + 7 : ""; *p; p += 3) taken |= 1u << (('3' - p[1]) * 3 + (p[0] - 'a'));
    } else if (!strncmp(input, "go", 2)) {
      int cell = __builtin_ctz(~taken);
      char answer[] = {'b', 'e', 's', 't', 'm', 'o', 'v', 'e', ' ', (char)('a' + cell % 3), (char)('3' - cell / 3), 0};
      puts(answer);
    } else if (!strncmp(input, "quit", 4)) {
      return 0;
    }
  }
  return 0;
}

// Two trivial engines over pipes ---------------------------------------------------------------------------------

typedef struct {
  int in, out;
} peer;

static peer start(char *path) {
  int to[2], from[2];
  if (pipe(to) || pipe(from)) exit(3);
  if (fork() == 0) {
    dup2(to[0], 0), dup2(from[1], 1);
    for (int d = 3; d < 32; d++) close(d);
    execl(path, path, "engine", (char *)NULL);
    _exit(4);
  }
  close(to[0]), close(from[1]);
  return (peer){to[1], from[0]};
}

static void say(peer p, const char *text, size_t count) {
  if (write(p.in, text, count) != (ssize_t)count) exit(5);
}

// Returns the next line, zero-terminated.
static const char *hear(peer p) {
  static char text[4096];
  size_t have = 0;
  do {
    ssize_t count = read(p.out, text + have, sizeof text - 1 - have);
    if (count <= 0) exit(6);
    have += (size_t)count;
  } while (text[have - 1] != '\n');
  text[have] = 0;
  return text;
}

static void play_floor(char *path, long games) {
  // Runs this process and both engines on one processor, as the arena runs engines that answer without thinking.
  unsigned core = 0;
  unsigned long mask[16] = {0};
  syscall(SYS_getcpu, &core, NULL, NULL);
  mask[core / 64 % 16] = 1ul << core % 64;
  syscall(SYS_sched_setaffinity, 0, sizeof mask, mask);
  peer peers[2] = {start(path), start(path)};
  for (int i = 0; i < 2; i++) say(peers[i], "uci\nisready\n", 12);
  for (int i = 0; i < 2; i++)
    while (!strstr(hear(peers[i]), "readyok")) {}
  long x = 0, o = 0;
  double begun = wall();
  for (long g = 0; g < games; g++) {
    char text[256] = "position startpos";
    size_t count = strlen(text);
    unsigned sides[2] = {0, 0};
    for (int i = 0; i < 2; i++) say(peers[i], "ucinewgame\nisready\n", 19);
    for (int i = 0; i < 2; i++) hear(peers[i]);
    for (int ply = 0; ply < 9; ply++) {
      peer p = peers[(ply + g) % 2];
      memcpy(text + count, "\ngo movetime 1000\n", 18);
      say(p, text, count + 18);
      const char *move = hear(p) + 9;
      if (ply == 0) memcpy(text + count, " moves", 6), count += 6;
      text[count++] = ' ', text[count++] = move[0], text[count++] = move[1];
      sides[ply % 2] |= 1u << (('3' - move[1]) * 3 + (move[0] - 'a'));
      if (has_line(sides[ply % 2])) {
        ply % 2 ? o++ : x++;
        break;
      }
    }
  }
  printf("%.0f X %ld, O %ld\n", wall() - begun, x, o);
  for (int i = 0; i < 2; i++) close(peers[i].in), close(peers[i].out);
  while (wait(NULL) > 0) {}
}

int main(int count, char **words) {
  if (count > 1 && !strcmp(words[1], "engine")) return engine();
  if (count < 3) return 2;
  long amount = atol(words[2]);
  uint64_t signature = 0;
  double begun = now(), best_time = 1e300;
  if (!strcmp(words[1], "floor")) {
    play_floor(words[0], amount);
    return 0;
  } else if (!strcmp(words[1], "random")) {
    signature = random_games(1, (uint64_t)amount);
    best_time = now() - begun;
    if (!signature) return 1;
    uint64_t *e = random_ends;
    printf("%.0f %llu/%llu/%llu\n", best_time, (unsigned long long)(e[5] + e[7] + e[9]), (unsigned long long)e[10],
           (unsigned long long)(e[6] + e[8]));
    return 0;
  } else if (!strcmp(words[1], "mcts")) {
    for (long i = 0; i < amount / 10000; i++) signature = mix(signature + mcts((uint64_t)i + 1, 10000));
    best_time = now() - begun;
  } else {
    int is_perft = !strcmp(words[1], "perft");
    for (long i = 0; i < amount; i++) {
      begun = now();
      if (is_perft) signature = perft(); else solve();
      double time = now() - begun;
      if (time < best_time) best_time = time;
    }
    if (!is_perft) signature = solved();
  }
  printf("%.0f %llu\n", best_time, (unsigned long long)signature);
  return 0;
}
