// The reference as Markdown, for programs and for the page that contains everything.
import {
  type Examples,
  firstExample,
  type Operation,
  type Parameter,
  type Response,
  type Schema,
  schemaNameOf,
  sufficientPermissionsOf,
  type Webhook,
} from '../../src/contract/document.ts';
import type { Contract } from './contract.ts';
import { statusesOf, statusPartOf } from './parts.ts';
import { samplesOf } from './samples/languages.ts';

/** Returns the URL of the Markdown about a schema. */
type SchemaPlaces = (name: string) => string;

/**
 * Returns the operation or the webhook as Markdown, without its title. The headings of its sections begin with "##". If `isBrief`
 * is true, the errors have no details, and only the sample in curl and the first example of each body are included.
 */
export function operationMarkdown(
  operation: Operation | Webhook,
  placeOf: SchemaPlaces,
  { isBrief = false }: { readonly isBrief?: boolean } = {},
): string {
  const { method, description, parameters = [], requestBody } = operation;
  const isWebhook = !('path' in operation);
  const target = isWebhook ? `${operation.name}\`, sent to your endpoint` : `${operation.path}\``;
  const body = requestBody?.content['application/json'];
  const samples = isWebhook ? [] : samplesOf(operation).slice(0, isBrief ? 1 : undefined);
  const isListed = (status: string) => isBrief && Number(status) >= 400;
  const responses = statusesOf(operation);
  return paragraphs(
    `\`${method.toUpperCase()} ${target}`,
    description,
    isWebhook ? null : permission(operation),
    ...(['path', 'query', 'header'] as const).map((location) => parameterList(location, parameters, placeOf)),
    requestBody && body
      ? paragraphs(
          '## Request body',
          requestBody.description,
          `${Object.keys(requestBody.content).join(' or ')}: ${kind(body.schema, placeOf)}`,
          examples(body.examples, isBrief),
        )
      : null,
    isWebhook
      ? null
      : paragraphs(
          '## Code samples',
          ...samples.map(({ lang, label, source }) => code(`${lang} label=${label}`, source)),
        ),
    isWebhook ? '## Your response' : '## Responses',
    ...responses
      .filter(([status]) => !isListed(status))
      .map(([status, response]) => responseSection(status, response, placeOf, isBrief)),
    isBrief && !isWebhook
      ? `Errors: ${responses.flatMap(([status]) => (isListed(status) ? [status] : [])).join(', ')}. The guide "Errors" describes each.`
      : null,
  );
}

/** Returns a named schema as Markdown, without its title. */
export function schemaMarkdown(schema: Schema, placeOf: SchemaPlaces): string {
  const { properties = {}, required = [], additionalProperties, description = '' } = schema;
  const fields = Object.entries(properties).map(([name, each]) =>
    field(
      {
        name,
        schema: each,
        description: each.description,
        isRequired: required.includes(name),
        example: each.examples?.[0],
      },
      placeOf,
    ),
  );
  return paragraphs(
    description,
    fields.length > 0 ? fields.join('\n') : kind(schema, placeOf),
    typeof additionalProperties === 'object' ? `Each value: ${kind(additionalProperties, placeOf)}` : null,
    schema.examples?.[0] === undefined ? null : json(schema.examples[0]),
  );
}

/** Returns all response headers as Markdown. Each header has all of its different descriptions. */
export function headersMarkdown({ operations }: Contract): string {
  const all = operations.flatMap(({ responses }) =>
    Object.values(responses).flatMap(({ headers }) => Object.entries(headers ?? {})),
  );
  const sections = Map.groupBy(all, ([name]) => name);
  return [...sections]
    .map(([name, headers]) => {
      const descriptions = new Map(headers.map(([, header]) => [header.description, header]));
      return paragraphs(
        `## ${name}`,
        ...[...descriptions.values()].map(
          ({ description, schema, examples: shown }) =>
            `${description} ${kind(schema, () => '')}. Example: \`${String(firstExample(shown))}\``,
        ),
      );
    })
    .join('\n\n');
}

export const LOCATIONS = { path: 'Path parameters', query: 'Query parameters', header: 'Request headers' } as const;

function parameterList(
  location: Parameter['in'],
  parameters: readonly Parameter[],
  placeOf: SchemaPlaces,
): string | null {
  const here = parameters.filter((parameter) => parameter.in === location);
  if (here.length === 0) return null;
  const fields = here.map(({ name, schema, description, required, examples: shown }) =>
    field({ name, schema, description, isRequired: required, example: firstExample(shown) }, placeOf),
  );
  return `## ${LOCATIONS[location]}\n\n${fields.join('\n')}`;
}

