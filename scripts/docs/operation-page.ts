// The page of an operation or a webhook. The page has the frame of a guide, and works without a script.
import type { Operation, Response, Schema, Webhook } from '../../src/contract/document.ts';
import { type Html, html } from '../../src/html/html.ts';
import { contentsOf, renderPage, type Site } from './frame.ts';
import { type Guide, jsonText } from './guides.ts';
import {
  bodyFieldsOf,
  type ExamplePart,
  examplesOf,
  type Field,
  parametersOf,
  responseFieldsOf,
  responseHeadersOf,
  sharedStatusesOf,
  statusesOf,
  statusPartOf,
  successOf,
} from './parts.ts';
import { operationName, schemaPlace } from './places.ts';
import { kind, LOCATIONS, permission } from './reference.ts';
import { samplesOf } from './samples/languages.ts';
import { plain, text, words } from './text.ts';
import { tryItSection } from './try-it.ts';

type Section = { readonly id: string; readonly title: string; readonly content: Html };

export function operationPage(site: Site, operation: Operation | Webhook): string {
  const { summary, description, method } = operation;
  const name = operationName(operation);
  const isWebhook = !('path' in operation);
  const sections = sectionsOf(site, operation);
  const content = html`<div class="frame">
${contentsOf(site, name)}
<main id="main" tabindex="-1">
<h1>${words(summary)}</h1>
<details class="toc"><summary>On this page</summary><ul>${sections.map(
    ({ id, title }) => html`<li><a href="#${id}">${title}</a></li>`,
  )}</ul></details>
<div><p class="call"><code>${method.toUpperCase()} ${isWebhook ? operation.name : operation.path}</code>${isWebhook && ' to your endpoint'}</p>
${text(description)}
${!isWebhook && html`<p>${words(permission(operation))}</p>`}
${sections.map(({ id, title, content: shown }) => html`<h2 id="${id}"><a class="anchor" href="#${id}">${title}</a></h2>${shown}`)}
<footer><a href="${name}.md">This page as Markdown</a></footer></div>
</main>
</div>`;
  return renderPage(site, {
    name,
    title: plain(summary),
    description: firstSentenceOf(plain(description)),
    markdown: `${name}.md`,
    content,
    head: html`<link rel="stylesheet" href="${site.assets.get('operation.css')}">
${
  site.isServed &&
  !isWebhook &&
  html`<script type="module" src="${site.assets.get('try-it.js')}"></script>
`
}`,
  });
}

function sectionsOf(site: Site, operation: Operation | Webhook): Section[] {
  const { contract } = site.source;
  const { schemas } = contract;
  const { requestBody } = operation;
  const isWebhook = !('path' in operation);
  const body = requestBody?.content['application/json'];
  const parameters = (['path', 'query', 'header'] as const).map((location) => {
    const shown = parametersOf(operation).filter(({ anchor }) => anchor.startsWith(`${location}-`));
    return shown.length > 0 && { id: `${location}-parameters`, title: LOCATIONS[location], content: list(shown) };
  });
  const shared = isWebhook ? new Set<string>() : sharedStatusesOf(contract);
  const common = statusesOf(operation).filter(([status]) => shared.has(status));
  const own = statusesOf(operation).filter(([status]) => !shared.has(status));
  const headers = responseHeadersOf(operation);
  const all = statusesOf(operation).length;
  return [
    ...parameters,
    requestBody !== undefined &&
      body !== undefined && {
        id: 'body',
        title: 'Request body',
        content: html`${text(requestBody.description)}<p>${words(`${Object.keys(requestBody.content).join(' or ')}: ${kind(body.schema, placeOf)}`)}</p>${list(bodyFieldsOf(operation, schemas))}${shownExamples(examplesOf('body', 'request body', body.examples))}`,
      },
    'path' in operation && { id: 'try-it-out', title: 'Try it', content: tryItSection(operation, site) },
    'path' in operation && {
      id: 'samples',
      title: 'Code samples',
      content: html`<div id="try-samples">${samples(operation)}</div>`,
    },
    {
      id: 'responses',
      title: isWebhook ? 'Your response' : 'Responses',
      content: html`${own.map(([status, shown]) => response(status, shown, operation, schemas))}`,
    },
    common.length > 0 && {
      id: 'shared-responses',
      title: 'Responses of every operation',
      content: html`<ul class="fields">${common.map(([status, shown]) => sharedResponse(status, shown, site.source.guides))}</ul>`,
    },
    headers.length > 0 && {
      id: 'response-headers',
      title: 'Response headers',
      content: html`<ul class="fields">${headers.map(
        ({ anchor, name, statuses }) =>
          html`<li id="${anchor}"><a href="all.html#/headers/${name.toLowerCase()}"><code>${name}</code></a> <small>${statuses.length === all ? 'every response' : statuses.join(', ')}</small></li>`,
      )}</ul>`,
    },
  ].filter((section) => section !== false);
}

