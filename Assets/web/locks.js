// Locks on files between the tabs of one browser. The browser releases a lock when its tab closes or crashes.
//
// Web Locks are granted asynchronously, but the program needs the answer at once. So a tab reads other tabs' locks at the start and
// whenever it gets the focus, and each tab numbers its new files differently, so that two tabs never create the same file.
//
// Without a secure origin there are no Web Locks: tabs ask each other over a channel, and two that start in the same moment can resume the
// same game.

const PREFIX = 'alina/';
/** Tabs have numbers from 1 to 9. A tab creates only every ninth numbered file: tab 3 creates `NAME-3`, `NAME-12`, `NAME-21` and so on. */
const TABS = 9;
/** Milliseconds after which a tab starts even if another one still seems to be starting. */
const PATIENCE = 5000;
/** Milliseconds in which the other tabs answer over the channel. */
const ANSWERS = 200;

const { locks } = navigator;
const mine = new Map();
let others = new Set();
let tab = 1 + Math.floor(Math.random() * TABS);

const channel = locks ? null : new BroadcastChannel('alina-files');
/** The files that other tabs have named since this tab last asked for them. */
let named = new Set();
channel?.addEventListener('message', ({ data }) => {
  if (data === 'ask') return channel.postMessage([...mine.keys()]);
  for (const name of data) {
    others.add(name);
    named.add(name);
  }
});

export async function refresh() {
  if (channel) {
    named = new Set();
    channel.postMessage('ask');
    await new Promise(done => setTimeout(done, ANSWERS));
    others = named;
    return;
  }
  const { held } = await locks?.query().catch(() => ({ held: [] })) ?? { held: [] };
  others = new Set(held.filter(lock => lock.name.startsWith(PREFIX)).map(lock => lock.name.slice(PREFIX.length)).filter(name => !mine.has(name)));
}

function hold(name) {
  mine.set(name, () => {});
  channel?.postMessage([name]);
  locks?.request(PREFIX + name, { ifAvailable: true }, lock => lock && mine.has(name) && new Promise(done => mine.set(name, done))).catch(() => {});
}

export function release(name) {
  mine.get(name)?.();
  mine.delete(name);
}

export const taken = () => [...mine.keys()];

/** Returns false if another tab has locked the file. `isNew` means that the file does not exist yet. */
export function take(path, isNew) {
  const number = Number(path.match(/-(\d+)$/)?.[1] ?? tab);
  if (!mine.has(path) && (others.has(path) || (isNew && number % TABS !== tab % TABS))) return false;
  if (!mine.has(path)) hold(path);
  return true;
}

/** Starts the program while no other tab is starting, so that two tabs cannot resume the same unfinished game. */
export async function alone(start) {
  let hasStarted = false;
  const once = () => {
    if (!hasStarted) start();
    hasStarted = true;
  };
  const begin = async () => {
    await refresh();
    tab = Array.from({ length: TABS }, (_, i) => i + 1).find(number => !others.has(`tab ${number}`)) ?? tab;
    hold(`tab ${tab}`);
    once();
    // Waits until this tab has its locks: the browser answers the query of `refresh` after the earlier requests of `hold`.
    await refresh();
  };
  if (channel) await begin();
  await locks?.request(`${PREFIX}start`, { signal: AbortSignal.timeout(PATIENCE) }, begin).catch(() => {});
  once();
}
