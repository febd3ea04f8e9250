import { raw } from 'hono/html';
import type { Operation } from '../../src/contract/document.ts';
import { formatCount } from '../../src/domain/text.ts';
import { type Html, html } from '../../src/html/html.ts';
import { LOGO } from '../../src/html/icons.ts';
import type { Assets } from './assets.ts';
import { examplesOf, statusesOf } from './declared-responses.ts';
import { ALL_OPERATIONS, type Override } from './overrides.ts';
import type { MockRequest } from './package/types.ts';
import { MAX_DELAY_MS } from './prefer.ts';

export type PageOptions = {
  readonly assets: Pick<Assets, 'style' | 'icon'>;
  readonly operations: readonly Operation[];
  readonly isStateful: boolean;
  /** Whether the initial data comes from the mock's user instead of the contract's examples. */
  readonly isSeeded: boolean;
};

type Shown = { readonly overrides: readonly Override[]; readonly requests: readonly MockRequest[] };

const SHOWN_REQUESTS = 50;

/**
 * Returns a function that renders the control page, on which people force responses and see requests. The page has no scripts,
 * and loads nothing from other hosts.
 */
export function createControlPage(options: PageOptions): (shown: Shown) => string {
  const { assets, operations, isStateful, isSeeded } = options;
  const choices = responseChoices(operations);
  return ({ overrides, requests }) =>
    html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Charter mock</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="${assets.icon}" type="image/svg+xml">
<style>${raw(assets.style)}</style>
</head>
<body>
<header class="head"><span class="brand">${LOGO}Charter</span><a href="/openapi.json">openapi.json</a></header>
<main>
<h1>Mock of the API</h1>
${requestsSection(requests)}
<section aria-labelledby="active">
<h2 id="active">Forced responses</h2>
<p>The mock sends these in place of its usual responses, unless a request chooses its response by <code>Prefer</code>.
${isStateful ? 'Other requests read and change the data that the mock keeps.' : 'The mock keeps no data; start it with --stateful if it should.'}</p>
${overrides.length === 0 ? html`<p class="none">None. Every request gets its usual response.</p>` : overrideList(overrides)}
</section>
<section aria-labelledby="new">
<h2 id="new">Force a response</h2>
<form method="post" action="/__mock/overrides">
<p><label for="response">Response</label><select id="response" name="response" required>${choices}</select></p>
<div class="row">
<p><label for="times">Number of requests</label><input id="times" name="times" type="number" min="1" max="10000" value="1" aria-describedby="times-hint"><span class="hint" id="times-hint">Empty: until cleared</span></p>
<p><label for="delay">Delay in milliseconds</label><input id="delay" name="delay_ms" type="number" min="0" max="${MAX_DELAY_MS}" value="0"></p>
</div>
<details>
<summary>A body of your own</summary>
<p><label for="body">Body in JSON</label><textarea id="body" name="body" rows="6" spellcheck="false" aria-describedby="body-hint"></textarea><span class="hint" id="body-hint">In place of the body of the example</span></p>
<p class="check"><input id="invalid" name="allowInvalid" type="checkbox"><label for="invalid">Send it although the contract forbids it</label></p>
</details>
<button>Force the response</button>
</form>
</section>
${isStateful && dataSection(isSeeded)}
</main>
</body>
</html>
`.toString();
}

function requestsSection(requests: readonly MockRequest[]): Html {
  const latest = requests.slice(-SHOWN_REQUESTS).reverse();
  const more =
    requests.length > latest.length &&
    html`<p class="hint">The latest ${SHOWN_REQUESTS} of ${requests.length}. All: <a href="/__mock/requests">/__mock/requests</a></p>`;
  return html`<section aria-labelledby="requests">
<h2 id="requests">Requests</h2>
${latest.length === 0 ? html`<p class="none">None. <a href="/__mock">Reload</a> after your app has sent some.</p>` : html`<ol class="requests">${latest.map(requestItem)}</ol>${more}<p class="again"><a href="/__mock">Reload</a></p>`}
</section>`;
}

function requestItem({ at, method, path, query, headers, body, status, problems }: MockRequest): Html {
  const details = { query, headers, body };
  const isFine = problems.length === 0 && status < 400;
  return html`<li class="${isFine ? 'fine' : 'wrong'}">
<details>
<summary><code>${status}</code> <strong>${method}</strong> <span class="path">${path}</span> <time datetime="${at}">${at.slice(11, 19)}</time></summary>
<pre>${JSON.stringify(details, null, 2)}</pre>
</details>
${problems.length > 0 && html`<ul class="problems">${problems.map((problem) => html`<li>${problem}</li>`)}</ul>`}
</li>`;
}

function overrideList(overrides: readonly Override[]): Html {
  return html`<ul class="active">${overrides.map(overrideItem)}</ul>
<form method="post" action="/__mock/clear"><button class="second">Clear all</button></form>`;
}

function overrideItem(override: Override): Html {
  const { id, operation, status, example, disconnect, match, delay_ms: delay, left } = override;
  const name = operation === ALL_OPERATIONS ? 'Every operation' : operation;
  const named = [status, example].filter((part) => part !== null).join(' ') || 'usual response';
  const response = disconnect === undefined ? named : `disconnect ${disconnect} handling`;
  const count = left === null ? 'until cleared' : formatCount(left, 'more request');
  return html`<li><span><strong>${name}</strong> <code>${response}</code>${('body' in override || 'createBody' in override) && ' with a body of your own'}${delay > 0 && html` after ${delay} ms`}, ${count}${match !== undefined && html`, for <code>${JSON.stringify(match)}</code>`}</span>
<form method="post" action="/__mock/clear"><input type="hidden" name="id" value="${id}"><button class="second" aria-label="Clear ${name} ${response}">Clear</button></form></li>`;
}

function responseChoices(operations: readonly Operation[]): readonly Html[] {
  const shared = [...new Set(operations.flatMap(statusesOf))]
    .filter((status) => status >= 400 && operations.every((operation) => statusesOf(operation).includes(status)))
    .sort((a, b) => a - b);
  return [
    html`<optgroup label="Every operation">${shared.map((status) => choice(ALL_OPERATIONS, status))}</optgroup>`,
    ...operations.map((operation) => {
      const choices = statusesOf(operation).flatMap((status) => {
        const examples = examplesOf(operation, status);
        return examples.length === 0
          ? [choice(operation.operationId, status)]
          : examples.map(([name]) => choice(operation.operationId, status, name));
      });
      return html`<optgroup label="${operation.operationId}">${choices}</optgroup>`;
    }),
  ];
}

function choice(operation: string, status: number, example = ''): Html {
  const text = `${status} ${example}`.trim();
  const name = operation === ALL_OPERATIONS ? 'Every operation' : operation;
  return html`<option value="${`${operation} ${text}`}">${name}: ${text}</option>`;
}

function dataSection(isSeeded: boolean): Html {
  return html`<section aria-labelledby="data">
<h2 id="data">Data</h2>
<div class="row">
<form method="post" action="/__mock/reset"><button class="second">Begin again with ${isSeeded ? 'the data of the start' : 'the examples'}</button></form>
<form method="post" action="/__mock/reset"><input type="hidden" name="empty" value="true"><button class="second">Begin again with nothing</button></form>
</div>
</section>`;
}
