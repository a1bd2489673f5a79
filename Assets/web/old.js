// Run only by browsers without JavaScript modules.
document.getElementById('message').textContent = 'This browser is too old for Alina, which needs JavaScript modules and WebAssembly.';
