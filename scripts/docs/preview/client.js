// Runs in the preview: reloads the page when there is a newer one, and shows the problems of the contract and the guides.
const events = new EventSource('/events');
const panel = document.createElement('section');
panel.setAttribute('role', 'alert');
panel.style.cssText =
  'position:fixed;inset:auto 0 0;z-index:99;max-height:40vh;overflow:auto;margin:0;padding:0.75rem 1rem;background:#861610;color:#fff;font:0.9375rem/1.5 system-ui;white-space:pre-wrap';
panel.hidden = true;
document.body.append(panel);

events.addEventListener('version', ({ data }) => {
  if (data !== document.documentElement.dataset.version) location.reload();
});
events.addEventListener('problems', ({ data }) => {
  panel.textContent = JSON.parse(data);
  panel.hidden = panel.textContent === '';
});
