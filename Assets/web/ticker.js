// A worker's timer, because browsers slow down the timers of hidden pages.
let timer = 0;
onmessage = ({ data }) => {
  clearTimeout(timer);
  timer = setTimeout(postMessage, data, 0);
};
