// Connects the program (a WebAssembly module) with the browser.
import { Controls, preferences } from './controls.js';
import { makeDrawing } from './drawing.js';
import * as files from './files.js';
import { kind as filmKind, record } from './film.js';
import * as locks from './locks.js';
import { Socket } from './socket.js';
import { Sound } from './sound.js';
import { Steps } from './steps.js';

const canvas = document.getElementById('screen');
const field = document.getElementById('text');
const [encoder, decoder] = [new TextEncoder(), new TextDecoder()];
let alina;
const memory = () => alina.memory;
const bytesAt = (pointer, count) => new Uint8Array(memory().buffer, pointer, count);
const textAt = (pointer, count) => decoder.decode(bytesAt(pointer, count).slice());

/** Copies a text into the program's buffer, calls an export that reads it from there, and returns the result. */
function withText(text, call) {
  const bytes = typeof text === 'string' ? encoder.encode(text) : text;
  const pointer = alina.buffer(bytes.length);
  if (!hasTrapped) bytesAt(pointer, bytes.length).set(bytes);
  return call();
}

// ---- Crashes: after a trap (a fatal error in WebAssembly) the program is never called again, as its memory may be corrupt.

let [hasStarted, hasTrapped] = [false, false];
/** The message and the button's label after a trap; the program replaces them by texts in the player's language. */
let lastWords = ['Alina has stopped because of an error. Reload the page: your games are kept.', 'Reload'];

const wrapped = (all, wrap) => Object.fromEntries(Object.entries(all).map(([name, it]) => [name, typeof it === 'function' ? wrap(it, name) : it]));

/** The exports of the program, wrapped so that after an exception all of them return 0 without effect. */
const guarded = exports => wrapped(exports, call => (...words) => {
  if (hasTrapped) return 0;
  try {
    return call(...words);
  } catch (error) {
    trapped(error);
    return 0;
  }
});

/** Functions called by the program, wrapped so that an exception in them, such as a refusal by the browser, is no trap. */
const tolerant = functions => wrapped(functions, (call, name) => (...words) => {
  try {
    return call(...words);
  } catch (error) {
    // After a failed `take` the program would read bytes that were never written.
    if (name === 'take') throw error;
    reportError(error);
    return name === 'ask' ? -1 : 0;
  }
});

function trapped(error) {
  hasTrapped = true;
  reportError(error);
  // The unfinished game may have caused the trap, so the next start does not resume this game. It stays saved.
  if (!hasStarted) for (const path of ['data/games/unfinished', ...locks.taken().map(path => `${path}.unfinished`)]) files.remove(path);
  clearTimeout(timer);
  cancelAnimationFrame(frame);
  ticker?.terminate();
  socket.close();
  sound.lose(error);
  filming?.abort(error);
  keepsAwake = 0;
  keepAwake();
  document.getElementById('controls').remove();
  field.remove();
  const message = document.getElementById('message'), button = document.createElement('button');
  const [words, caption] = lastWords;
  button.textContent = caption;
  button.onclick = () => location.reload();
  message.replaceChildren(`${words} `, button);
  message.hidden = false;
  button.focus();
}

// ---- Turns: the program runs only when an event arrives, and after the number of seconds that `alina.turn` has returned.

let [timer, frame, isAsked] = [0, 0, false];
/** A timer in a worker, as browsers slow down the timers of hidden pages. */
let ticker = null;

function turnAfter(milliseconds) {
  if (!document.hidden) {
    timer = setTimeout(turn, milliseconds, 0);
    return;
  }
  if (!ticker) {
    ticker = new Worker(new URL('ticker.js', import.meta.url), { type: 'module' });
    ticker.onmessage = () => { if (document.hidden) turn(0); };
  }
  ticker.postMessage(milliseconds);
}

function turn(draws) {
  isAsked = false;
  clearTimeout(timer);
  const wait = alina.turn(draws);
  if (hasTrapped) return;
  if (draws || document.hidden) describe();
  if (wait >= 0) turnAfter(Math.min(wait * 1000, 2 ** 30));
  else if (!frame) frame = requestAnimationFrame(() => { frame = 0; turn(1); });
}

let [isDescribing, describesAt] = [false, 0];
/** After an update of n ms the next one waits 9 n ms, at most 250 ms, so that a slow device is not busy with updates. */
function describe() {
  if (isDescribing) return;
  isDescribing = true;
  // After the frame has been drawn, so that the frame is not late.
  setTimeout(() => {
    isDescribing = false;
    const begun = performance.now();
    alina.controls();
    const ended = performance.now();
    describesAt = ended + Math.min(250, 9 * (ended - begun));
  }, Math.max(0, describesAt - performance.now()));
}

