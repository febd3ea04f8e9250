import { STATUS_CODES } from 'node:http';
import {
  firstExample,
  type Header,
  type Operation,
  type Parameter,
  type Response,
  type Webhook,
} from '../../../src/contract/document.ts';
import { type Html, html } from '../../../src/html/html.ts';
import { operationPlace } from '../places.ts';
import { samplesOf } from '../samples/languages.ts';
import { exampleList, fieldList, kind } from './schema.ts';
import { code, text, words } from './text.ts';

export function operationSection(operation: Operation): Html {
  const { method, path, summary, description, parameters = [], requestBody, responses } = operation;
  const place = operationPlace(operation);
  return html`<section class="operation">
<h3 id="${place}">${summary}</h3>
<p class="address"><span class="method ${method}">${method.toUpperCase()}</span> <code>${path}</code></p>
${text(description, 4)}
<p>${permission(operation)}</p>
${(['path', 'query', 'header'] as const).map((location) => parameterList(location, parameters))}
${bodySection(requestBody)}
<h4>Code samples</h4>
<div class="samples">${samplesOf(operation).map(({ label, source }) => html`<figure><figcaption>${label}</figcaption>${code(source)}</figure>`)}</div>
<h4>Responses</h4>
${Object.entries(responses).map(([status, response]) => responseSection(status, response))}
</section>`;
}

/** A request that the server sends: there are no samples, because clients do not send it. */
export function webhookSection(webhook: Webhook): Html {
  const { name, method, summary, description, parameters = [], requestBody, responses } = webhook;
  return html`<section class="operation">
<h3 id="${operationPlace(webhook)}">${summary}</h3>
<p class="address"><span class="method ${method}">${method.toUpperCase()}</span> <code>${name}</code> <span class="kind">to your endpoint</span></p>
${text(description, 4)}
${parameterList('header', parameters)}
${bodySection(requestBody)}
<h4>Your response</h4>
${inOrder(responses).map(([status, response]) => responseSection(status, response))}
</section>`;
}

/** JavaScript puts the name "410" before "2XX". */
function inOrder(responses: Webhook['responses']): [string, Response][] {
  return Object.entries(responses).toSorted(([a], [b]) => (a < b ? -1 : 1));
}

function bodySection(requestBody: Operation['requestBody']): Html | null {
  const body = requestBody?.content['application/json'];
  if (requestBody === undefined || body === undefined) return null;
  return html`<h4>Request body</h4>${text(requestBody.description, 5)}<p class="kind">${Object.keys(requestBody.content).join(' or ')}: ${kind(body.schema)}</p>${exampleList(body.examples, { open: true })}`;
}

const LOCATIONS = { path: 'Path parameters', query: 'Query parameters', header: 'Request headers' } as const;

function parameterList(location: Parameter['in'], parameters: readonly Parameter[]): Html | null {
  const here = parameters.filter((parameter) => parameter.in === location);
  if (here.length === 0) return null;
  const fields = here.map(({ name, schema, description, required, examples }) => {
    return { name, schema, description, isRequired: required, example: firstExample(examples) };
  });
  return html`<h4>${LOCATIONS[location]}</h4>${fieldList(fields)}`;
}

function permission({ security }: Operation): Html {
  const [needed] = security.flatMap((scheme) => Object.values(scheme)).flat();
  if (needed === undefined) return html`Requires any valid API key.`;
  return html`Requires the permission <code>${needed}</code>.`;
}

function responseSection(status: string, { description, headers = {}, content = {} }: Response): Html {
  const body = content['application/json'];
  return html`<section class="response">
<h5><code>${status}</code> ${STATUS_CODES[Number(status)] ?? ''}</h5>
${text(description, 6)}
${Object.keys(headers).length > 0 && html`<p class="kind">Response headers: ${Object.entries(headers).map(([name, header], i) => html`${i > 0 && ', '}<a href="#${headerPlace(name)}"><code>${header.schema.const === undefined ? name : `${name}: ${String(header.schema.const)}`}</code></a>`)}</p>`}
${body === undefined ? html`<p class="kind">No body</p>` : html`<p class="kind">Body: ${kind(body.schema)}</p>${exampleList(body.examples, { open: status.startsWith('2') })}`}
</section>`;
}

function headerPlace(name: string): string {
  return `/headers/${name.toLowerCase()}`;
}

/** Every response header, with each of its descriptions once. */
export function headerSections(operations: readonly Operation[]): Html[] {
  const sections = new Map<string, Map<string, Header>>();
  for (const { responses } of operations) {
    for (const { headers = {} } of Object.values(responses)) {
      for (const [name, header] of Object.entries(headers)) {
        sections.set(name, (sections.get(name) ?? new Map()).set(header.description, header));
      }
    }
  }
  return [...sections].map(
    ([name, descriptions]) =>
      html`<section><h3 id="${headerPlace(name)}"><code>${name}</code></h3>${[...descriptions.values()].map(
        ({ description, schema, examples }) =>
          html`<p>${words(description)}</p><p class="kind">${kind(schema)}. Example: <code>${String(firstExample(examples))}</code></p>`,
      )}</section>`,
  );
}
