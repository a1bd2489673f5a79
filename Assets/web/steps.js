// The history of the browser as deep as the pages of the program lie, and the address as what is shown.

export class Steps {
  #goBack;
  #level = 0;
  #path = '';
  /** The history is on its way to another step. */
  #isMoving = false;
  #isLeaving = false;

  /** `goBack(count)` is called when the person goes back by the browser. */
  constructor(goBack) {
    this.#goBack = goBack;
    addEventListener('popstate', () => this.#moved());
  }

  /** How deep the entry of the history is that the page is at. */
  get #at() { return history.state?.level ?? 0; }

  /** Shows a path in the address, so many steps above where the page began. */
  show(level, path) {
    [this.#level, this.#path] = [level, path];
    this.#settle();
  }

  /** Goes back to where the browser was before the page. */
  leave() {
    this.#isLeaving = true;
    history.go(-1 - this.#at);
    // Where there was nothing before the page it stays.
    setTimeout(() => { this.#isLeaving = false; this.#settle(); }, 1000);
  }

  #settle() {
    if (this.#isMoving || this.#isLeaving) return;
    const url = this.#path ? `#/${this.#path}` : './';
    if (this.#at > this.#level) {
      this.#isMoving = true;
      history.go(this.#level - this.#at);
      return;
    }
    for (let level = this.#at + 1; level <= this.#level; level++) history.pushState({ level }, '', url);
    history.replaceState({ level: this.#level }, '', url);
  }

  #moved() {
    // An address that was typed is an entry of nobody's.
    if (!history.state && location.hash.length > 1) return;
    const steps = this.#isMoving ? 0 : this.#level - this.#at;
    this.#isMoving = false;
    if (steps > 0) this.#goBack(steps);
    // What the program did not go back from stays.
    setTimeout(() => this.#settle(), 0);
  }
}
