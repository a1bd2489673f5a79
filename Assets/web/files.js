// Files, as the shared targets know them, in localStorage; and what leaves the page: downloads, the clipboard, links.

const prefix = 'alina/';
/** In place of localStorage where a browser refuses it: kept until the page is closed. */
const passing = new Map();
const storage = (() => {
  try {
    localStorage.getItem(prefix);
    return localStorage;
  } catch {
    return {
      getItem: key => passing.get(key) ?? null, setItem: (key, text) => void passing.set(key, text),
      removeItem: key => void passing.delete(key), key: i => [...passing.keys()][i] ?? null,
      get length() { return passing.size; },
    };
  }
})();

/** The text of a file, or null. */
export const read = path => storage.getItem(prefix + path);

/** The name of an entry that only takes room, and its greatest size in characters: a few times that of small files. */
const RESERVE = 'alina-reserve', MOST = 4096;
/** What may use the reserve: who the player is, and the settings. Games take what room there is. */
const isSmall = path => path === 'data/credentials' || path.startsWith('config/');

function put(key, text) {
  try {
    storage.setItem(key, text);
    return true;
  } catch {
    return false;
  }
}

/** Keeps room for small files, as much as there is. */
function reserve() {
  for (let size = MOST; size >= 256 && !put(RESERVE, ' '.repeat(size)); size /= 2);
}

/** Keeps a text; false if there is no room, and then what was there before stays. */
export function write(path, text) {
  if (put(prefix + path, text)) return true;
  if (!isSmall(path)) return false;
  storage.removeItem(RESERVE);
  const isKept = put(prefix + path, text);
  reserve();
  return isKept;
}

reserve();

export const remove = path => storage.removeItem(prefix + path);

/** Takes a file for this tab, false where another tab has it; and lets it go. */

/** The names in a folder, sorted; what is not ours is not there. */
export function list(folder) {
  const start = prefix + (folder && !folder.endsWith('/') ? folder + '/' : folder);
  const keys = Array.from({ length: storage.length }, (_, i) => storage.key(i)).filter(key => key?.startsWith(start));
  return [...new Set(keys.map(key => key.slice(start.length).split('/')[0]))].sort();
}

/** Gives the person a file to keep. */
export const download = (name, bytes) => save(new File([bytes], name, { type: 'application/octet-stream' }));

function save(file) {
  const link = Object.assign(document.createElement('a'), { href: URL.createObjectURL(file), download: file.name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** Gives a file away, with words, by the system's share sheet, as phones have, or else to keep. */
export function giveFile(file, text) {
  const hasSheet = matchMedia('(pointer: coarse)').matches && navigator.canShare?.({ files: [file] });
  if (hasSheet) navigator.share({ files: [file], title: 'Alina', text }).catch(error => error.name === 'AbortError' || save(file));
  else save(file);
}

/** Puts a text into the clipboard; `copied`, or `failed` where that is not allowed. */
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return 'copied';
  } catch {
    // Without a safe origin there is no such thing: the old way.
    const field = document.createElement('textarea');
    field.value = text;
    field.style.cssText = 'position:fixed;opacity:0';
    document.body.append(field);
    field.select();
    const done = document.execCommand('copy');
    field.remove();
    return done ? 'copied' : 'failed';
  }
}

/** The text in the clipboard; empty where that is not allowed. */
export const paste = () => navigator.clipboard?.readText().catch(() => '') ?? Promise.resolve('');

/** Gives a link away: by the system's own share sheet, as phones have (`shared`), or by the clipboard as `copy` does. */
export async function give(url) {
  if (typeof navigator.share !== 'function' || !matchMedia('(pointer: coarse)').matches) return copy(url);
  // A player who closes the sheet has decided. Where the sheet cannot be opened the link goes to the clipboard.
  return navigator.share({ title: 'Alina', url }).then(() => 'shared', error => error.name === 'AbortError' ? 'shared' : copy(url));
}

/** The link of a room (r/…), of a match to watch (w/…) or of a finished game (g/…), which no server needs to know of. */
export const address = path => new URL((path.startsWith('g/') ? '#/' : '') + path, new URL('./', document.baseURI)).href;

/** What the address asks for as [kind, word], or null. */
export const asked = () => location.hash.match(/^#\/([rwg])\/(.*)$/)?.slice(1) ?? null;

/** Tells when the address asks for something else while the page is open: one that was typed, not one of the history's own steps. */
export const whenAsked = told => addEventListener('hashchange', () => { if (asked() && !history.state) told(...asked()); });
