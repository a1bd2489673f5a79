// Makes the browser's Back go back in Alina: keeps one history entry for each step back that Alina allows (`level`).

export class Steps {
  #goBack;
  #level = 0;
  #path = '';
  /** Whether this class has called `history.go`, and the event `popstate` has not come yet. */
  #isMoving = false;
  #isLeaving = false;
  #retry = 0;

  /** `goBack(count)` is called when the user goes back in the browser. */
  constructor(goBack) {
    this.#goBack = goBack;
    addEventListener('popstate', () => this.#moved());
  }

  /** Steps from Alina's first history entry to the current one. */
  get #at() { return history.state?.level ?? 0; }

  /** Shows a path in the address, in the history entry that is `level` steps after Alina's first entry. */
  show(level, path) {
    [this.#level, this.#path] = [level, path];
    this.#settle();
  }

  /** Leaves Alina: goes back to the history entry before Alina's first one. */
  leave() {
    this.#isLeaving = true;
    // If the browser's history has no entry before Alina's first one, or the browser refuses to move in it, Alina stays open.
    setTimeout(() => { this.#isLeaving = false; this.#settle(); }, 1000);
    history.go(-1 - this.#at);
  }

  #settle() {
    if (this.#isMoving || this.#isLeaving) return;
    const url = this.#path ? `#/${this.#path}` : './';
    clearTimeout(this.#retry);
    try {
      if (this.#at > this.#level) {
        history.go(this.#level - this.#at);
        this.#isMoving = true;
        return;
      }
      for (let level = this.#at + 1; level <= this.#level; level++) history.pushState({ level }, '', url);
      history.replaceState({ level: this.#level }, '', url);
    } catch {
      // Safari and Firefox refuse more than 100 or 200 changes in ten seconds.
      this.#retry = setTimeout(() => this.#settle(), 1000);
    }
  }

  #moved() {
    // The user entered an address, which makes a history entry without state; the event `hashchange` opens this address.
    if (!history.state && location.hash.length > 1) return;
    const steps = this.#isMoving ? 0 : this.#level - this.#at;
    this.#isMoving = false;
    if (steps > 0) this.#goBack(steps);
    // If Alina has kept its page open although the user went back, `#settle` adds this page's history entry again.
    setTimeout(() => this.#settle(), 0);
  }
}
