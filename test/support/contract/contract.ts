// Validates every response of every test against the published contract.
import { appendFileSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type CheckedRequest, type CheckedResponse, createConformityCheck } from '../../../src/contract/conformity.ts';
import { type Json, type Operation, operationsOf, type Webhook, webhooksOf } from '../../../src/contract/document.ts';

export type { CheckedResponse } from '../../../src/contract/conformity.ts';
export type { Operation, Parameter } from '../../../src/contract/document.ts';

const document: Json = JSON.parse(readFileSync(join(import.meta.dirname, '../../../generated/openapi.json'), 'utf8'));
const check = createConformityCheck(document);

/** The operations, frozen because all test files of a process share them. */
export const operations: readonly Operation[] = freeze(operationsOf(document));
export const webhooks: readonly Webhook[] = webhooksOf(document);

/**
 * Returns the value of an example of the contract. Tests of whole rows take the rows from examples, so that a new field changes
 * no test.
 */
export function exampleOf(name: string) {
  return Object(document['components']).examples[name].value;
}

/** Returns the message for a field in an example of a 422. */
export function messageIn(example: string, field: string): string {
  return exampleOf(example).errors[field][0];
}

/** Throws if the contract does not allow this response to this request. Otherwise, records the response's status. */
export function requireConformity(asked: CheckedRequest, response: CheckedResponse): void {
  requireLimits(response);
  requireUnlimitedConformity(asked, response);
}

/**
 * Throws if the contract does not allow this response of a server without rate limits. Otherwise, records the response's status.
 */
export function requireUnlimitedConformity(asked: CheckedRequest, response: CheckedResponse): void {
  for (const operation of checkShown(asked, response)) note(operation, response.status);
}

/** Headers that only the mock sends: those for pages of other origins (CORS), and those about Prefer. */
export const ADDED_BY_THE_MOCK = /^(access-control-.+|preference-applied|x-mock-warning)$/;

/** Validates a response of the mock. Its status is not recorded, because only statuses of the server count as covered. */
export function requireMockConformity(asked: CheckedRequest, { headers, ...response }: CheckedResponse): void {
  const ofTheApi = Object.entries(headers).filter(([name]) => !ADDED_BY_THE_MOCK.test(name));
  requireLimits({ ...response, headers });
  checkShown(asked, { ...response, headers: Object.fromEntries(ofTheApi) });
}

/** Statuses that only requests with an accepted key can get. */
const AFTER_THE_KEY = [200, 201, 204, 304, 403, 406, 409, 412, 413, 415, 422];

/**
 * Throws if a response to an accepted key has no headers of the rate limits. The contract makes these headers optional, because
 * an operator can turn the limits off.
 */
function requireLimits({ status, headers, text }: CheckedResponse): void {
  // The server does not accept the key from this address, so it sends no headers of the limits.
  if (status === 403 && text.includes('may not be used from')) return;
  for (const name of ['ratelimit-policy', 'ratelimit']) {
    if (AFTER_THE_KEY.includes(status) && headers[name] === undefined) throw new Error(`${name} is missing.`);
  }
}

function checkShown(asked: CheckedRequest, response: CheckedResponse): readonly Operation[] {
  const sniffed = response.headers['x-content-type-options'];
  if (sniffed !== 'nosniff') throw new Error(`X-Content-Type-Options is ${sniffed}, not nosniff.`);
  const { operations: shown, disagreements } = check(asked, response);
  if (disagreements.length === 0) return shown;
  const where = `${asked.method} ${asked.url.slice(0, 200)} -> ${response.status}`;
  throw new Error(`${where}: ${disagreements.join('\n  ')}\n${response.text}`);
}

const noted = new Set<string>();

/** Records the status once. All worker processes append to one file, which is read at the end of the run. */
function note(operation: Operation, status: number): void {
  const line = `${operation.operationId} ${status}\n`;
  if (noted.has(line)) return;
  noted.add(line);
  appendFileSync(join(process.env['CHARTER_TEST_FOLDER'] ?? '', 'seen-statuses'), line);
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

function freeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    Object.values(value).forEach(freeze);
  }
  return value;
}
