import type { IdempotentPath, Method } from './contract.ts';

export type Parameters = {
  readonly path?: Readonly<Record<string, unknown>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly header?: Readonly<Record<string, unknown>>;
};

/** Exactly the contract's: the compiler refuses this where the contract has one more or one less. */
const IDEMPOTENT_PATHS: Readonly<Record<IdempotentPath, true>> = { '/api/parent_programs': true };

/**
 * The parameters as they are sent: a creation gets an `Idempotency-Key` of its own where the caller gave none, the same
 * for all its tries. Throws a TypeError on what the types already refuse and what would be sent as something else.
 */
export function parametersOf(method: Method, path: string, given: Parameters): Parameters {
  // "@other.example" would turn the base into a user name at another host.
  if (!path.startsWith('/')) throw new TypeError('The path must begin with "/".');
  const parameters = {
    path: present('path', given.path),
    query: present('query', given.query),
    header: present('header', given.header),
  };
  for (const [, name = ''] of path.matchAll(/\{([^{}]+)\}/g)) checkSegment(name, parameters.path[name]);
  return method === 'post' && Object.hasOwn(IDEMPOTENT_PATHS, path)
    ? { ...parameters, header: withIdempotencyKey(parameters.header) }
    : parameters;
}

/** Undefined means left out. Null would too, unseen: no filter, or no `If-Match` against lost updates. */
function present(location: keyof Parameters, values: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  const given = Object.entries(values).filter(([, value]) => value !== undefined);
  const isNull = given.find(([, value]) => value === null);
  if (isNull !== undefined)
    throw new TypeError(`params.${location}.${isNull[0]} is null. Give a value, or leave it out.`);
  return Object.fromEntries(given);
}

/** An empty segment, "." or ".." would make it the address of something else (RFC 3986 section 5.2.4). */
function checkSegment(name: string, value: unknown): void {
  if (value === undefined) throw new TypeError(`params.path.${name} is missing.`);
  if (['', '.', '..'].includes(String(value)))
    throw new TypeError(`params.path.${name} must not be empty, "." or "..".`);
}

function withIdempotencyKey(header: Record<string, unknown>): Record<string, unknown> {
  const isGiven = Object.keys(header).some((name) => name.toLowerCase() === 'idempotency-key');
  return isGiven ? header : { ...header, 'Idempotency-Key': randomKey() };
}

/** 128 random bits. Not `crypto.randomUUID`, which browsers have on HTTPS pages only. */
function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
