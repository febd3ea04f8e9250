import { type Examples, type Schema, schemaNameOf } from '../../../src/contract/document.ts';
import { type Html, html } from '../../../src/html/html.ts';
import { code, json, text } from './text.ts';

/** "string, 1 to 200 characters", or a link to a named schema. */
export function kind(schema: Schema): Html {
  const name = schemaNameOf(schema);
  if (name !== undefined) return html`<a href="#${schemaPlace(name)}">${name}</a>`;
  if (schema.items !== undefined) return html`array of ${kind(schema.items)}${listed(boundsOf(schema))}`;
  return html`${[schema.type ?? []].flat().join(' or ')}${listed(boundsOf(schema))}${
    schema.pattern !== undefined && html`, matching <code>${schema.pattern}</code>`
  }`;
}

export function schemaPlace(name: string): string {
  return `/schemas/${name}`;
}

export type Field = {
  readonly name: string;
  readonly schema: Schema;
  readonly description?: string | undefined;
  readonly isRequired?: boolean | undefined;
  readonly example?: unknown;
};

export function fieldList(fields: readonly Field[]): Html {
  return html`<dl class="fields">${fields.map(field)}</dl>`;
}

function field({ name, schema, description, isRequired, example }: Field): Html {
  return html`<div><dt><code class="name">${name}</code> <span class="kind">${kind(schema)}</span>${isRequired && html` <strong class="required">required</strong>`}</dt>
<dd>${description !== undefined && text(description, 6)}${example !== undefined && html`<p class="example">Example: <code>${typeof example === 'string' ? example : JSON.stringify(example)}</code></p>`}</dd></div>`;
}

/** The section of a named schema. */
export function schemaSection(name: string, schema: Schema): Html {
  const { properties = {}, required = [], additionalProperties, description = '' } = schema;
  const fields = Object.entries(properties).map(([property, each]) => ({
    name: property,
    schema: each,
    description: each.description,
    isRequired: required.includes(property),
    example: each.examples?.[0],
  }));
  return html`<section><h3 id="${schemaPlace(name)}">${name}</h3>
${text(description, 4)}
${fields.length > 0 ? fieldList(fields) : html`<p class="kind">${kind(schema)}</p>`}
${typeof additionalProperties === 'object' && html`<p>Each value: <span class="kind">${kind(additionalProperties)}</span></p>`}
${schema.examples?.[0] !== undefined && json(schema.examples[0])}</section>`;
}

/** Each example with its summary. `open` shows the first one unfolded. */
export function exampleList(examples: Examples, { open }: { open: boolean }): Html[] {
  return Object.entries(examples).map(
    ([name, { summary = name, value }], i) =>
      html`<details${open && i === 0 && html` open`}><summary>${text(summary, 6)}</summary>${
        typeof value === 'string' ? code(value) : json(value)
      }</details>`,
  );
}

function listed(bounds: readonly string[]): string {
  return bounds.map((bound) => `, ${bound}`).join('');
}

function boundsOf(schema: Schema): string[] {
  const { format, enum: choices, default: preset, const: fixed } = schema;
  return [
    format,
    span(schema.minLength, schema.maxLength, 'characters'),
    span(schema.minimum, schema.maximum, ''),
    span(schema.minItems, schema.maxItems, 'items'),
    span(undefined, schema.maxProperties, 'entries'),
    choices && `one of ${choices.map((choice) => JSON.stringify(choice)).join(', ')}`,
    fixed === undefined ? undefined : `always ${JSON.stringify(fixed)}`,
    preset === undefined ? undefined : `default ${JSON.stringify(preset)}`,
  ].filter((bound) => bound !== undefined);
}

function span(least: number | undefined, most: number | undefined, unit: string): string | undefined {
  const of = unit === '' ? '' : ` ${unit}`;
  if (least === undefined) return most === undefined ? undefined : `up to ${most}${of}`;
  if (most === undefined) return `at least ${least}${of}`;
  return least === most ? `${least}${of}` : `${least} to ${most}${of}`;
}
