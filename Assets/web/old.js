// Only browsers without JavaScript modules run this script.
document.getElementById('message').textContent = 'This browser is too old for Alina, which needs JavaScript modules and WebAssembly.';