function samples(operation: Operation): Html {
  const written = samplesOf(operation).map(
    ({ lang, label, source }) => `\`\`\`${lang} label=${label}\n${source}\n\`\`\``,
  );
  return text(written.join('\n\n'));
}

function response(
  status: string,
  shown: Response,
  operation: Operation | Webhook,
  schemas: Site['source']['contract']['schemas'],
): Html {
  const { anchor, title, description } = statusPartOf(status, shown);
  const body = shown.content?.['application/json'];
  const isResult = successOf(operation)?.status === status;
  return html`<h3 id="${anchor}"><a class="anchor" href="#${anchor}">${title}</a></h3>${text(description)}${
    body !== undefined &&
    html`<p>${words(`Body: ${kind(body.schema, placeOf)}`)}</p>${isResult && list(responseFieldsOf(operation, schemas))}${shownExamples(examplesOf(status, status, body.examples))}`
  }`;
}

/** Returns a response that is the same for all operations. It links to its details in the guide to errors. */
function sharedResponse(status: string, shown: Response, guides: readonly Guide[]): Html {
  const { anchor, title, description } = statusPartOf(status, shown);
  const heading = guides
    .find(({ slug }) => slug === 'errors')
    ?.headings.find(({ text: words }) => words.startsWith(`${status} `));
  const messages = examplesOf(status, status, shown.content?.['application/json']?.examples ?? {});
  return html`<li id="${anchor}"><a href="errors.html${heading && `#${heading.anchor}`}">${title}</a> ${words(firstSentenceOf(description))}<ul>${messages.map(
    (each) => html`<li id="${each.anchor}"><code>${messageOf(each)}</code></li>`,
  )}</ul></li>`;
}

function firstSentenceOf(description: string): string {
  return description.split(/(?<=\.)\s/, 1)[0] ?? '';
}

/** Returns the examples. All of them are visible, so that the browser's search finds every message. */
function shownExamples(examples: readonly ExamplePart[]): Html {
  const [whole, lines] = [examples.filter((each, i) => i === 0 || messageOf(each) === undefined), examples.slice(1)];
  const messages = lines.filter((each) => messageOf(each) !== undefined);
  return html`${whole.map(
    ({ anchor, description, value }) =>
      html`<p class="example" id="${anchor}">${words(description)}</p>${text(`\`\`\`\`\n${typeof value === 'string' ? value : jsonText(value)}\n\`\`\`\``)}`,
  )}${
    messages.length > 0 &&
    html`<ul class="fields">${messages.map((each) => html`<li id="${each.anchor}">${words(each.description)}<br><code>${messageOf(each)}</code></li>`)}</ul>`
  }`;
}

/** Returns the message of an error; `undefined` if the example is not an error. */
function messageOf({ value }: ExamplePart): string | undefined {
  return Object(value).message;
}

function list(fields: readonly Field[]): Html {
  return html`<ul class="fields">${fields.map(item)}</ul>`;
}

function item({ anchor, label, schema, isRequired, description, example, fields }: Field): Html {
  // For a field of a response, neither "required" nor an example is shown: every field is present, and the examples of the
  // response show the values.
  const isSent = !anchor.startsWith('response-');
  const value = typeof example === 'string' ? example : JSON.stringify(example);
  return html`<li id="${anchor}"><a href="#${anchor}"><code>${label}</code></a> <small>${words(kind(withoutPattern(schema), placeOf))}${isSent && isRequired && html`, <b>required</b>`}</small>
${text(description)}${isSent && example !== undefined && fields.length === 0 && html`<p>Example: <code>${value}</code></p>`}${fields.length > 0 && list(fields)}</li>`;
}

/** Returns the schema without its pattern, because the format tells readers more. */
function withoutPattern({ pattern: _, ...schema }: Schema): Schema {
  return schema;
}

function placeOf(name: string): string {
  return `all.html#${schemaPlace(name)}`;
}