/** Runs the program after the current event has been handled. */
function wake() {
  if (isAsked) return;
  isAsked = true;
  queueMicrotask(() => turn(0));
}

// ---- Files loaded from the server

const beside = name => new URL(name, import.meta.url);
const assets = new Map();
const fetchAssets = names => Promise.all(names.map(async name => {
  const answer = await fetch(beside(name));
  if (answer.ok) assets.set(`page/${name}`, new Uint8Array(await answer.arrayBuffer()));
}));

// ---- Functions called by the program

const controls = new Controls({
  activate: id => { sound.start(); alina.activate(id, 0); wake(); },
  focus: id => { alina.activate(id, 1); wake(); },
});
const sound = new Sound({
  late: (generation, at, lateness) => { alina.late(generation, at, lateness); wake(); },
  running() {
    if (sound.isMissing || sound.isRunning) alina.state(2, sound.isMissing ? 2 : 1);
    wake();
  },
  absent: () => { alina.state(2, 0); wake(); },
});
const say = kind => words => withText(words, () => { alina.text(kind); wake(); });
const socket = new Socket({ opened: () => say(6)(''), line: say(5), closed: say(7) });
let clipboard = null;
/** Whether a paste event has just provided the clipboard, so that it need not be requested. */
let isPasting = false;
let awake = null;
let keepsAwake = 0;
let taken = new Uint8Array();

/** Keeps the screen on while requested; the browser releases the lock whenever the page is hidden. */
async function keepAwake() {
  const isKept = () => awake && !awake.released;
  if (!keepsAwake) {
    awake?.release();
    awake = null;
  } else if (!document.hidden && !isKept()) {
    const lock = await navigator.wakeLock?.request('screen').catch(() => null);
    // During `await` the program may have stopped asking for the screen to stay on, or another call may have got a lock.
    if (keepsAwake && !isKept()) awake = lock; else lock?.release();
  }
}

const stamp = () => new Date(Date.now() - new Date().getTimezoneOffset() * 60_000).toISOString().slice(0, 19).replace('T', '-').replaceAll(':', '');

/** The functions behind the texts that the program requests, in the order of `Asked`; null if there is no such text. */
const asked = [
  path => assets.get(path) ?? files.read(path),
  folder => files.list(folder).join('\n'),
  () => clipboard,
  () => navigator.language,
  () => `${preferences()}${filmKind ? ' films' : ''}`,
  stamp,
  () => String(Math.round(parseFloat(getComputedStyle(document.documentElement).fontSize) / 0.16)),
  () => location.host,
  path => files.address(path),
  () => String(-new Date().getTimezoneOffset()),
];

/** A request has the form NUMBER, tab, TEXT. `call(TEXT)` resolves to the answer to request NUMBER. */
const answering = call => words => {
  const [number] = words.split('\t', 1);
  call(words.slice(number.length + 1)).then(answer => withText(answer, () => { alina.answer(Number(number)); wake(); }));
};

/** The program is told the result, as a browser may refuse. */
async function fillScreen(on) {
  if (Boolean(on) === Boolean(document.fullscreenElement)) return;
  await (on ? document.documentElement.requestFullscreen?.() : document.exitFullscreen())?.catch(() => {});
  tellFullScreen();
}
const tellFullScreen = () => { alina.state(3, Number(Boolean(document.fullscreenElement))); wake(); };

/** The handlers of the program's messages, in the order of `Told`. */
const told = [
  answering(text => files.copy(clipboard = text)),
  on => { fillScreen(on); },
  on => { keepsAwake = on; keepAwake(); },
  notify,
  on => { canvas.style.cursor = on ? 'pointer' : 'default'; },
  path => files.remove(path),
  lines => controls.update(lines.split('\n').filter(Boolean).map(line => {
    const [id, role, name, state, x, y, width, height, row, numbers] = line.split('\t');
    return { id: Number(id), role, name, state, box: [x, y, width, height].map(Number), row: Number(row), numbers: numbers ? numbers.split(' ') : [] };
  })),
  line => controls.say(line),
  id => { if (document.activeElement !== field) controls.focus(Number(id)); },
  () => socket.open(),
  line => socket.send(line),
  () => socket.close(),
  answering(path => files.give(files.address(path))),
  answering(() => isPasting ? Promise.resolve(clipboard) : files.paste()),
  title => { document.title = title; },
  words => { const [level, path] = words.split('\t'); steps.show(Number(level), path); },
  () => steps.leave(),
  words => {
    const [language, heading, ...last] = words.split('\t');
    document.documentElement.lang = language;
    document.getElementById('heading').textContent = heading;
    lastWords = last;
  },
  expectNotices,
  () => filming?.abort(new Error('stopped')),
  path => locks.take(path, files.read(`${path}.pgn`) === null),
  path => locks.release(path),
  caption => { field.ariaLabel = caption; },
  words => { const [isMuted, title] = words.split('\t'); listening(title, Boolean(isMuted)); },
  // In free play (`on`) two fingers play two cells, so the browser must not use them to zoom.
  on => { canvas.style.touchAction = on ? 'none' : ''; },
];

