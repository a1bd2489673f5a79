// The program's files in localStorage; and data that leaves the page: downloads, the clipboard, links.

const prefix = 'alina/';
/** Replaces localStorage if the browser refuses it: kept until the page is closed. */
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

export const read = path => storage.getItem(prefix + path);

/** The entry that reserves space for credentials and settings: `MOST` characters, several times their size. */
const RESERVE = 'alina-reserve', MOST = 4096;
/** Only credentials and settings may use the reserved space. */
const isSmall = path => path === 'data/credentials' || path.startsWith('config/');

function put(key, text) {
  try {
    storage.setItem(key, text);
    return true;
  } catch {
    return false;
  }
}

function reserve() {
  for (let size = MOST; size >= 256 && !put(RESERVE, ' '.repeat(size)); size /= 2);
}

/** Writes a text; returns false and keeps the old text if there is no space. */
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

/** The names in a folder, sorted, without the entries of other programs. */
export function list(folder) {
  const start = prefix + (folder && !folder.endsWith('/') ? folder + '/' : folder);
  const keys = Array.from({ length: storage.length }, (_, i) => storage.key(i)).filter(key => key?.startsWith(start));
  return [...new Set(keys.map(key => key.slice(start.length).split('/')[0]))].sort();
}

export const download = (name, bytes) => save(new File([bytes], name, { type: 'application/octet-stream' }));

function save(file) {
  const link = Object.assign(document.createElement('a'), { href: URL.createObjectURL(file), download: file.name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** Shares a file with a text through the system's share sheet, or else downloads it. */
export function giveFile(file, text) {
  const hasSheet = matchMedia('(pointer: coarse)').matches && navigator.canShare?.({ files: [file] });
  if (hasSheet) navigator.share({ files: [file], title: 'Alina', text }).catch(error => error.name === 'AbortError' || save(file));
  else save(file);
}

/** Copies a text to the clipboard; resolves to `copied`, or to `failed` if not allowed. */
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return 'copied';
  } catch {
    // The clipboard API needs a secure origin.
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

/** The text in the clipboard; empty if reading is not allowed. */
export const paste = () => navigator.clipboard?.readText?.().catch(() => '') ?? Promise.resolve('');

/** Shares a link through the system's share sheet and returns 'shared', or copies it and returns what `copy` returns. */
export async function give(url) {
  if (typeof navigator.share !== 'function' || !matchMedia('(pointer: coarse)').matches) return copy(url);
  // The browser throws `AbortError` if the user closes the share sheet: the link is not copied. After any other error it is.
  return navigator.share({ title: 'Alina', url }).then(() => 'shared', error => error.name === 'AbortError' ? 'shared' : copy(url));
}

/** Hosts other than alina-server do not answer the paths of letters (games by link). */
const isServed = () => performance.getEntriesByType('navigation')[0]?.serverTiming?.some(entry => entry.name === 'alina') ?? false;

/** Free play (f/…), a game (g/…), music (m/…) and, without alina-server, a letter (l/…) stand behind `#/`: any host can serve them. */
export const address = path => new URL((/^[fgm]\//.test(path) || path.startsWith('l/') && !isServed() ? '#/' : '') + path, new URL('./', document.baseURI)).href;

/** The link in the page's address as [kind, word], or null. */
export const asked = () => location.hash.match(/^#\/([rwfgltm])\/(.*)$/)?.slice(1) ?? null;

/** Calls `told` when the user enters another link, but not for steps in the history. */
export const whenAsked = told => addEventListener('hashchange', () => { if (asked() && !history.state) told(...asked()); });
