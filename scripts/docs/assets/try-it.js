// Runs on pages of operations that an API server serves. Sends the request in the form to that server, and shows the request in
// the code samples. The key is never stored, and is sent only in the Authorization header.
import { LANGUAGES } from '../samples/languages.ts';
import { targetOf } from '../samples/request.ts';

const form = document.getElementById('try-it');
const [key, body, problem, shown] = ['try-key', 'try-body', 'try-problem', 'try-response'].map((id) =>
  document.getElementById(id),
);
const controls = [...form.querySelectorAll('[data-in]')];
const fresh = controls.filter(({ dataset }) => dataset.isFresh !== undefined);
let isSending = false;

form.addEventListener('input', showSamples);
form.addEventListener('submit', (event) => {
  event.preventDefault();
  if (!isSending) send();
});
// Removes the key when the page is left, because the browser may keep the page for the back button.
addEventListener('pagehide', () => {
  key.value = '';
});
renew();

/**
 * Gives headers such as Idempotency-Key a new value. The value is empty on pages without HTTPS, because browsers then have no
 * randomUUID.
 */
function renew() {
  for (const each of fresh) each.value = crypto.randomUUID?.() ?? '';
}

/** Returns the request in the form, as the code samples need it. Leaves out empty parameters. */
function requestOf() {
  const { method, template, hasResponseBody, isPaged } = form.dataset;
  const filled = controls.filter(({ value }) => value !== '');
  const valuesIn = (location) =>
    Object.fromEntries(
      filled.filter(({ dataset }) => dataset.in === location).map((each) => [each.dataset.name, literalOf(each)]),
    );
  return {
    method,
    template,
    path: valuesIn('path'),
    query: valuesIn('query'),
    headers: filled
      .filter(({ dataset }) => dataset.in === 'header')
      .map(({ dataset, value }) => ({ name: dataset.name, value, isFresh: dataset.isFresh !== undefined })),
    hasResponseBody: hasResponseBody !== undefined,
    isPaged: isPaged !== undefined,
  };
}

function literalOf({ value, dataset: { type } }) {
  return type === 'integer' && /^-?\d+$/.test(value) ? Number(value) : value;
}

/** Shows the request in every language, with a variable in place of the key. */
function showSamples() {
  const request = requestOf();
  problem.textContent = '';
  try {
    if (body !== null) request.body = JSON.parse(body.value);
  } catch (error) {
    problem.textContent = `The body is not JSON, and is sent as it is. ${error.message}`;
    return;
  }
  for (const { label, write } of LANGUAGES) {
    const code = document.querySelector(`#try-samples [data-language="${label}"] code`);
    if (code !== null) code.textContent = write(request);
  }
}

async function send() {
  const request = requestOf();
  isSending = true;
  shown.replaceChildren(paragraph('Sending'));
  const startedAt = performance.now();
  try {
    const response = await fetch(targetOf(request), {
      method: request.method,
      headers: {
        ...Object.fromEntries(request.headers.map(({ name, value }) => [name, value])),
        ...(body !== null && { 'Content-Type': 'application/json' }),
        Authorization: `Bearer ${key.value.trim()}`,
      },
      ...(body !== null && { body: body.value }),
      // Only the key authenticates the request. The dashboard's session cookie must not be sent.
      credentials: 'omit',
      cache: 'no-store',
      redirect: 'error',
      referrerPolicy: 'no-referrer',
    });
    const text = await response.text();
    showResponse(response, text, performance.now() - startedAt);
    if (response.ok) renew();
  } catch {
    // The browser's own message is not shown, because it could contain a header with the key.
    shown.replaceChildren(
      paragraph(
        'No response. The server cannot be reached, or the key or a header has characters that cannot be sent.',
      ),
    );
  } finally {
    isSending = false;
  }
}

function showResponse({ status, statusText, headers }, text, milliseconds) {
  const summary = paragraph(`${status} ${statusText}`.trim());
  summary.className = status < 400 ? 'accepted' : 'refused';
  const time = document.createElement('small');
  time.textContent = ` in ${Math.round(milliseconds)} ms`;
  summary.append(time);
  const lines = [...headers].map(([name, value]) => `${name}: ${value}`).join('\n');
  shown.replaceChildren(summary, block('Headers', lines), block('Body', text === '' ? 'No body' : indented(text)));
}

function indented(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

function paragraph(text) {
  const element = document.createElement('p');
  element.textContent = text;
  return element;
}

/** Returns a block with its own scroll bar. It can be focused, so that it can be scrolled with the keyboard. */
function block(title, text) {
  const figure = document.createElement('figure');
  figure.className = 'code';
  const caption = document.createElement('figcaption');
  caption.textContent = title;
  const pre = document.createElement('pre');
  pre.tabIndex = 0;
  const code = document.createElement('code');
  code.textContent = text;
  pre.append(code);
  figure.append(caption, pre);
  return figure;
}
