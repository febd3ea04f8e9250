// Every page also works without this script. It copies text, closes menus and moves the focus in them, adds local times, shows
// results when they arrive, keeps what was typed into refused forms, fills in an e-mail that another page handed over, and
// removes secrets when the page is left.

for (const button of document.querySelectorAll('[data-copy]')) {
  const field = document.getElementById(button.dataset.copy);
  const status = button.closest('.copy').querySelector('[role="status"]');
  button.hidden = false;
  button.addEventListener('click', async () => {
    status.textContent = '';
    const isCopied = await copy(field);
    // Without the delay, a screen reader would not announce the same text a second time.
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
    // The clipboard API needs HTTPS. Without it, the older command copies the selected text.
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

// In an open menu, the arrow keys, Home and End move the focus. In a closed menu, an arrow key on the button opens the menu.
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

// The pages show times in UTC. This code adds the local time below each, with the date if the date differs, unless the local time
// zone is UTC.
const LOCAL_TIME = { hour: '2-digit', minute: '2-digit', second: '2-digit', timeZoneName: 'short' };
const LOCAL_DAY = { day: 'numeric', month: 'short', year: 'numeric' };

function addLocalTimes(part) {
  for (const time of part.querySelectorAll('time[data-local-time]')) {
    const at = new Date(time.dateTime);
    if (at.getTimezoneOffset() === 0) continue;
    const local = document.createElement('span');
    local.className = 'under';
    const isSameDay = at.getDate() === at.getUTCDate();
    local.textContent = at.toLocaleString('en-GB', isSameDay ? LOCAL_TIME : { ...LOCAL_DAY, ...LOCAL_TIME });
    time.after(local);
  }
}

// A page that waits for a result requests itself again, at growing intervals, and shows the parts that have changed. It stops
// after five minutes, because requests from an open page would otherwise keep the session alive.
const [WAIT_MS, MAX_PAUSE_MS] = [300_000, 15_000];

const live = [...document.querySelectorAll('[data-live]')].map((part) => ({ part, markup: part.innerHTML }));

async function awaitResult() {
  let pauseMs = 1000;
  for (let waitedMs = 0; waitedMs < WAIT_MS && document.querySelector('[data-refresh]') !== null; waitedMs += pauseMs) {
    pauseMs = Math.min(pauseMs * 1.3, MAX_PAUSE_MS);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    const text = await fetch(location.href)
      .then((response) => (response.ok && !response.redirected ? response.text() : ''))
      .catch(() => '');
    const page = new DOMParser().parseFromString(text, 'text/html');
    for (const each of live) {
      const now = page.querySelector(`[data-live="${each.part.dataset.live}"]`);
      if (now === null || now.innerHTML === each.markup) continue;
      each.markup = now.innerHTML;
      each.part.replaceChildren(...now.childNodes);
      addLocalTimes(each.part);
    }
  }
}

addLocalTimes(document);
awaitResult();

// Browsers do not keep the response to a form. Going back to a refused form, or reloading it, would therefore fail. This code
// replaces the history entry with the URL of the form's page, and keeps what was typed, except for secrets.
const FIELDS =
  'main form[method="post"] :is(input:not([type="hidden"], [type="password"], [autocomplete="one-time-code"]), select)';
const typedFields = () => [...document.querySelectorAll(FIELDS)];
const { formUrl } = document.documentElement.dataset;

function keepTyped() {
  const typed = typedFields().map(({ name, value, checked }) => ({ name, value, checked }));
  history.replaceState({ typed }, '', formUrl);
}

if (formUrl !== undefined) keepTyped();
else {
  typedFields().forEach((field, i) => {
    const typed = history.state?.typed?.[i];
    if (typed?.name !== field.name) return;
    if (field.type === 'checkbox') field.checked = typed.checked;
    else field.value = typed.value;
  });
}
if (history.state?.typed !== undefined) document.addEventListener('change', keepTyped);

// The shared address of the cells passes the e-mail to a cell's sign-in page in the URL fragment, which no server receives or
// logs.
const handedOver = new URLSearchParams(location.hash.slice(1)).get('email');
const emailField = document.querySelector('[data-handed-over]');
if (handedOver !== null && emailField !== null) {
  emailField.value = handedOver;
  history.replaceState(history.state, '', location.pathname + location.search);
  emailField.form.querySelector('[type="password"], button').focus();
}

// Removes secrets when the page is left, because a browser may keep the page for the back button. The elements are removed as a
// whole: an emptied text area would still have the secret as its default value, and a QR code has no text to empty.
addEventListener('pagehide', () => {
  for (const secret of document.querySelectorAll('[data-secret]')) secret.replaceChildren();
});
addEventListener('pageshow', ({ persisted }) => {
  if (persisted && document.querySelector('[data-secret]') !== null)
    location.replace(document.querySelector('.up a').href);
});
