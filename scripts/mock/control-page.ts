import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { raw } from 'hono/html';
import type { Operation } from '../../src/contract/document.ts';
import { formatCount } from '../../src/domain/format.ts';
import { type Html, html } from '../../src/html/html.ts';
import { LOGO } from '../../src/html/icons.ts';
import { readIcon, readSharedStyle } from '../docs/style.ts';
import { root } from '../tool.ts';
import { examplesOf, statusesOf } from './declared-responses.ts';
import { ALL_OPERATIONS, type Override } from './overrides.ts';
import { MAX_DELAY_MS } from './preferences.ts';

export type PageOptions = { readonly operations: readonly Operation[]; readonly isStateful: boolean };

/** The page that forces responses: without a script, and without requests to other hosts. */
export async function readControlPage({
  operations,
  isStateful,
}: PageOptions): Promise<(overrides: readonly Override[]) => string> {
  const [shared, own, icon] = await Promise.all([
    readSharedStyle(root),
    readFile(join(import.meta.dirname, 'control-page.css'), 'utf8'),
    readIcon(root),
  ]);
  const choices = responseChoices(operations);
  return (overrides) =>
    html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Charter mock</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="${icon}" type="image/svg+xml">
<style>${raw(shared)}${raw(own)}</style>
</head>
<body>
<header class="head"><span class="brand">${LOGO}Charter</span><a href="/openapi.json">openapi.json</a></header>
<main>
<h1>Force responses of the mock</h1>
<p>The mock sends these in place of its usual responses, unless a request chooses its response by <code>Prefer</code>.
${isStateful ? 'Other requests read and change the data that the mock keeps.' : 'The mock keeps no data; start it with --stateful if it should.'}</p>
<section aria-labelledby="active">
<h2 id="active">Active</h2>
${overrides.length === 0 ? html`<p class="none">None. Every request gets its usual response.</p>` : activeOverrides(overrides)}
</section>
<section aria-labelledby="new">
<h2 id="new">Add</h2>
<form method="post" action="/__mock/overrides">
<p><label for="response">Response</label><select id="response" name="response" required>${choices}</select></p>
<div class="row">
<p><label for="times">Number of requests</label><input id="times" name="times" type="number" min="1" max="10000" value="1" aria-describedby="times-hint"><span class="hint" id="times-hint">Empty: until cleared</span></p>
<p><label for="delay">Delay in milliseconds</label><input id="delay" name="delay_ms" type="number" min="0" max="${MAX_DELAY_MS}" value="0"></p>
</div>
<button>Force the response</button>
</form>
</section>
${isStateful && dataSection()}
</main>
</body>
</html>
`.toString();
}

function activeOverrides(overrides: readonly Override[]): Html {
  return html`<ul class="active">${overrides.map(activeOverride)}</ul>
<form method="post" action="/__mock/clear"><button class="second">Clear all</button></form>`;
}

function activeOverride({ id, operation, status, example, delay_ms: delay, left }: Override): Html {
  const name = operation === ALL_OPERATIONS ? 'Every operation' : operation;
  const response = [status, example].filter((part) => part !== null).join(' ') || 'usual response';
  const count = left === null ? 'until cleared' : formatCount(left, 'more request');
  return html`<li><span><strong>${name}</strong> <code>${response}</code>${delay > 0 && html` after ${delay} ms`}, ${count}</span>
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

function dataSection(): Html {
  return html`<section aria-labelledby="data">
<h2 id="data">Data</h2>
<div class="row">
<form method="post" action="/__mock/reset"><button class="second">Begin again with the examples</button></form>
<form method="post" action="/__mock/reset"><input type="hidden" name="empty" value="true"><button class="second">Begin again with nothing</button></form>
</div>
</section>`;
}
