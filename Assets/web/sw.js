// Caches the page for offline use. The build inserts `version` and `files`. Each version has a cache of its own, so that a page never mixes
// the files of two versions.
const name = `alina ${version}`;

addEventListener('install', event => {
  event.waitUntil(caches.open(name)
    // `addAll` caches all files or none. The browser's cache may have an older file of a path without a version.
    .then(cache => cache.addAll(files.map(file => new Request(file, { cache: file.startsWith('v/') ? 'default' : 'reload' }))))
    .then(() => skipWaiting()));
});

addEventListener('activate', event => {
  // Keeps the three previous versions (1.1 MB each): a tab of an older version still loads some of its parts when it needs them.
  event.waitUntil(caches.keys().then(keys => keys.filter(key => key.startsWith('alina ')))
    .then(ours => Promise.all(ours.slice(0, -4).filter(key => key !== name).map(key => caches.delete(key)))));
});

addEventListener('fetch', event => {
  const { request } = event, url = new URL(request.url), scope = new URL(registration.scope);
  if (request.method !== 'GET' || !url.href.startsWith(scope.href)) return;
  const path = url.pathname.slice(scope.pathname.length);
  // Redirects an address such as `r/CODE`, the link of a room, to `#/r/CODE`, which loads the page.
  const link = request.mode === 'navigate' && path.match(/^([rwglt])\/([\w-]+(?:\/[\w-]+)?)$/);
  if (link) {
    event.respondWith(Response.redirect(`${scope.href}#/${link[1]}/${link[2]}`));
  } else if (path.startsWith('v/')) {
    event.respondWith(caches.match(request).then(kept => kept ?? fetch(request)));
  } else if (files.includes(path || './')) {
    // Answers from the network if it replies within 3 s, else from the cache.
    event.respondWith(fetch(request, { signal: AbortSignal.timeout(3000) })
      .then(reply => reply.ok ? reply : Promise.reject(reply))
      .catch(() => caches.match(path || './', { cacheName: name }).then(kept => kept ?? Response.error())));
  }
});

// A click on a notification shows the tab that sent the notification, else another tab of the page, else a new tab.
addEventListener('notificationclick', event => {
  const { notification } = event;
  notification.close();
  event.waitUntil(clients.matchAll({ type: 'window', includeUncontrolled: true }).then(tabs => {
    const tab = tabs.find(tab => tab.url === notification.data) ?? tabs.find(tab => tab.url.startsWith(registration.scope));
    return tab ? tab.focus() : clients.openWindow(notification.data);
  }));
});
