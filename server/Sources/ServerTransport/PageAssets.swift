/// The files of the page of live boards. Players choose their names, so the script only sets `textContent` and creates
/// all elements itself: a name can inject no markup.
enum PageAssets {
  static let html = """
    <!doctype html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Alina – live boards</title>
    <link rel="stylesheet" href="/page.css">
    <script src="/now.js" defer></script>
    <script src="/page.js" defer></script>
    </head>
    <body>
    <header><h1><a href="/">Alina</a></h1><p id="status" role="status">connecting…</p></header>
    <p id="soon" hidden>The page to play on is not built yet. This page gives way to it as soon as it is.</p>
    <main id="boards" aria-label="live boards"></main>
    <section id="best" hidden><h2>Strongest players</h2><div id="top"></div></section>
    <noscript>This page needs its script to show live boards.</noscript>
    </body>
    </html>
    """

  static let style = """
    :root { color-scheme: light dark; --paper: #f7f2e7; --card: #fdfaf3; --ink: #22201c; --soft: #7d7466; --line: #cfc5b1; --x: #8a3b12; --o: #1f4e79; }
    @media (prefers-color-scheme: dark) {
      :root { --paper: #1d1b18; --card: #26231f; --ink: #efe8d8; --soft: #a0968a; --line: #4d4639; --x: #f0a070; --o: #8fc1ee; }
    }
    body { margin: 0 auto; max-width: 72rem; padding: 2rem 1.5rem; background: var(--paper); color: var(--ink); font: 1.05rem/1.45 "EB Garamond", Georgia, serif; }
    header { display: flex; align-items: baseline; gap: 1.2rem; flex-wrap: wrap; border-bottom: 1px solid var(--line); margin-bottom: 1.6rem; }
    h1 { font-size: 2.4rem; font-weight: 400; letter-spacing: .04em; margin: 0 0 .4rem; } h1 a { text-decoration: none; }
    h2 { font-size: 1.25rem; font-weight: 400; font-style: italic; margin: 2.2rem 0 .4rem; }
    #status { color: var(--soft); font-style: italic; margin: 0; }
    main { display: grid; grid-template-columns: repeat(auto-fill, minmax(13rem, 1fr)); gap: 1.6rem; }
    article { background: var(--card); border: 1px solid var(--line); border-radius: 4px; padding: .9rem 1rem .8rem; transition: opacity 2s; }
    article.over { opacity: .55; }
    article p { margin: 0; display: flex; justify-content: space-between; gap: .6rem; }
    .name { overflow-wrap: anywhere; } .name::before { display: inline-block; width: 1.3em; }
    .sx .name::before { content: "×"; color: var(--x); } .so .name::before { content: "○"; color: var(--o); }
    .turn .name { text-decoration: underline; text-underline-offset: .25em; text-decoration-thickness: 1px; }
    .rating, .note { color: var(--soft); font-variant-numeric: oldstyle-nums; }
    .note { font-style: italic; font-size: .95rem; } a { color: inherit; }
    svg { display: block; width: 100%; margin: .7rem 0; fill: none; stroke-linecap: round; }
    svg .grid { stroke: var(--line); stroke-width: 1; } svg .x { stroke: var(--x); stroke-width: 3; } svg .o { stroke: var(--o); stroke-width: 3; }
    svg .fine { opacity: .4; } svg.large .x, svg.large .o { stroke-width: 1.5; } svg.large .last { stroke-width: 2.5; }
    svg .last { stroke-width: 4.5; } svg .strike { stroke: var(--ink); stroke-width: 2; opacity: .7; }
    h3 { font-size: 1.05rem; font-weight: 400; margin: .6rem 0 .2rem; }
    ol { columns: 16rem; margin: 0; } li { break-inside: avoid; }
    @media (prefers-reduced-motion: reduce) { article { transition: none; } }
    """

