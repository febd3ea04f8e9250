// Runs in the pages of the preview. Reloads the page when its content has changed. Shows the problems of the contract and the
// guides, or that there are no problems.
const panel = append('section', 'problems', 'alert');
const success = append('p', 'no-problems', 'status');
success.textContent = 'No problems.';
const style = new CSSStyleSheet();
style.replaceSync(`
  #problems, #no-problems { position: fixed; z-index: 99; color: #fff; font: 0.9375rem/1.5 system-ui }
  #problems { inset: auto 0 0; max-height: 40vh; overflow: auto; padding: 0.75rem 1rem; background: #861610; white-space: pre-wrap }
  #no-problems { right: 1rem; bottom: 1rem; margin: 0; padding: 0.25rem 0.75rem; border-radius: 1rem; background: #14632f }
`);
document.adoptedStyleSheets.push(style);

function append(tag, id, role) {
  const element = document.body.appendChild(document.createElement(tag));
  Object.assign(element, { id, role, hidden: true });
  return element;
}

const shown = new URL(import.meta.url).searchParams.get('shown') ?? '';
const events = new EventSource(`/events?${new URLSearchParams({ path: location.pathname, shown })}`);
events.addEventListener('reload', () => location.reload());
events.addEventListener('findings', ({ data }) => {
  const { problems, complete } = JSON.parse(data);
  panel.textContent = problems;
  panel.hidden = problems === '';
  success.hidden = problems !== '' || !complete;
});
