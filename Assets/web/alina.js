// Starts the program of the page and stands between it and the browser: what it imports, and what happens to the page.
import { Controls, preferences } from './controls.js';
import { makeDrawing } from './drawing.js';
import * as files from './files.js';
import { kind as filmKind, record } from './film.js';
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

/** Calls an export that takes a text. */
function withText(text, call) {
  const bytes = typeof text === 'string' ? encoder.encode(text) : text;
  const pointer = alina.buffer(bytes.length);
  bytesAt(pointer, bytes.length).set(bytes);
  call();
}

// ---- Turns: the program runs when something happens or a time has come, and never else.

let [timer, frame, isAsked] = [0, 0, false];
/** A clock that goes on in a hidden page, whose own timers browsers slow down. */
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
  if (draws || document.hidden) setTimeout(alina.controls);  // after the frame, which they would make late
  if (wait >= 0) turnAfter(Math.min(wait * 1000, 2 ** 30));
  else if (!frame) frame = requestAnimationFrame(() => { frame = 0; turn(1); });
}

/** Has the program run as soon as what happens now has been told. */
function wake() {
  if (isAsked) return;
  isAsked = true;
  queueMicrotask(() => turn(0));
}

// ---- What comes with the page: themes, score rules.

const beside = name => new URL(name, import.meta.url);
const assets = new Map();
const fetchAssets = names => Promise.all(names.map(async name => {
  const answer = await fetch(beside(name));
  if (answer.ok) assets.set(`page/${name}`, new Uint8Array(await answer.arrayBuffer()));
}));

// ---- The browser for the program.

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
let awake = null;
let keepsAwake = 0;
let taken = new Uint8Array();

/** Keeps the screen on while that is wanted; the browser lets it go whenever the page is hidden. */
async function keepAwake() {
  const isKept = () => awake && !awake.released;
  if (!keepsAwake) {
    awake?.release();
    awake = null;
  } else if (!document.hidden && !isKept()) {
    const lock = await navigator.wakeLock?.request('screen').catch(() => null);
    // Meanwhile it may be wanted no more, or there.
    if (keepsAwake && !isKept()) awake = lock; else lock?.release();
  }
}

/** The local time as names of files have it. */
const stamp = () => new Date(Date.now() - new Date().getTimezoneOffset() * 60_000).toISOString().slice(0, 19).replace('T', '-').replaceAll(':', '');

/** What the program can ask for, in the order of `Asked`; null where there is nothing. */
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
];

/** What the program can tell, in the order of `Told`. */
const told = [
  text => { clipboard = text; files.copy(text); },
  on => (on ? document.documentElement.requestFullscreen?.() : document.fullscreenElement && document.exitFullscreen())?.catch(() => {}),
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
  path => files.give(files.address(path)),
  () => files.paste().then(say(8)),
  title => { document.title = title; },
  words => { const [level, path] = words.split('\t'); steps.show(Number(level), path); },
  () => steps.leave(),
  words => {
    const [language, heading] = words.split('\t');
    document.documentElement.lang = language;
    document.getElementById('heading').textContent = heading;
  },
  expectNotices,
  () => filming?.abort(new Error('stopped')),
  path => files.lock(path),
  path => files.unlock(path),
];

let filming = null;

/** Makes a film of the events of a piece; the program draws its pictures, and hears of it by lines. */
async function film(events, file, width, height, ...order) {
  filming = new AbortController();
  const { signal } = filming, tell = say(9);
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

/** Gives away a picture with words; the program draws it before it gives way. */
function card(file, text) {
  const canvas = Object.assign(document.createElement('canvas'), { width: 1080, height: 1080 });
  const filmed = drawing.film(canvas);
  queueMicrotask(() => {
    drawing.film(filmed);
    canvas.toBlob(blob => files.giveFile(new File([blob], file, { type: 'image/png' }), text));
  });
}

/** The browser's Back goes back within the program. */
const steps = new Steps(count => { alina.back(count); wake(); });

/** Tells of a move that waits, where the person allowed it. */
function notify() {
  if (document.hidden && globalThis.Notification?.permission === 'granted') {
    setTimeout(() => new Notification(document.title, { tag: 'alina', icon: beside('icon-192.png').href }));
  }
}

/** Asks once whether it may, when a match begins; browsers want a touch for that. */
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
      const [file, ...order] = name.slice(6).split('\t');
      sound.piece(bytesAt(pointer, count).slice(), ...order).then(wav => files.download(file, wav), error => console.error(error));
    } else if (name.startsWith('download/')) {
      files.download(name.slice(9), bytesAt(pointer, count).slice());
    } else {
      return Number(files.write(name, textAt(pointer, count)));
    }
    return 1;
  },
  takeText(x, y, width, height) {
    if (!width) return field.blur();
    Object.assign(field.style, { left: `${x / scale()}px`, top: `${y / scale()}px`, width: `${width / scale()}px`, height: `${height / scale()}px` });
    field.value = '';
    field.focus({ preventScroll: true });
  },
  soundNow: () => sound.now(),
  soundPost: (pointer, count) => sound.post(bytesAt(pointer, count).slice()),
  soundSet: (what, value) => sound.set(what, value),
  soundRules: (pointer, count) => sound.rules(textAt(pointer, count)),
};