  static let script = """
    'use strict';
    const boards = document.getElementById('boards'), status = document.getElementById('status');
    const cards = new Map();
    const make = (tag, cls) => { const e = document.createElement(tag); if (cls) e.className = cls; return e; };
    const draw = (parent, tag, cls, attributes) => {
      const e = document.createElementNS('http://www.w3.org/2000/svg', tag);
      if (cls) e.setAttribute('class', cls);
      for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
      parent.append(e);
      return e;
    };
    const lines = [[0, 1, 2], [3, 4, 5], [6, 7, 8], [0, 3, 6], [1, 4, 7], [2, 5, 8], [0, 4, 8], [2, 4, 6]];
    // The centres of a board's cells row by row: 9, or the 81 of Ultimate.
    const centre = (i, side) => [(i % side + 0.5) * 96 / side, (Math.floor(i / side) + 0.5) * 96 / side];
    function seat(side) {
      const p = make('p', side), name = make('span', 'name'), rating = make('span', 'rating');
      p.append(name, rating);
      return { p, name, rating };
    }
    function card(b) {
      const a = make('article'), x = seat('sx'), o = seat('so'), note = make('p', 'note'), text = make('span');
      a.dataset.m = b.m;
      const g = draw(a, 'svg', '', { viewBox: '0 0 96 96', role: 'img' });
      const side = Math.sqrt(b.board.length);
      g.classList.toggle('large', side > 3);
      for (let i = 1; i < side; i++) {
        const at = 96 * i / side, grid = i * 3 % side === 0 ? 'grid' : 'grid fine';
        draw(g, 'path', grid, { d: `M${at} 3V93` });
        draw(g, 'path', grid, { d: `M3 ${at}H93` });
      }
      note.append(text);
      if (canWatch) {
        const link = make('a');
        link.href = '/w/' + b.m;
        link.textContent = 'watch';
        note.append(link);
      }
      a.prepend(x.p, o.p);
      a.append(note);
      boards.append(a);
      return { a, x, o, g, text, side, shown: '', marks: [] };
    }
    function show(b) {
      let c = cards.get(b.m);
      if (!c) { if (b.result || cards.size >= 24) return; c = card(b); cards.set(b.m, c); }
      for (const side of ['x', 'o']) {
        c[side].name.textContent = b[side] ?? '?';
        c[side].rating.textContent = b['r' + side] ?? '';
        c[side].p.classList.toggle('turn', !b.result && b.turn === side);
      }
      for (const mark of c.marks) mark?.classList.remove('last');
      [...b.board].forEach((v, i) => {
        if ((c.shown[i] ?? '.') === v) return;
        c.marks[i]?.remove();
        delete c.marks[i];
        if (v === '.') return;
        const [x, y] = centre(i, c.side), r = 24 / c.side;
        c.marks[i] = v === 'x'
          ? draw(c.g, 'path', 'x', { d: `M${x - r} ${y - r}L${x + r} ${y + r}M${x + r} ${y - r}L${x - r} ${y + r}` })
          : draw(c.g, 'circle', 'o', { cx: x, cy: y, r: 27 / c.side });
      });
      c.shown = b.board;
      c.marks[b.last]?.classList.add('last');
      c.g.setAttribute('aria-label', 'board ' + b.board);
      const clock = b.clock === 'none' ? 'untimed' : b.clock;
      c.text.textContent = b.result
        ? (b.result === 'draw' ? 'draw' : b.result === 'none' ? 'aborted' : b[b.result] + ' wins') + ' · ' + b.reason
        : (b.last === undefined ? 'begins' : 'move ' + ((b.plies ?? b.board.replaceAll('.', '').length) + 1)) + ' · ' + (b.rules ? b.rules + ' · ' : '') + clock + (b.rated ? ' · rated' : '');
      if (b.result && !c.a.classList.contains('over')) {
        const won = c.side === 3 && lines.find(l => l.every(i => b.board[i] !== '.' && b.board[i] === b.board[l[0]]));
        if (won) draw(c.g, 'path', 'strike', { d: `M${centre(won[0], 3)}L${centre(won[2], 3)}` });
        c.a.classList.add('over');
        setTimeout(() => { c.a.remove(); cards.delete(b.m); count(); }, 8000);
      }
      count();
    }
    function count() {
      const live = [...cards.values()].filter(c => !c.a.classList.contains('over')).length;
      status.textContent = live === 0 ? 'no public match is being played' : live === 1 ? 'one live board' : `${live} live boards`;
    }
    for (const b of now) show(b);
    count();
    if (!canWatch) {
      document.getElementById('soon').hidden = false;
      setInterval(async () => {
        const answer = await fetch('/manifest.webmanifest', { cache: 'no-store' }).catch(() => undefined);
        if (answer?.ok) location.reload();
      }, 3000);
    }
    const feed = new EventSource('/live');
    feed.onopen = () => { for (const c of cards.values()) c.a.remove(); cards.clear(); count(); };
    feed.onmessage = e => show(JSON.parse(e.data));
    feed.onerror = () => { status.textContent = 'the connection was lost; trying again…'; };
    fetch('/top.json').then(r => r.json()).then(rows => {
      const top = document.getElementById('top');
      for (const rules of new Set(rows.map(r => r.rules))) {
        const h3 = make('h3'), ol = make('ol');
        h3.textContent = rules ?? 'classic';
        for (const r of rows.filter(r => r.rules === rules)) {
          const li = make('li');
          li.textContent = `${r.name} – ${r.rating}`;
          ol.append(li);
        }
        top.append(h3, ol);
      }
      document.getElementById('best').hidden = rows.length === 0;
    });
    """
}
