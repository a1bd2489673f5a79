// Lines to and from the server: one text message of a WebSocket is one line. When to come back is for the client model to say.

/** A connection that tells `opened()`, `line(text)` and, once, `closed(words)`; `words` are for people, empty where there is nothing to say. */
export class Socket {
  #socket = null;
  #told;

  constructor(told) { this.#told = told; }

  /** Where the server that gave this page is listened to. */
  static get address() { return new URL('play', new URL('./', document.baseURI)).href.replace(/^http/, 'ws'); }

  open(address = Socket.address) {
    this.close();
    let socket;
    try { socket = new WebSocket(address); } catch { return this.#told.closed('there is no server at this address'); }
    let wasOpen = false;
    // What an older connection still says is for nobody.
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

  /** Sends a line, without its end; what cannot be sent is sent again by the client model when it is back. */
  send(line) { if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(line); }

  close() {
    const socket = this.#socket;
    this.#socket = null;
    socket?.close();
  }
}
