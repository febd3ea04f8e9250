// The script of all pages except the page for browsers without JavaScript. It runs before the page is displayed, so that the
// theme does not change visibly.
const root = document.documentElement;
const here = document.currentScript;
root.classList.add('js');
// Redoc stores the theme under the same name.
const THEME = 'redoc.colorMode';
const chosen = findStored(THEME);
if (chosen === 'dark' || chosen === 'light') root.classList.add(chosen);

addEventListener('DOMContentLoaded', () => {
  followOldAddress();
  switchTheme();
  for (const code of document.querySelectorAll('.code')) addCopyButton(code);
  for (const group of groupsOfSamples()) addTabs(group);
  showInContents(document.querySelector('#contents [aria-current]'));
  const toc = document.querySelector('.toc');
  if (toc !== null) followReading(toc);
  openSearch();
});

/** Returns the reader's stored choice, or `null`. localStorage throws if the browser does not allow the site to store data. */
function findStored(name) {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

function remember(name, value) {
  try {
    localStorage.setItem(name, value);
  } catch {
    // The choice cannot be stored, so it applies only to this page.
  }
}

/**
 * Returns the URL of a page of this site. Derives it from a link that every page has, because only an API server serves pages
 * without ".html" in the URL.
 */
function addressOf(name, anchor = '') {
  return document.querySelector('.head nav a').href.replace(/reference(?=(\.html)?$)/, name) + anchor;
}

/**
 * Redirects from URLs of versions before 1.0, when the start page contained all guides and operations, such as
 * "/docs#/limits/read-the-limits".
 */
function followOldAddress() {
  const [, first, rest] = /^#\/([^/]+)(?:\/(.+))?$/.exec(location.hash) ?? [];
  if (document.body.dataset.page !== 'index' || first === undefined) return;
  const isGuide = [...document.querySelectorAll('#contents a')].some(({ href }) => href === addressOf(first));
  location.replace(isGuide ? addressOf(first, rest && `#${rest}`) : addressOf('reference', location.hash));
}

function switchTheme() {
  const button = document.getElementById('theme');
  const isDark = () =>
    root.classList.contains('dark') ||
    (!root.classList.contains('light') && matchMedia('(prefers-color-scheme: dark)').matches);
  const show = () => button.setAttribute('aria-pressed', String(isDark()));
  button.addEventListener('click', () => {
    const theme = isDark() ? 'light' : 'dark';
    remember(THEME, theme);
    const ofRedoc = document.querySelector('[data-testid="color-mode-switcher"]');
    if (ofRedoc !== null) ofRedoc.click();
    root.classList.remove('light', 'dark');
    root.classList.add(theme);
    show();
  });
  show();
}

function addCopyButton(code) {
  if (navigator.clipboard === undefined) return;
  const button = document.createElement('button');
  button.className = 'copy';
  button.textContent = 'Copy';
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(code.querySelector('code').textContent);
    button.textContent = 'Copied';
    setTimeout(() => {
      button.textContent = 'Copy';
    }, 2000);
  });
  code.append(button);
}

const LANGUAGE = 'docs.language';
const LANGUAGES = ['Shell', 'curl', 'TypeScript', 'JavaScript', 'Python', 'Go', 'PHP'];

/** Returns groups of consecutive code blocks in different languages. */
function groupsOfSamples() {
  const groups = [];
  for (const code of document.querySelectorAll('.code')) {
    if (!LANGUAGES.includes(code.dataset.language)) continue;
    const group = groups.at(-1);
    if (group?.at(-1) === code.previousElementSibling) group.push(code);
    else groups.push([code]);
  }
  return groups.filter(
    (group) => new Set(group.map(({ dataset }) => dataset.language)).size === group.length && group.length > 1,
  );
}

/** Adds tabs, which show one language at a time. The choice of a language applies to all pages. */
function addTabs(group) {
  const tabs = document.createElement('div');
  tabs.className = 'tabs';
  const list = document.createElement('div');
  list.setAttribute('role', 'tablist');
  list.setAttribute('aria-label', 'Language');
  group[0].before(tabs);
  tabs.append(list, ...group);
  for (const panel of group) {
    const tab = document.createElement('button');
    tab.setAttribute('role', 'tab');
    tab.textContent = panel.dataset.language;
    tab.addEventListener('click', () => choose(panel.dataset.language));
    panel.setAttribute('role', 'tabpanel');
    panel.setAttribute('aria-label', panel.dataset.language);
    list.append(tab);
  }
  list.addEventListener('keydown', ({ key }) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[key];
    if (step === undefined) return;
    const at = group.findIndex(({ hidden }) => !hidden);
    choose(group.at((at + step) % group.length).dataset.language);
    list.querySelector('[aria-selected="true"]').focus();
  });
  const show = (language) => {
    const shown = group.find(({ dataset }) => dataset.language === language) ?? group.find(({ hidden }) => !hidden);
    for (const [i, panel] of group.entries()) {
      panel.hidden = panel !== shown;
      list.children[i].setAttribute('aria-selected', String(panel === shown));
      list.children[i].tabIndex = panel === shown ? 0 : -1;
    }
  };
  addEventListener('language', ({ detail }) => show(detail));
  show(findStored(LANGUAGE));
}

