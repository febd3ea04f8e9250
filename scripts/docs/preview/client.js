// Runs in the pages of the preview: reloads the page when its content has changed, and shows the problems of the contract and the
// guides.
const panel = document.createElement('section');
panel.id = 'problems';
panel.setAttribute('role', 'alert');
panel.hidden = true;
document.body.append(panel);
const style = new CSSStyleSheet();
style.replaceSync(
  '#problems { position: fixed; inset: auto 0 0; z-index: 99; max-height: 40vh; overflow: auto; padding: 0.75rem 1rem; background: #861610; color: #fff; font: 0.9375rem/1.5 system-ui; white-space: pre-wrap }',
);
document.adoptedStyleSheets.push(style);

const shown = new URL(import.meta.url).searchParams.get('shown') ?? '';
const events = new EventSource(`/events?${new URLSearchParams({ path: location.pathname, shown })}`);
events.addEventListener('reload', () => location.reload());
events.addEventListener('problems', ({ data }) => {
  panel.textContent = JSON.parse(data);
  panel.hidden = panel.textContent === '';
});
