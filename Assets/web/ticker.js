// A timer in a worker, which browsers do not slow down in hidden pages: sends a message after the given milliseconds.
let timer = 0;
onmessage = ({ data }) => {
  clearTimeout(timer);
  timer = setTimeout(postMessage, data, 0);
};
