// HTML elements behind the picture, one for each control, for screen readers, keyboards and tests.

// A control: { id, role, name, state, numbers, box: [x, y, width, height], row }. `box` is in CSS pixels from the canvas' top left corner.
// `role` is ARIA's; a `paragraph` is text without an action, and a cell of the board is a `gridcell` in row `row`, from 0. `state` is 'on',
// 'off', 'disabled', a slider's value in words, a textbox's text, or empty. `numbers` is a slider's value, least and greatest value.

const toggles = new Set(['switch', 'checkbox', 'radio', 'option', 'tab']);

function make(name, role) {
  const element = document.createElement(name);
  element.setAttribute('role', role);
  return element;
}

export class Controls {
  #root = document.getElementById('controls');
  #say = document.getElementById('say');
  #lines = [];
  #grid = null;
  #groups = new Map();
  #shown = new Map();
  #told;
  /** Whether the program is moving the focus itself: `told.focus` is not called. */
  #isQuiet = false;

  /** `told` has the callbacks `activate(id)` and `focus(id)`. */
  constructor(told) {
    this.#told = told;
    this.#root.addEventListener('click', event => this.#call('activate', event.target));
    this.#root.addEventListener('focusin', event => { if (!this.#isQuiet) this.#call('focus', event.target); });
    // The browser scrolls to an element that gets the focus. Undo this: the program scrolls the picture and places the elements itself.
    this.#root.addEventListener('scroll', () => this.#root.scrollTo(0, 0));
    // For Enter and Space the browser clicks the focused element; the program must not handle the key as well.
    this.#root.addEventListener('keydown', event => {
      if (event.key === 'Enter' || event.key === ' ') event.stopPropagation();
    });
  }

  #call(what, element) {
    const id = element.closest?.('[data-id]')?.dataset.id;
    if (id !== undefined) this.#told[what](Number(id));
  }

  /**
   * Screen readers speak the lines of 50 ms as one text. The focused element's label is omitted, as they announce this label themselves.
   */
  say(line) {
    if (this.#lines.push(line) > 1) return;
    setTimeout(() => {
      const text = this.#lines.splice(0).filter(line => line !== document.activeElement?.ariaLabel).join('. ');
      if (text) this.#say.textContent = this.#say.textContent === text ? text + '\u00a0' : text;
    }, 50);
  }

  focus(id) {
    this.#isQuiet = true;
    this.#shown.get(id)?.focus({ preventScroll: true });
    this.#isQuiet = false;
  }

  /** Makes, updates, removes and reorders elements to match the list; an element that remains keeps the focus. */
  update(list) {
    const wanted = new Set(list.map(control => control.id));
    for (const [id, element] of this.#shown) {
      if (!wanted.has(id)) {
        (element.parentElement?.role === 'gridcell' ? element.parentElement : element).remove();
        this.#shown.delete(id);
      }
    }
    const order = [];
    const rows = [];
    const groups = new Map();
    for (const control of list) {
      const element = this.#shown.get(control.id) ?? this.#make(control);
      // To set all attributes of every control would take most of this function's time.
      const said = JSON.stringify(control);
      if (element.said !== said) this.#set(element, control);
      element.said = said;
      if (control.role === 'gridcell') {
        if (!rows.length) order.push(this.#grid ??= this.#makeGrid());
        (rows[control.row] ??= []).push(element.parentElement);
      } else if (control.role === 'radio') {
        const group = this.#group(control);
        if (!groups.has(group)) {
          order.push(group);
          groups.set(group, []);
        }
        groups.get(group).push(element);
      } else {
        order.push(element);
      }
    }
    if (rows.length) {
      Controls.#fill(this.#grid, rows.map((_, i) => this.#grid.children[i] ?? make('div', 'row')));
      rows.forEach((cells, i) => Controls.#fill(this.#grid.children[i], cells));
    }
    for (const [group, answers] of groups) Controls.#fill(group, answers);
    for (const [key, group] of this.#groups) if (!groups.has(group)) this.#groups.delete(key);
    Controls.#fill(this.#root, order);
  }

  /** Sets the children, moving only misplaced ones, as a moved element loses the focus. */
  static #fill(parent, wanted) {
    const stays = new Set(wanted);
    for (const child of [...parent.children]) if (!stays.has(child)) child.remove();
    let next = parent.firstElementChild;
    for (const element of wanted) {
      if (element === next) next = next.nextElementSibling;
      else parent.insertBefore(element, next);
    }
  }

  /** The group of a question's answers; `floor(id / 64)` is the same for all of them. */
  #group({ id, name }) {
    const key = Math.floor(id / 64);
    const group = this.#groups.get(key) ?? make('div', 'radiogroup');
    group.setAttribute('aria-label', name.split(': ')[0]);
    this.#groups.set(key, group);
    return group;
  }

  #makeGrid() {
    const grid = make('div', 'grid');
    grid.setAttribute('aria-labelledby', 'heading');
    return grid;
  }

  #make({ id, role }) {
    if (role === 'paragraph') {
      const element = document.createElement('p');
      this.#shown.set(id, element);
      return element;
    }
    const element = make('button', role === 'gridcell' ? 'button' : role);
    element.type = 'button';
    element.dataset.id = id;
    if (role === 'gridcell') make('span', role).append(element);
    this.#shown.set(id, element);
    return element;
  }

  #set(element, { role, name, state, numbers = [], box: [x, y, width, height] }) {
    Object.assign(element.style, { left: `${x}px`, top: `${y}px`, width: `${width}px`, height: `${height}px` });
    if (role === 'paragraph') {
      if (element.textContent !== name) element.textContent = name;
      return;
    }
    const attributes = { 'aria-label': name, 'aria-disabled': state === 'disabled' ? 'true' : null };
    if (toggles.has(role)) attributes[role === 'tab' || role === 'option' ? 'aria-selected' : 'aria-checked'] = String(state === 'on');
    if (role === 'slider') {
      const [now, least, most] = numbers;
      Object.assign(attributes, { 'aria-valuetext': state, 'aria-valuenow': now, 'aria-valuemin': least, 'aria-valuemax': most });
    }
    if (role === 'textbox') element.textContent = state;
    for (const [key, value] of Object.entries(attributes)) {
      if (value === null || value === undefined) element.removeAttribute(key);
      else if (element.getAttribute(key) !== value) element.setAttribute(key, value);
    }
  }
}

/** The names of the system's preferences that are set, separated by spaces. */
export const preferences = () => [
  ['dark', '(prefers-color-scheme: dark)'], ['contrast', '(forced-colors: active), (prefers-contrast: more)'],
  ['still', '(prefers-reduced-motion: reduce)'], ['finger', '(pointer: coarse)'],
].filter(([, query]) => matchMedia(query).matches).map(([word]) => word).join(' ');
