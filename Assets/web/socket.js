// Lines to and from the server, one per text message of a WebSocket. The client model decides when to reconnect.

/** A connection with the callbacks `opened()`, `line(text)` and, once, `closed(words)`; `words` is a message for the user, or empty. */
export class Socket {
  #socket = null;
  #told;

  constructor(told) { this.#told = told; }

  static get address() { return new URL('play', new URL('./', document.baseURI)).href.replace(/^http/, 'ws'); }

  open(address = Socket.address) {
    this.close();
    let socket;
    try { socket = new WebSocket(address); } catch { return this.#told.closed('there is no server at this address'); }
    let wasOpen = false;
    // A replaced connection must not report events.
    const current = () => socket === this.#socket;
    socket.onopen = () => { wasOpen = true; if (current()) this.#told.opened(); };
    socket.onmessage = event => { if (current() && typeof event.data === 'string') this.#told.line(event.data); };
    socket.onclose = () => {
      if (!current()) return;
      this.#socket = null;
      this.#told.closed(wasOpen ? '' : 'no server answers');
    };
    this.#socket = socket;
  }

  /** Sends a line, without its end; the client model repeats unsent lines after a reconnect. */
  send(line) { if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(line); }

  close() {
    const socket = this.#socket;
    this.#socket = null;
    socket?.close();
  }
}
