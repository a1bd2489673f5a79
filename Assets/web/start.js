// Opens the page: checks the browser's features, starts the program, and installs the service worker for offline use.
const message = document.getElementById('message');

const tell = text => Object.assign(message, { textContent: text, hidden: text === '' });

const what = !('WebAssembly' in globalThis)
  ? 'WebAssembly'
  : !document.getElementById('screen').getContext('2d') ? 'a canvas to draw on' : '';
if (what) {
  tell(`This browser has no ${what}, which Alina needs. Any browser of the last few years will do.`);
} else {
  try {
    const { isRunning } = await import('./alina.js');
    if (isRunning()) tell('');
  } catch (error) {
    console.error(error);
    tell('Not all of the page arrived. Load it again; nothing that was kept is lost.');
  }
  // Browsers offer service workers only to pages with a secure origin (HTTPS or this computer). Other pages work only online.
  navigator.serviceWorker?.register('sw.js').catch(() => {});
}