function choose(language) {
  remember(LANGUAGE, language);
  dispatchEvent(new CustomEvent('language', { detail: language }));
}

/** Scrolls the contents, but not the page, to the link of the current page. */
function showInContents(link) {
  const contents = link?.closest('#contents');
  if (contents) contents.scrollTop = link.offsetTop - contents.clientHeight / 2;
}

/** Opens "On this page" if there is space beside the text, and marks the section that is being read. */
function followReading(toc) {
  const wide = matchMedia('(width >= 80rem)');
  const unfold = () => {
    toc.open = wide.matches;
  };
  wide.addEventListener('change', unfold);
  unfold();
  const links = new Map(
    [...toc.querySelectorAll('a')].map((link) => [document.getElementById(link.hash.slice(1)), link]),
  );
  const mark = () => {
    const passed = [...links.keys()].filter((heading) => heading.getBoundingClientRect().top < 120);
    // At the end of the page, the section in the URL is marked, because the last sections may be too short to reach the top.
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const isAtEnd = innerHeight + scrollY >= root.scrollHeight - 2;
    const read = isAtEnd && links.has(target) ? target : passed.at(-1);
    for (const [heading, link] of links) {
      if (heading === read) link.setAttribute('aria-current', 'true');
      else link.removeAttribute('aria-current');
    }
  };
  addEventListener('scroll', mark, { passive: true });
  addEventListener('hashchange', mark);
  mark();
}

function openSearch() {
  const dialog = document.createElement('dialog');
  dialog.id = 'search';
  dialog.setAttribute('aria-label', 'Search');
  dialog.innerHTML =
    '<form method="dialog"><input enterkeyhint="search" aria-label="Search the documentation" autocomplete="off"><button>Close</button></form><p role="status"></p><ul></ul>';
  document.body.append(dialog);
  const [input, status, list] = dialog.querySelectorAll('input, p, ul');
  const update = () => {
    const query = input.value.trim();
    const found = query === '' ? [] : (globalThis.siteSearch?.find(query) ?? []);
    const isEmpty = globalThis.siteSearch !== undefined && query !== '' && found.length === 0;
    list.replaceChildren(...(isEmpty ? WITHOUT_RESULTS : found).map(resultOf));
    status.textContent =
      globalThis.siteSearch === undefined
        ? 'Loading'
        : query === ''
          ? 'Try a task, a field, a header, a status such as 422, or an operation.'
          : isEmpty
            ? 'No results. Try fewer or other words, or the name of a field or a status. Or begin here:'
            : `${found.length} result${found.length === 1 ? '' : 's'}`;
  };
  const open = () => {
    dialog.showModal();
    input.select();
    load().then(update, () => {
      status.textContent = 'The search could not be loaded. Close it and try again.';
    });
    update();
  };
  input.addEventListener('input', update);
  document.getElementById('find').addEventListener('click', open);
  // This listener runs before Redoc's, because Redoc's own search has the same keyboard shortcuts.
  addEventListener(
    'keydown',
    (event) => {
      const isTyping = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement?.tagName ?? '');
      const isShortcut =
        (event.key === '/' && !isTyping) || (event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey));
      if (!isShortcut || dialog.open) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      open();
    },
    { capture: true },
  );
  dialog.addEventListener('keydown', (event) => {
    const links = [...list.querySelectorAll('a')];
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === 'Enter' && document.activeElement === input) {
      event.preventDefault();
      // The reader may press Enter before the index has been loaded.
      load().then(() => {
        update();
        list.querySelector('a')?.click();
      });
    }
    if (step === undefined) return;
    event.preventDefault();
    const at = links.indexOf(document.activeElement) + step;
    (at < 0 ? input : (links[at] ?? links.at(-1)))?.focus();
  });
  list.addEventListener('click', () => dialog.close());
}

/** Where readers can look if the search finds nothing. */
const WITHOUT_RESULTS = [
  {
    kind: 'guide',
    title: 'Getting started',
    where: '',
    name: 'getting-started',
    anchor: '',
    text: 'The first calls, and where to go next.',
  },
  {
    kind: 'guide',
    title: 'Errors',
    where: '',
    name: 'errors',
    anchor: '',
    text: 'Every status: why it happens, and what to do.',
  },
  {
    kind: 'page',
    title: 'Everything on one page',
    where: '',
    name: 'all',
    anchor: '',
    text: "For your browser's own search.",
  },
];

function resultOf({ kind, title, where, name, anchor, text }) {
  const item = document.createElement('li');
  const link = document.createElement('a');
  link.href = addressOf(name, anchor);
  const [place, label, excerpt] = ['small', 'em', 'span'].map((tag) => document.createElement(tag));
  place.textContent = ` ${where} `;
  label.textContent = kind;
  [excerpt.textContent] = text.split('\n');
  link.append(title, place, label, excerpt);
  item.append(link);
  return item;
}

let loading;

/** Loads the search and its index when the reader first opens the search. */
function load() {
  loading ??= new Promise((resolve, reject) => {
    const script = document.createElement('script');
    script.src = new URL('../search.js', here.src);
    script.onload = resolve;
    script.onerror = () => {
      loading = undefined;
      reject(new Error(`${script.src} could not be loaded.`));
    };
    document.head.append(script);
  });
  return loading;
}