/** Shows the listening mode's music on the lock screen, whose buttons mute and unmute it; an empty title removes it. */
function listening(title, isMuted) {
  sound.setSession(title ? 'playback' : 'ambient');
  const { mediaSession } = navigator;
  if (!mediaSession) return;
  const artwork = [{ src: beside('icon-192.png').href, sizes: '192x192', type: 'image/png' }];
  mediaSession.metadata = title ? new MediaMetadata({ title, artist: 'Alina', artwork }) : null;
  mediaSession.playbackState = !title ? 'none' : isMuted ? 'paused' : 'playing';
  for (const action of ['play', 'pause', 'stop']) {
    mediaSession.setActionHandler(action, title ? () => { alina.state(4, Number(action !== 'play')); wake(); } : null);
  }
}

let filming = null;

/** The program draws the film's pictures, and receives lines about the progress. */
async function film(events, file, width, height, ...order) {
  filming = new AbortController();
  const { signal } = filming, tell = say(8);
  try {
    const wav = await sound.piece(events, ...order);
    signal.throwIfAborted();
    const canvas = Object.assign(document.createElement('canvas'), { width: Number(width), height: Number(height) });
    drawing.film(canvas);
    let last = 0;
    const told = percent => { if (percent !== last) tell(`percent\t${last = percent}`); };
    const made = await record(file, canvas, wav, { draw: seconds => alina.film(seconds), told, signal });
    files.giveFile(made);
    tell(`kept\t${made.name}`);
  } catch (error) {
    tell(signal.aborted ? 'stopped\t' : `failed\t${error.message}`);
  }
}

/** Shares a picture with a text; the program draws the picture first. */
function card(file, text) {
  const canvas = Object.assign(document.createElement('canvas'), { width: 1080, height: 1080 });
  const filmed = drawing.film(canvas);
  queueMicrotask(() => {
    drawing.film(filmed);
    canvas.toBlob(blob => blob && files.giveFile(new File([blob], file, { type: 'image/png' }), text));
  });
}

const steps = new Steps(count => { alina.back(count); wake(); });

/** The service worker, which Chrome on Android needs for notifications. */
const worker = () => navigator.serviceWorker?.getRegistration().catch(() => undefined);

/** Shows a notification that it is the player's turn, if the player has allowed it. */
async function notify() {
  if (!document.hidden || globalThis.Notification?.permission !== 'granted') return;
  const keeper = await worker();
  const words = [document.title, { tag: 'alina', icon: beside('icon-192.png').href, data: location.href }];
  if (keeper?.active) keeper.showNotification(...words).catch(() => {});
  else new Notification(...words).onclick = () => window.focus();
}

async function closeNotices() {
  for (const notice of await (await worker())?.getNotifications({ tag: 'alina' }) ?? []) notice.close();
}

/** Requests the permission for notifications once, when a match begins; browsers require a touch for it. */
function expectNotices() {
  if (globalThis.Notification?.permission !== 'default' || files.read('config/asked-to-notify')) return;
  addEventListener('pointerup', () => {
    if (files.read('config/asked-to-notify')) return;
    files.write('config/asked-to-notify', 'yes');
    Notification.requestPermission();
  }, { once: true });
}

const scale = () => window.devicePixelRatio || 1;

