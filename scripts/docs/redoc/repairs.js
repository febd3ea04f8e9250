// Adds what Redoc's markup lacks for screen readers and keyboards, as soon as an element appears.
const REPAIRS = [
  ['.menu-content', landmark],
  ['[data-testid="search-trigger"]', pressable],
  ['[data-testid="search-dialog"]', dialog],
  ['[data-testid="search-dialog"] input', named('Search the documentation')],
  ['[data-testid="search-dialog"] header button', clearing],
  // Scrollable regions must be focusable (axe: scrollable-region-focusable).
  ['pre, [data-component-name="Table/Table"]', (region) => region.setAttribute('tabindex', '0')],
  // The accessible name must contain the visible text (WCAG 2.5.3).
  ['button[aria-label][aria-haspopup]', (button) => button.removeAttribute('aria-label')],
  // Redoc shows only a part of the page at a time. Below the page's title no level is skipped, and a guide's sections are
  // below the guide.
  ['#redoc h1', levelled(2)],
  ['[data-item-kind="markdown"] h2, [data-item-kind="httpItem"] h4', levelled(3)],
  ['[data-item-kind="markdown"] h3, [data-item-kind="httpItem"] h5', levelled(4)],
];

function repair(root) {
  for (const [selector, fix] of REPAIRS) {
    if (root.matches(selector)) fix(root);
    for (const element of root.querySelectorAll(selector)) fix(element);
  }
}

function levelled(level) {
  return (heading) => heading.setAttribute('aria-level', level);
}

function landmark(menu) {
  menu.setAttribute('role', 'navigation');
  menu.setAttribute('aria-label', 'Contents');
}

function named(name) {
  return (element) => element.setAttribute('aria-label', name);
}

function clearing(button) {
  button.setAttribute('aria-label', 'Clear the search');
  button.tabIndex = 0;
}

function pressable(trigger) {
  trigger.setAttribute('role', 'button');
  trigger.tabIndex = 0;
  // A handler that returns false would cancel every key, and so Tab could not leave the element (WCAG 2.1.2).
  trigger.onkeydown = (event) => {
    if (event.key !== 'Enter' && event.key !== ' ') return;
    event.preventDefault();
    trigger.click();
  };
}

/** Nothing behind an open dialog can have the focus. After it, the focus returns to where it was. */
function dialog(element) {
  element.setAttribute('role', 'dialog');
  element.setAttribute('aria-modal', 'true');
  element.setAttribute('aria-label', 'Search');
  setBehindInert(element, true);
}

function afterDialog(element) {
  setBehindInert(element, false);
  document.querySelector('[data-testid="search-trigger"]')?.focus();
}

function setBehindInert(element, isInert) {
  for (const other of document.body.children) if (other !== element) other.inert = isInert;
}

/** The menu ends where the window ends, also while the page's header is above it. */
function fitMenu() {
  const { bottom } = document.querySelector('.published').getBoundingClientRect();
  document.documentElement.style.setProperty('--header-in-view', `${Math.max(0, bottom)}px`);
}

addEventListener('scroll', fitMenu, { passive: true });
addEventListener('resize', fitMenu);
fitMenu();

repair(document.body);
new MutationObserver((changes) => {
  for (const { addedNodes, removedNodes } of changes) {
    for (const node of addedNodes) if (node instanceof Element) repair(node);
    for (const node of removedNodes) if (node instanceof Element && node.matches('[role="dialog"]')) afterDialog(node);
  }
}).observe(document.body, { childList: true, subtree: true });
