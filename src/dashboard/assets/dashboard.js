// No page needs this script. It copies text, closes menus and moves in them, adds local times, and removes secrets from pages
// that are left.

for (const button of document.querySelectorAll('[data-copy]')) {
  const field = document.getElementById(button.dataset.copy);
  const status = button.closest('.copy').querySelector('[role="status"]');
  button.hidden = false;
  button.addEventListener('click', async () => {
    status.textContent = '';
    const isCopied = await copy(field);
    // After a delay, so that screen readers announce the same text again.
    setTimeout(() => {
      status.textContent = isCopied
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
    // The clipboard API needs HTTPS. The older command copies the selection.
    field.focus();
    field.select();
    return document.execCommand('copy');
  }
}

const openMenus = 'details.menu[open]';

for (const type of ['click', 'focusin']) {
  document.addEventListener(type, ({ target }) => {
    for (const menu of document.querySelectorAll(openMenus)) if (!menu.contains(target)) menu.open = false;
  });
}

document.addEventListener('keydown', ({ key }) => {
  if (key !== 'Escape') return;
  for (const menu of document.querySelectorAll(openMenus)) {
    menu.open = false;
    menu.querySelector('summary').focus();
  }
});

// In an open menu, the arrow keys, Home and End move the focus. On the button of a closed one, an arrow key opens it.
const MOVES = new Map([
  ['ArrowDown', (place, count) => (place + 1) % count],
  ['ArrowUp', (place, count) => (place <= 0 ? count : place) - 1],
  ['Home', () => 0],
  ['End', (_, count) => count - 1],
]);

document.addEventListener('keydown', (event) => {
  const { key, target, ctrlKey, altKey, metaKey } = event;
  const menu = target.closest('details.menu');
  const move = MOVES.get(key);
  if (menu === null || move === undefined || ctrlKey || altKey || metaKey) return;
  if (!menu.open && !key.startsWith('Arrow')) return;
  event.preventDefault();
  menu.open = true;
  const items = [...menu.querySelectorAll('a, button')];
  items[move(items.indexOf(target), items.length)].focus();
});

// The pages show UTC. This adds the local time below, with the day where that differs, unless the local time zone is UTC.
const LOCAL_TIME = { hour: '2-digit', minute: '2-digit', second: '2-digit', timeZoneName: 'short' };
const LOCAL_DAY = { day: 'numeric', month: 'short', year: 'numeric' };

for (const time of document.querySelectorAll('time[data-local-time]')) {
  const at = new Date(time.dateTime);
  if (at.getTimezoneOffset() === 0) continue;
  const local = document.createElement('span');
  local.className = 'under';
  const isSameDay = at.getDate() === at.getUTCDate();
  local.textContent = at.toLocaleString('en-GB', isSameDay ? LOCAL_TIME : { ...LOCAL_DAY, ...LOCAL_TIME });
  time.after(local);
}

// Removes secrets when the page is left, because a browser may keep the page for the back button. It removes the whole
// element: an emptied text area still has its text as its default value, and a QR code is a secret too.
addEventListener('pagehide', () => {
  for (const secret of document.querySelectorAll('[data-secret]')) secret.replaceChildren();
});
addEventListener('pageshow', ({ persisted }) => {
  if (persisted && document.querySelector('[data-secret]') !== null)
    location.replace(document.querySelector('.up a').href);
});
