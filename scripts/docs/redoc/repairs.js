// Adds what Redoc's markup lacks for screen readers and keyboards, as soon as an element appears.
const REPAIRS = [
  ['.menu-content', landmark],
  ['[data-testid="search-trigger"]', pressable],
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

function pressable(trigger) {
  trigger.setAttribute('role', 'button');
  trigger.tabIndex = 0;
  trigger.onkeydown = (event) => ['Enter', ' '].includes(event.key) && trigger.click();
}

repair(document.body);
new MutationObserver((changes) => {
  for (const { addedNodes } of changes) for (const node of addedNodes) if (node instanceof Element) repair(node);
}).observe(document.body, { childList: true, subtree: true });
