// A clock in a thread of its own, which browsers do not slow down while the page is hidden: so many milliseconds, and then a message.
let timer = 0;
onmessage = ({ data }) => {
  clearTimeout(timer);
  timer = setTimeout(postMessage, data, 0);
};