const imports = {
  now: () => performance.now() / 1000,
  ask(what, pointer, count) {
    const answer = asked[what](textAt(pointer, count));
    if (answer === null || answer === undefined) return -1;
    taken = typeof answer === 'string' ? encoder.encode(answer) : answer;
    return taken.length;
  },
  take: target => bytesAt(target, taken.length).set(taken),
  tell: (what, pointer, count) => Number(told[what](textAt(pointer, count)) !== false),
  write(path, pathCount, pointer, count) {
    const name = textAt(path, pathCount);
    if (name.startsWith('film/')) {
      film(bytesAt(pointer, count).slice(), ...name.slice(5).split('\t'));
    } else if (name.startsWith('card/')) {
      card(name.slice(5), textAt(pointer, count));
    } else if (name.startsWith('sound/')) {
      const [number, file, ...order] = name.slice(6).split('\t');
      const piece = sound.piece(bytesAt(pointer, count).slice(), ...order);
      answering(() => piece.then(wav => { files.download(file, wav); return ''; }, error => error.message))(number);
    } else if (name.startsWith('download/')) {
      files.download(name.slice(9), bytesAt(pointer, count).slice());
    } else {
      return Number(files.write(name, textAt(pointer, count)));
    }
    return 1;
  },
  takeText(x, y, width, height) {
    field.hidden = !width;
    if (!width) return;
    Object.assign(field.style, { left: `${x / scale()}px`, top: `${y / scale()}px`, width: `${width / scale()}px`, height: `${height / scale()}px` });
    field.value = '';
    field.focus({ preventScroll: true });
  },
  soundNow: () => sound.now(),
  soundPost: (pointer, count) => sound.post(bytesAt(pointer, count).slice()),
  soundSet: (what, value) => sound.set(what, value),
  soundRules: (pointer, count) => sound.rules(textAt(pointer, count)),
};

// ---- Events of the page.

/** Keys of the browser that the program does not use. */
const KEYS_OF_BROWSER = new Set(['F4', 'F6', 'F7', 'F8', 'F9', 'F10']);

function listen() {
  let isComposing = false;
  const place = event => {
    const box = canvas.getBoundingClientRect();
    return [(event.clientX - box.left) * scale(), (event.clientY - box.top) * scale(), Number(event.pointerType === 'touch')];
  };
  const point = kind => event => {
    if (event.button > 0) return;
    // The program uses a second finger only in free play, where the finger's press touches a cell.
    if (!event.isPrimary) {
      if (kind === 1) { alina.pointer(6, ...place(event)); wake(); }
      return;
    }
    // Browsers allow sound to start when a mouse button is pressed or a finger is lifted.
    if (kind === (event.pointerType === 'mouse' ? 1 : 2)) sound.start();
    if (kind === 1) {
      // Makes an input method end its unfinished word, as the press may move the focus to another field.
      if (isComposing) { field.blur(); field.focus({ preventScroll: true }); }
      canvas.setPointerCapture(event.pointerId);
      // By default, a click on the canvas would take the keyboard focus away from the focused element.
      event.preventDefault();
    }
    alina.pointer(kind, ...place(event));
    if (kind === 2 && event.pointerType === 'touch') alina.pointer(4, 0, 0, 1);
    wake();
  };
  ['move', 'down', 'up', 'cancel', 'leave'].forEach((what, kind) => canvas.addEventListener(`pointer${what}`, point(kind)));
  canvas.addEventListener('contextmenu', event => event.preventDefault());
  canvas.addEventListener('wheel', event => {
    // The browser zooms the page by Ctrl with the wheel, and reports a pinch on a touchpad in the same way.
    if (event.ctrlKey) return;
    event.preventDefault();
    alina.pointer(5, 0, -event.deltaY / (event.deltaMode === 1 ? 1 : 40), 0);
    wake();
  }, { passive: false });

  addEventListener('keydown', event => {
    sound.start();
    // An input method's text comes from the text field; the browser handles keys with the meta key.
    if (event.isComposing || event.key === 'Process' || event.metaKey || hasTrapped) return;
    const isControl = event.ctrlKey && !event.altKey;
    const isTyped = document.activeElement === field && event.key.length === 1 && !isControl;
    // The browser moves the focus by Tab through the controls' elements and out of the page.
    if (event.key === 'Tab' && document.activeElement !== field) return;
    // The browser keeps its own keys, such as Alt+Left for Back. Ctrl+V is handled by the event `paste` below.
    if (!isTyped && (event.altKey || KEYS_OF_BROWSER.has(event.key))) return;
    if (isControl && !(event.shiftKey ? 'z' : 'acxysoz').includes(event.key.toLowerCase())) return;
    const isKnown = press(event);
    if (isKnown && !isTyped && event.key !== 'F12' && event.key !== 'F5') event.preventDefault();
  });
  /** Returns whether the program uses the key. */
  function press({ key, ctrlKey, shiftKey = false, altKey = false, repeat = false }) {
    const isKnown = withText(key, () => alina.key(Number(shiftKey) + 2 * Number(ctrlKey) + 4 * Number(altKey), Number(repeat)));
    wake();
    return isKnown;
  }
  // A paste event contains the clipboard's text without asking for permission, unlike `files.paste`.
  addEventListener('paste', event => {
    event.preventDefault();
    [clipboard, isPasting] = [event.clipboardData.getData('text/plain'), true];
    press({ key: 'v', ctrlKey: true });
    setTimeout(() => { isPasting = false; });
  });
  field.addEventListener('input', event => {
    if (event.isComposing) return;
    say(0)(field.value);
    field.value = '';
  });
  field.addEventListener('compositionstart', () => { isComposing = true; });
  field.addEventListener('compositionupdate', event => say(1)(event.data));
  field.addEventListener('compositionend', event => {
    isComposing = false;
    say(1)('');
    say(0)(event.data);
    field.value = '';
  });

  const state = (kind, isOn) => { alina.state(kind, Number(isOn)); wake(); };
  document.addEventListener('visibilitychange', () => {
    state(0, !document.hidden);
    keepAwake();
    if (!document.hidden) closeNotices();
  });
  document.addEventListener('fullscreenchange', tellFullScreen);
  addEventListener('focus', () => { locks.refresh(); state(1, true); });
  addEventListener('blur', () => state(1, false));
  files.whenAsked(follow);
  new ResizeObserver(resize).observe(canvas);
  watchScale();
}

