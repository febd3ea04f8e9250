// Holds every answer of every test against the published document, on its own: it shares no code with the server.
import { appendFileSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';

type Json = Record<string, unknown>;
type Header = { required?: boolean; schema: Json };
type Response = { headers?: Record<string, Header>; content?: Record<string, { schema: Json }> };
export type Parameter = {
  name: string;
  in: string;
  required?: boolean;
  schema: Json;
  examples: Record<string, { value: unknown }>;
};
export type Operation = {
  operationId: string;
  path: string;
  method: string;
  responses: Record<string, Response>;
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { schema: Json; examples: Record<string, { value: unknown }> }> };
  security: Record<string, string[]>[];
};
export type Answer = { status: number; headers: Record<string, string | undefined>; text: string };

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];
/** Headers of the connection, not of the API. */
const OF_TRANSPORT = new Set([
  'date',
  'connection',
  'keep-alive',
  'content-length',
  'content-type',
  'transfer-encoding',
]);

const document: Json = JSON.parse(readFileSync(join(import.meta.dirname, '../../generated/openapi.json'), 'utf8'));
const ajv = new Ajv2020({ allErrors: true, strict: false });
formats.default(ajv);
ajv.addSchema(document, 'contract');

export const operations: readonly Operation[] = listOperations();

/** Throws where the contract does not show such an answer to such a request; notes that it was seen where it does. */
export function checkAnswer({ method, url }: { method: string; url: string }, answer: Answer): void {
  const path = url.split('?', 1)[0] ?? '';
  const here = operations.filter((operation) => pathPattern(operation.path).test(path));
  const asked = here.filter((operation) => operation.method === (method === 'HEAD' ? 'get' : method.toLowerCase()));
  const where = `${method} ${url.slice(0, 200)} -> ${answer.status}`;
  if (here.length === 0) checkUnknownPath(where, answer);
  // Another method on a known path is shown by the operations that the path has.
  for (const operation of asked.length > 0 ? asked : here) {
    const response = operation.responses[String(answer.status)];
    if (response === undefined) throw new Error(`${where}: the contract does not show this status.\n${answer.text}`);
    checkHeaders(where, response, answer.headers);
    checkBody(where, response, { ...answer, isHead: method === 'HEAD' });
    note(operation, answer.status);
  }
}

function checkUnknownPath(where: string, answer: Answer): void {
  if (answer.status !== 404 && answer.status !== 414) throw new Error(`${where}: an unknown path answers 404.`);
  const name = answer.status === 404 ? 'NotFoundException' : 'UriTooLongException';
  checkBody(where, resolve({ $ref: `#/components/responses/${name}` }), {
    ...answer,
    isHead: where.startsWith('HEAD'),
  });
}

function checkHeaders(where: string, { headers = {} }: Response, actual: Answer['headers']): void {
  const shown = new Map(Object.entries(headers).map(([name, header]) => [name.toLowerCase(), header]));
  for (const [name, header] of shown) {
    if (header.required === true && actual[name] === undefined)
      throw new Error(`${where}: the header ${name} is missing.`);
  }
  for (const [name, value] of Object.entries(actual)) {
    if (OF_TRANSPORT.has(name)) continue;
    const header = shown.get(name);
    if (header === undefined) throw new Error(`${where}: the contract does not show the header ${name}: ${value}`);
    const typed = header.schema['type'] === 'integer' ? Number(value) : value;
    if (!ajv.validate(header.schema, typed))
      throw new Error(`${where}: the header ${name}: ${value}: ${ajv.errorsText()}`);
  }
}

function checkBody(
  where: string,
  { content }: Response,
  { headers, text, isHead }: Answer & { isHead: boolean },
): void {
  const type = headers['content-type'];
  if (content === undefined) {
    if (text !== '' || type !== undefined)
      throw new Error(`${where}: the contract shows no body, but there is one: ${text}`);
    return;
  }
  if (type !== 'application/json; charset=utf-8') throw new Error(`${where}: the content type is ${type}.`);
  if (isHead) {
    if (text !== '') throw new Error(`${where}: an answer to HEAD has a body.`);
    return;
  }
  const schema = content['application/json']?.schema ?? false;
  if (!ajv.validate(schema, JSON.parse(text))) throw new Error(`${where}: the body: ${ajv.errorsText()}\n${text}`);
}

function listOperations(): Operation[] {
  return Object.entries(
    resolve<Record<string, Record<string, Operation & { $ref?: string }>>>(document['paths']),
  ).flatMap(([path, item]) =>
    METHODS.flatMap((method) => (item[method] === undefined ? [] : [{ ...item[method], path, method }])),
  );
}

/** With every $ref followed, except inside schemas' own recursion, of which the contract has none. */
function resolve<T>(value: unknown): T {
  return follow(value) as T;
}

function follow(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(follow);
  if (value === null || typeof value !== 'object') return value;
  if ('$ref' in value && typeof value.$ref === 'string') return follow(at(value.$ref));
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, follow(member)]));
}

function at(ref: string): unknown {
  let value: unknown = document;
  for (const part of ref.slice(2).split('/')) value = Object(value)[part.replaceAll('~1', '/').replaceAll('~0', '~')];
  if (value === undefined) throw new Error(`The contract has no ${ref}.`);
  return value;
}

function pathPattern(template: string): RegExp {
  return new RegExp(`^${template.replace(/\{[^}]+\}/g, '[^/]+')}$`);
}

/** Each test file is a process's own; the lines of all are put together at the end of the run. */
function note(operation: Operation, status: number): void {
  appendFileSync(
    join(process.env['CHARTER_TEST_FOLDER'] ?? '', 'seen-statuses'),
    `${operation.operationId} ${status}\n`,
  );
}

export async function unseenStatuses(): Promise<string[]> {
  const seen = new Set(
    (await readFile(join(process.env['CHARTER_TEST_FOLDER'] ?? '', 'seen-statuses'), 'utf8').catch(() => '')).split(
      '\n',
    ),
  );
  return operations.flatMap(({ operationId, responses }) =>
    Object.keys(responses)
      .map((status) => `${operationId} ${status}`)
      .filter((line) => !seen.has(line)),
  );
}