// ---- What happens to the page.

function listen() {
  let isComposing = false;
  const place = event => {
    const box = canvas.getBoundingClientRect();
    return [(event.clientX - box.left) * scale(), (event.clientY - box.top) * scale(), Number(event.pointerType === 'touch')];
  };
  const point = kind => event => {
    if (!event.isPrimary || event.button > 0) return;
    // A browser lets sound begin at the press of a button, and where a finger lifts.
    if (kind === (event.pointerType === 'mouse' ? 1 : 2)) sound.start();
    if (kind === 1) {
      // What is being composed is written before the focus moves.
      if (isComposing) { field.blur(); field.focus({ preventScroll: true }); }
      canvas.setPointerCapture(event.pointerId);
      // The element behind keeps the keyboard.
      event.preventDefault();
    }
    alina.pointer(kind, ...place(event));
    if (kind === 2 && event.pointerType === 'touch') alina.pointer(4, 0, 0, 1);
    wake();
  };
  ['move', 'down', 'up', 'cancel', 'leave'].forEach((what, kind) => canvas.addEventListener(`pointer${what}`, point(kind)));
  canvas.addEventListener('contextmenu', event => event.preventDefault());
  canvas.addEventListener('wheel', event => {
    event.preventDefault();
    alina.pointer(5, 0, -event.deltaY / (event.deltaMode === 1 ? 1 : 40), 0);
    wake();
  }, { passive: false });

  addEventListener('keydown', event => {
    sound.start();
    // What composes a letter is the field's; so is what the browser does with its own keys.
    if (event.isComposing || event.key === 'Process' || event.metaKey) return;
    const isControl = event.ctrlKey && !event.altKey;
    // Among the elements behind the picture the browser goes its own way, and so out of the page.
    if (event.key === 'Tab' && document.activeElement !== field) return;
    if (isControl && !'acvxysoz'.includes(event.key.toLowerCase())) return;
    const isTyped = document.activeElement === field && event.key.length === 1 && !isControl;
    if (isControl && event.key === 'v') return void files.paste().then(text => { clipboard = text; press(event); });
    if (!isTyped && !(event.key === 'F12' || (event.key === 'F5'))) event.preventDefault();
    press(event);
  });
  function press(event) {
    withText(event.key, () => alina.key(Number(event.shiftKey) + 2 * Number(event.ctrlKey) + 4 * Number(event.altKey), Number(event.repeat)));
    wake();
  }
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
  document.addEventListener('visibilitychange', () => { state(0, !document.hidden); keepAwake(); });
  addEventListener('focus', () => state(1, true));
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
  const [width, height] = [Math.max(1, Math.round(box.width * scale())), Math.max(1, Math.round(box.height * scale()))];
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
  alina.resize(width, height, scale());
  // At once: an emptied canvas would be seen.
  turn(1);
}

/** Does what the address asks for. */
function follow(kind, word) {
  const kinds = { g: 2, r: 3, w: 4 };
  say(kinds[kind])(kind === 'g' ? `g/${word}` : word);
}

// ---- The start.

/** An answer that says on the page how much of it has arrived. */
async function counted(request) {
  const answer = await request;
  const message = document.getElementById('message');
  let count = 0;
  const tell = new TransformStream({
    transform(chunk, next) {
      count += chunk.byteLength;
      if (!message.hidden) message.textContent = `Alina is being opened … ${(count / 1e6).toFixed(1)} MB`;
      next.enqueue(chunk);
    },
  });
  return new Response(answer.body.pipeThrough(tell), answer);
}

const drawing = makeDrawing(canvas, memory);
const unused = { fd_close: () => 0, fd_seek: () => 0, fd_write: () => 0, proc_exit: () => {}, random_get(pointer, count) { crypto.getRandomValues(bytesAt(pointer, count)); return 0; } };
const [program] = await Promise.all([
  WebAssembly.instantiateStreaming(counted(fetch(beside('alina.wasm'))), { env: { ...imports, ...drawing }, wasi_snapshot_preview1: unused }),
  fetchAssets(['light.theme', 'dark.theme', 'contrast.theme', 'rules.json', 'ultimate.values']),
  document.fonts.load('16px "EB Garamond"'), document.fonts.load('italic 16px "EB Garamond"'),
]);
alina = program.instance.exports;
const wanted = files.asked();
alina.start(Math.floor(Math.random() * 2 ** 32));
if (document.hidden) alina.state(0, 0);
if (!document.hasFocus()) alina.state(1, 0);
if (sound.isMissing) alina.state(2, 2);
resize();
listen();
if (wanted) follow(...wanted);
else alina.resume();
