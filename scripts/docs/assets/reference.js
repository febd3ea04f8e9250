// Shows the contract with Redoc in place of the list of operations. Adds what screen readers need to Redoc's markup.
const own = document.querySelector('script[data-redoc]');
const element = document.getElementById('redoc');

// Redoc would load its maker's logo from another host.
const { prototype } = HTMLImageElement;
const { set: setSource, ...source } = Object.getOwnPropertyDescriptor(prototype, 'src');
const isForeign = (url) => !/^(data|blob):/.test(url) && new URL(url, location.href).origin !== location.origin;
Object.defineProperty(prototype, 'src', {
  ...source,
  set(url) {
    if (!isForeign(url)) setSource.call(this, url);
  },
});
prototype.setAttribute = function setAttribute(name, value) {
  if (name !== 'src' || !isForeign(value)) Element.prototype.setAttribute.call(this, name, value);
};

const REPAIRS = [
  ['.menu-content', (menu) => describe(menu, 'navigation', 'Operations')],
  ['#redoc main', (main) => Object.assign(main, { id: 'main', tabIndex: -1 })],
  // Scrollable regions must be focusable (axe rule "scrollable-region-focusable").
  ['pre, [data-component-name="Table/Table"]', (region) => region.setAttribute('tabindex', '0')],
  // The accessible name must contain the visible text (WCAG 2.2, success criterion 2.5.3).
  ['button[aria-label][aria-haspopup]', (button) => button.removeAttribute('aria-label')],
  // Redoc shows one part of the page at a time. These levels follow directly after the level of the page's title.
  ['#redoc h1', (heading) => heading.setAttribute('aria-level', '2')],
  ['[data-item-kind="httpItem"] h4', (heading) => heading.setAttribute('aria-level', '3')],
  ['[data-item-kind="httpItem"] h5', (heading) => heading.setAttribute('aria-level', '4')],
];

function describe(landmark, role, name) {
  landmark.setAttribute('role', role);
  landmark.setAttribute('aria-label', name);
}

function repair(part) {
  for (const [selector, fix] of REPAIRS) {
    if (part.matches(selector)) fix(part);
    for (const found of part.querySelectorAll(selector)) fix(found);
  }
}

new MutationObserver((changes) => {
  for (const { addedNodes } of changes) for (const node of addedNodes) if (node instanceof Element) repair(node);
}).observe(document.body, { childList: true, subtree: true });

// Redoc would interpret "#main" as the address of an operation.
document.querySelector('.skip').addEventListener('click', (event) => {
  event.preventDefault();
  element.querySelector('main').focus();
});
// On a phone, a button in the header opens Redoc's menu, because Redoc's own button would cover the text.
document
  .querySelector('.menu')
  .addEventListener('click', () => document.querySelector('[data-testid="floating-button"]')?.click());

const { init } = await import(new URL(own.dataset.redoc, document.baseURI));
init(
  JSON.parse(document.getElementById('document').textContent),
  {
    disableTelemetry: true,
    hideDownloadButtons: true,
    hideLoading: true,
    hideSchemaTitles: true,
    jsonSamplesExpandLevel: 'all',
    scrollYOffset: '.head',
    sortRequiredPropsFirst: true,
    // Redoc shows only these languages. "Payload" is the body of the request.
    codeSamples: { languages: [...own.dataset.languages.split(','), 'Payload'].map((lang) => ({ lang })) },
  },
  element,
);