function watchScale() {
  matchMedia(`(resolution: ${scale()}dppx)`).addEventListener('change', () => { resize(); watchScale(); }, { once: true });
}

function resize() {
  const box = canvas.getBoundingClientRect();
  // In a hidden iframe the canvas has the size 0; without a resize it keeps its picture.
  if (!box.width || !box.height) return;
  const [width, height] = [Math.max(1, Math.round(box.width * scale())), Math.max(1, Math.round(box.height * scale()))];
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
  alina.resize(width, height, scale());
  // Resizing has cleared the canvas.
  turn(1);
}

function follow(kind, word) {
  const kinds = { f: 2, g: 2, r: 3, w: 4, l: 9, t: 10, m: 11 };
  say(kinds[kind])(kinds[kind] === 2 ? `${kind}/${word}` : word);
}

// ---- Start.

/** The program's size in bytes; scripts/web-files replaces the number. */
const PROGRAM_BYTES = 3e6;
async function counted(request) {
  const answer = await request;
  const message = document.getElementById('message');
  let count = 0;
  const tell = new TransformStream({
    transform(chunk, next) {
      count += chunk.byteLength;
      if (!message.hidden) message.textContent = `Alina is being opened … ${(count / 1e6).toFixed(1)} of ${(PROGRAM_BYTES / 1e6).toFixed(1)} MB`;
      next.enqueue(chunk);
    },
  });
  return new Response(answer.body.pipeThrough(tell), answer);
}

const drawing = makeDrawing(canvas, memory);
const unused = { fd_close: () => 0, fd_seek: () => 0, fd_write: () => 0, proc_exit: () => {}, random_get(pointer, count) { crypto.getRandomValues(bytesAt(pointer, count)); return 0; } };
const [program] = await Promise.all([
  WebAssembly.instantiateStreaming(counted(fetch(beside('alina.wasm'))), { env: { ...tolerant(imports), ...drawing }, wasi_snapshot_preview1: unused }),
  fetchAssets(['rules.json', 'ultimate.values']),
  document.fonts.load('16px "EB Garamond"'), document.fonts.load('italic 16px "EB Garamond"'),
]);
alina = guarded(program.instance.exports);
const wanted = files.asked();
await locks.alone(() => {
  alina.start(Math.floor(Math.random() * 2 ** 32));
  if (document.hidden) alina.state(0, 0);
  if (!document.hasFocus()) alina.state(1, 0);
  if (sound.isMissing) alina.state(2, 2);
  resize();
});
listen();
if (wanted) follow(...wanted);
// A link that is opened in a new tab shows what it names, and leaves an unfinished match to the tab that plays it.
if (!wanted || document.wasDiscarded || performance.getEntriesByType('navigation')[0]?.type !== 'navigate') alina.resume();
hasStarted = true;

/** Whether the program runs, without a trap during its start. */
export const isRunning = () => !hasTrapped;
