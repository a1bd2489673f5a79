// Run by browsers that know no modules, and by no others.
document.getElementById('message').textContent = 'This browser is too old for Alina, which needs JavaScript modules and WebAssembly.';
