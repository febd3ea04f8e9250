// Everything works without this: it copies for you, and closes menus that you have left.

for (const button of document.querySelectorAll('[data-copy]')) {
  const field = document.getElementById(button.dataset.copy);
  const told = button.closest('.copy').querySelector('[role="status"]');
  button.hidden = false;
  button.addEventListener('click', async () => {
    told.textContent = '';
    const isCopied = await copy(field);
    // In a later turn, so that the same words are announced again.
    setTimeout(() => {
      told.textContent = isCopied
        ? 'Copied.'
        : 'Your browser did not allow it. The text is selected: copy it yourself.';
    }, 50);
  });
}

async function copy(field) {
  try {
    await navigator.clipboard.writeText(field.value);
    return true;
  } catch {
    // Without HTTPS there is no clipboard; the older way asks for a selection.
    field.focus();
    field.select();
    return document.execCommand('copy');
  }
}

const menus = 'details.menu[open]';

document.addEventListener('click', ({ target }) => {
  for (const menu of document.querySelectorAll(menus)) if (!menu.contains(target)) menu.open = false;
});

document.addEventListener('focusin', ({ target }) => {
  for (const menu of document.querySelectorAll(menus)) if (!menu.contains(target)) menu.open = false;
});

document.addEventListener('keydown', ({ key }) => {
  if (key !== 'Escape') return;
  for (const menu of document.querySelectorAll(menus)) {
    menu.open = false;
    menu.querySelector('summary').focus();
  }
});

// What is shown once is gone once one has left the page, whatever the browser keeps for the way back.
// All of it: a field that is emptied still has its text in the page, and a QR code is a secret too.
addEventListener('pagehide', () => {
  for (const secret of document.querySelectorAll('[data-secret]')) secret.replaceChildren();
});
addEventListener('pageshow', ({ persisted }) => {
  if (persisted && document.querySelector('[data-secret]') !== null)
    location.replace(document.querySelector('.up a').href);
});
