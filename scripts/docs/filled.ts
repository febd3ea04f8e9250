import { type Examples, firstExample, type Json, type Webhook, webhooksOf } from '../../src/contract/document.ts';

/** An empty block of a guide, labelled with the example or with the webhook that the documentation shows in it. */
const EMPTY = /^```(?:json example=(?<example>\w+)|text webhook=(?<webhook>[\w.]+))\n(?=```$)/gm;
/** The number of characters from which on an object or an array is shown in several lines. */
const WIDTH = 100;

/** The Markdown of a guide, with the contract's examples in its empty blocks. */
export function fillExamples(text: string, document: Json): string {
  const { examples }: { readonly examples?: Examples } = Object(document['components']);
  const webhooks = webhooksOf(document);
  return text.replace(EMPTY, (opening, ...[name, webhookName]) => {
    const example = examples?.[name];
    const webhook = webhooks.find((each) => each.name === webhookName);
    if (example !== undefined) return `${opening}${jsonText(example.value)}\n`;
    return webhook === undefined ? opening : `${opening}${headOf(webhook)}\n`;
  });
}

/** The first lines of the request that sends an event. */
function headOf({ parameters = [] }: Webhook): string {
  const headers = parameters.map(({ name, examples }) => `${name}: ${firstExample(examples)}`);
  return ['POST /webhooks HTTP/1.1', 'Content-Type: application/json', ...headers].join('\n');
}

function jsonText(value: unknown, indent = ''): string {
  const line = inOneLine(value);
  if (typeof value !== 'object' || value === null || indent.length + line.length <= WIDTH) return line;
  const inner = `${indent}  `;
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  const members = Array.isArray(value)
    ? value.map((item) => jsonText(item, inner))
    : Object.entries(value).map(([name, member]) => `"${name}": ${jsonText(member, inner)}`);
  return `${open}\n${members.map((member) => `${inner}${member}`).join(',\n')}\n${indent}${close}`;
}

/** With a blank where people write one. */
function inOneLine(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(inOneLine).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([name, member]) => `"${name}": ${inOneLine(member)}`);
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
}
