// The form that sends the request of an operation, on the operation's page. The script assets/try-it.js reads its attributes.
import type { Operation, Schema } from '../../src/contract/document.ts';
import { type Html, html } from '../../src/html/html.ts';
import type { Site } from './frame.ts';
import { jsonText } from './guides.ts';
import { type Field, parametersOf } from './parts.ts';
import { requestOf, type SampleRequest } from './samples/request.ts';
import { text } from './text.ts';

export function tryItSection(operation: Operation, { isServed, address }: Site): Html {
  if (!isServed) return withoutServer(address);
  const request = requestOf(operation);
  const { method, template, body, hasResponseBody, isPaged } = request;
  const isWrite = method !== 'GET';
  // In the page, the field for the key has no name and no value, so that neither the browser nor a password manager stores the
  // key.
  return html`<noscript><p>The form needs JavaScript. The code samples below do not.</p></noscript>
<form id="try-it" class="scripted" autocomplete="off" data-method="${method}" data-template="${template}"${hasResponseBody && html` data-has-response-body`}${isPaged && html` data-is-paged`}>
<p><label for="try-key">API key</label><input id="try-key" class="secret" required autocomplete="off" autocapitalize="off" spellcheck="false" data-1p-ignore data-lpignore="true" aria-describedby="try-key-note"><small id="try-key-note">Stays in the memory of this page until you leave it.</small></p>
${parametersOf(operation).map((parameter) => control(parameter, request))}
${body !== undefined && html`<p><label for="try-body">Request body</label><textarea id="try-body" rows="${Math.min(16, jsonText(body).split('\n').length + 1)}" spellcheck="false" aria-describedby="try-problem">${jsonText(body)}</textarea></p>`}
<p id="try-problem" role="alert"></p>
${isWrite && html`<p id="try-writes"><strong>This request writes:</strong> it ${method === 'DELETE' ? 'deletes' : 'changes'} data of the organization that the key belongs to.</p>`}
<p><button${isWrite && html` aria-describedby="try-writes"`}>${isWrite ? 'Send and write' : 'Send'}</button></p>
<div id="try-response" role="status"></div>
</form>`;
}

/**
 * Returns the content for a page that no API server serves. Such a page cannot send requests, because the Content-Security-Policy
 * allows only its own origin.
 */
function withoutServer(address: string): Html {
  return text(`Only the pages of a server can send requests, and this page is not one of them. Start the [mock](mock-server.html), which needs no server and no data:

\`\`\`sh
npx ${address}/charter-mock.tgz
\`\`\`

Set \`CHARTER_URL\` and \`CHARTER_API_KEY\` to the address and the key that it prints. The code samples below then run unchanged.`);
}

/**
 * Returns an input. A required or recommended parameter has a value. Any other parameter shows only an example, which is not
 * sent.
 */
function control({ anchor, label, schema, isRequired, example }: Field, request: SampleRequest): Html {
  const [location = ''] = anchor.split('-', 1);
  const id = `try-${anchor}`;
  const header = request.headers.find(({ name }) => name === label);
  const value = request.path[label] ?? request.query[label] ?? header?.value;
  const type = [schema.type].flat()[0];
  const attributes = html` id="${id}" data-in="${location}" data-name="${label}"${type !== 'string' && html` data-type="${type}"`}${isRequired && html` required`}`;
  const filled = header?.isFresh === true ? html` data-is-fresh` : html` value="${String(value ?? '')}"`;
  return html`<p><label for="${id}">${label}</label>${
    schema.enum === undefined
      ? html`<input${attributes}${filled}${value === undefined && html` placeholder="${String(example ?? '')}"`} spellcheck="false">`
      : html`<select${attributes}>${choicesOf(schema, isRequired).map((choice) => html`<option${choice === value && html` selected`}>${choice}</option>`)}</select>`
  }</p>`;
}

function choicesOf({ enum: choices = [] }: Schema, isRequired: boolean): string[] {
  return [...(isRequired ? [] : ['']), ...choices.map(String)];
}