export function permission(operation: Operation): string {
  const needed = sufficientPermissionsOf(operation);
  if (needed.length === 0) return 'Requires any valid API key.';
  return `Requires the permission ${needed.map((each) => `\`${each}\``).join(' or ')}.`;
}

function responseSection(status: string, response: Response, placeOf: SchemaPlaces, isBrief: boolean): string {
  const { description, headers = {}, content = {} } = response;
  const body = content['application/json'];
  const names = Object.entries(headers).map(
    ([name, { schema }]) => `\`${schema.const === undefined ? name : `${name}: ${String(schema.const)}`}\``,
  );
  return paragraphs(
    `### ${statusPartOf(status, response).title}`,
    description,
    names.length === 0 ? null : `Response headers: ${names.join(', ')}`,
    body === undefined ? 'No body' : `Body: ${kind(body.schema, placeOf)}`,
    body === undefined ? null : examples(body.examples, isBrief),
  );
}

/** Returns each example with its summary. If `isBrief` is true, returns only the first. */
function examples(shown: Examples, isBrief: boolean): string {
  return paragraphs(
    ...Object.entries(shown)
      .slice(0, isBrief ? 1 : undefined)
      .flatMap(([name, { summary = name, value }]) => [
        `Example: ${summary}`,
        typeof value === 'string' ? code('text', value) : json(value),
      ]),
  );
}

type Field = {
  readonly name: string;
  readonly schema: Schema;
  readonly description?: string | undefined;
  readonly isRequired?: boolean | undefined;
  readonly example?: unknown;
};

/** Returns a field as an item of a list. */
function field({ name, schema, description, isRequired, example }: Field, placeOf: SchemaPlaces): string {
  const shown = typeof example === 'string' ? example : JSON.stringify(example);
  const body = paragraphs(
    `\`${name}\` (${kind(schema, placeOf)}${isRequired ? ', **required**' : ''})`,
    description ?? null,
    example === undefined ? null : `Example: \`${shown}\``,
  );
  return `- ${body.replaceAll('\n', '\n  ').replace(/^ +$/gm, '')}`;
}

/** Returns the type of a schema, such as "string, 1 to 200 characters", or a link to a named schema. */
export function kind(schema: Schema, placeOf: SchemaPlaces): string {
  const name = schemaNameOf(schema);
  if (name !== undefined) return `[${name}](${placeOf(name)})`;
  const bounds = boundsOf(schema)
    .map((bound) => `, ${bound}`)
    .join('');
  if (schema.items !== undefined) return `array of ${kind(schema.items, placeOf)}${bounds}`;
  const pattern = schema.pattern === undefined ? '' : `, matching \`${schema.pattern}\``;
  return `${[schema.type ?? []].flat().join(' or ')}${bounds}${pattern}`;
}

function boundsOf(schema: Schema): string[] {
  const { format, enum: choices, default: preset, const: fixed } = schema;
  return [
    format,
    span(schema.minLength, schema.maxLength, ' characters'),
    span(schema.minimum, schema.maximum, ''),
    span(schema.minItems, schema.maxItems, ' items'),
    span(undefined, schema.maxProperties, ' entries'),
    choices && `one of ${choices.map((choice) => `\`${JSON.stringify(choice)}\``).join(', ')}`,
    fixed === undefined ? undefined : `always \`${JSON.stringify(fixed)}\``,
    preset === undefined ? undefined : `default \`${JSON.stringify(preset)}\``,
  ].filter((bound) => bound !== undefined);
}

function span(least: number | undefined, most: number | undefined, unit: string): string | undefined {
  if (least === undefined) return most === undefined ? undefined : `up to ${most}${unit}`;
  if (most === undefined) return `at least ${least}${unit}`;
  return least === most ? `${least}${unit}` : `${least} to ${most}${unit}`;
}

function paragraphs(...parts: readonly (string | null)[]): string {
  return parts.filter((part) => part !== null && part !== '').join('\n\n');
}

function code(label: string, source: string): string {
  return `\`\`\`${label}\n${source}\n\`\`\``;
}

function json(value: unknown): string {
  return code('json', JSON.stringify(value, null, 2));
}
