// Runs in the preview: shows what was saved, and the problems of the contract and the guides.
const events = new EventSource('/events');
const panel = document.createElement('section');
panel.setAttribute('role', 'alert');
panel.style.cssText =
  'position:fixed;inset:auto 0 0;z-index:99;max-height:40vh;overflow:auto;margin:0;padding:0.75rem 1rem;background:#861610;color:#fff;font:0.9375rem/1.5 system-ui;white-space:pre-wrap';
panel.hidden = true;
document.body.append(panel);

let shown = document.documentElement.dataset.version;
let rendering = Promise.resolve();

events.addEventListener('version', ({ data }) => {
  if (data === shown) return;
  shown = data;
  // Loading Redoc again takes several times as long as rendering another document with it.
  if (globalThis.redoc === undefined) location.reload();
  else rendering = rendering.then(renderAgain).catch(() => location.reload());
});
events.addEventListener('problems', ({ data }) => {
  panel.textContent = JSON.parse(data);
  panel.hidden = panel.textContent === '';
});

async function renderAgain() {
  const response = await fetch('/document.json');
  const { root, render } = globalThis.redoc;
  const element = document.createElement('div');
  element.id = 'redoc';
  const isRendered = new Promise((resolve) => new MutationObserver(resolve).observe(element, { childList: true }));
  globalThis.redoc.root = render(await response.json(), element);
  await isRendered;
  const { scrollX, scrollY } = globalThis;
  document.getElementById('redoc').replaceWith(element);
  globalThis.scrollTo(scrollX, scrollY);
  root.unmount();
}
