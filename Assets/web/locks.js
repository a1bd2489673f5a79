// Locks on files between the tabs of one browser. A lock ends with its tab, however that ends.
//
// Web Locks are granted later, but the program needs the answer at once. So the locks of other tabs are read at the start and whenever
// the tab gets the focus, and new files of different tabs have different numbers: two tabs cannot make the same file.

const PREFIX = 'alina/';
/** Tabs with numbers of their own. A file's number says which of them made it: `NAME-3` and `NAME-12` are of tab 3. */
const TABS = 9;
/** Milliseconds after which a tab starts although another one still seems to be starting. */
const PATIENCE = 5000;

// Absent without a safe origin: then tabs know nothing of each other.
const { locks } = navigator;
/** What this tab has, and how to release it. */
const mine = new Map();
let others = new Set();
let tab = 1 + Math.floor(Math.random() * TABS);

/** Reads which files other tabs have. */
export async function refresh() {
  const { held } = await locks?.query().catch(() => ({ held: [] })) ?? { held: [] };
  others = new Set(held.filter(lock => lock.name.startsWith(PREFIX)).map(lock => lock.name.slice(PREFIX.length)).filter(name => !mine.has(name)));
}

function hold(name) {
  mine.set(name, () => {});
  locks?.request(PREFIX + name, { ifAvailable: true }, lock => lock && mine.has(name) && new Promise(done => mine.set(name, done))).catch(() => {});
}

export function release(name) {
  mine.get(name)?.();
  mine.delete(name);
}

/** What this tab has. */
export const taken = () => [...mine.keys()];

/** Takes a file for this tab, or finds that it has it; false where another tab has it. `isNew` says that there is no such file yet. */
export function take(path, isNew) {
  const number = Number(path.match(/-(\d+)$/)?.[1] ?? tab);
  if (!mine.has(path) && (others.has(path) || (isNew && number % TABS !== tab % TABS))) return false;
  if (!mine.has(path)) hold(path);
  return true;
}

/** Starts the program while no other tab starts, so that two of them cannot take the same unfinished game. */
export async function alone(start) {
  let hasStarted = false;
  const once = () => {
    if (!hasStarted) start();
    hasStarted = true;
  };
  await locks?.request(`${PREFIX}start`, { signal: AbortSignal.timeout(PATIENCE) }, async () => {
    await refresh();
    tab = Array.from({ length: TABS }, (_, i) => i + 1).find(number => !others.has(`tab ${number}`)) ?? tab;
    hold(`tab ${tab}`);
    once();
    // Answered after the requests that were made before it: other tabs see what this one has taken.
    await refresh();
  }).catch(() => {});
  once();
}
