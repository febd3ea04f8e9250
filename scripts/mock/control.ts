import { validateHeaderName, validateHeaderValue } from 'node:http';
import type { Ajv2020 } from 'ajv/dist/2020.js';
import { Violations } from '../../src/api/violations.ts';
import { closeSchema } from '../../src/contract/conformity.ts';
import { isObject, type Json, type Operation } from '../../src/contract/document.ts';
import { DomainError, invalidField } from '../../src/domain/errors.ts';
import type { Environment } from '../../src/domain/keys/api-key.ts';
import { schemaOf, successOf } from './declared-responses.ts';
import type { MockKeys, NewKey } from './mock-api.ts';
import {
  ALL_OPERATIONS,
  MAX_OVERRIDES,
  type Match,
  type NewOverride,
  type Override,
  type Overrides,
  readMatch,
  valuesOf,
} from './overrides.ts';
import type { SentRequest } from './package/types.ts';
import { type Choice, type ChoiceWords, MAX_DELAY_MS, responseOf } from './prefer.ts';
import type { MockRateLimits } from './rate-limits.ts';
import type { RequestLog } from './request-log.ts';
import type { ReadSeed } from './seed-data.ts';
import type { Items, Stores } from './store.ts';

/** Controls the mock independently of the application that calls the mock. */
export type Control = {
  /** Forces a response, or one response for each step of a sequence. Throws a 422 if no operation has the response. */
  force(value: Json): readonly Override[];
  /**
   * Restores the initial data, or replaces it with other data. Removes all forced responses, clears the log, and resets the rate
   * limits.
   */
  reset(value: Json): void;
  /** Creates a key with fewer permissions or in another organization. Throws a 422 for wrong options. */
  createKey(value: Json): NewKey;
};

type ControlDeps = {
  readonly operations: readonly Operation[];
  readonly ajv: Ajv2020;
  readonly overrides: Overrides;
  readonly rateLimits: MockRateLimits;
  readonly log: RequestLog;
  /** The stores; `undefined` if the mock is not stateful. */
  readonly stores: Stores | undefined;
  readonly keys: MockKeys;
  /** The environment whose keys are accepted. */
  readonly environment: Environment;
  readonly readSeed: ReadSeed;
  /** The initial data; `undefined` if it is the contract's examples. */
  readonly seed: Items | undefined;
};

const MAX_TIMES = 10_000;

export function createControl(deps: ControlDeps): Control {
  const { operations, ajv, overrides, rateLimits, log, stores, keys, environment, readSeed, seed } = deps;
  return {
    force(value) {
      const added = readOverrides(value, { operations, ajv });
      if (overrides.all.length + added.length > MAX_OVERRIDES)
        throw new DomainError('conflict', `There are at most ${MAX_OVERRIDES} overrides. Clear some first.`);
      return added.map((override) => overrides.add(override));
    },
    reset(value) {
      requireKnown(value, ['data', 'empty'], remedyOfReset(value));
      const { data, empty } = value;
      if (data !== undefined && empty !== undefined)
        throw invalidField('empty', 'cannot be combined with data. Leave it out.');
      if (empty !== undefined && !/^(true|false)$/.test(String(empty)))
        throw invalidField('empty', 'must be true or false.');
      const isEmpty = String(empty) === 'true';
      if (stores === undefined && (data !== undefined || isEmpty)) throw statelessError();
      const items = data !== undefined ? readSeed(data) : isEmpty ? new Map() : seed;
      stores?.reset(items);
      overrides.clear();
      rateLimits.reset();
      log.clear();
    },
    createKey(value) {
      requireKnown(value, ['permissions', 'organization']);
      if (stores === undefined && value['organization'] !== undefined) throw statelessError();
      return keys.create(value, environment);
    },
  };
}

function statelessError(): DomainError {
  return new DomainError('conflict', 'The mock keeps nothing. Start it with --stateful.');
}

/** Returns the remedy for a request that contains a list outside `data`. The list probably belongs inside `data`. */
function remedyOfReset(value: Json): string | undefined {
  const list = Object.entries(value).find(([, items]) => Array.isArray(items));
  return list && `Put it into data: {"data": {"${list[0].slice(0, 100)}": […]}}.`;
}

function requireKnown(value: Json, fields: readonly string[], remedy?: string): void {
  const unknown = Object.keys(value).find((name) => !fields.includes(name));
  if (unknown === undefined) return;
  const problem = `is not known. Fields: ${fields.join(', ')}.`;
  throw invalidField(unknown.slice(0, 100), remedy === undefined ? problem : `${problem} ${remedy}`);
}

/** The fields that describe the response. */
const RESPONSE_FIELDS = ['status', 'example', 'body', 'allowInvalid', 'headers'];
const STEP_FIELDS = [...RESPONSE_FIELDS, 'times', 'delay_ms', 'disconnect'];
const FIELDS = ['operation', ...STEP_FIELDS, 'match', 'sequence'];

type Contract = Pick<ControlDeps, 'operations' | 'ajv'>;
type Target = Contract & {
  readonly operation: string;
  /** The operations whose requests get the response. */
  readonly fitting: readonly Operation[];
  /** The text before the names of fields in a refusal, such as "sequence.0.". */
  readonly prefix: string;
};

function readOverrides(value: Json, contract: Contract): NewOverride[] {
  requireKnown(value, FIELDS);
  const { operation: named = ALL_OPERATIONS, match, sequence, ...single } = value;
  const operation = String(named);
  const fitting = contract.operations.filter(({ operationId }) => [ALL_OPERATIONS, operationId].includes(operation));
  if (fitting.length === 0) {
    const names = [ALL_OPERATIONS, ...contract.operations.map(({ operationId }) => operationId)];
    throw invalidField('operation', `is not an operation. Choose one of: ${names.join(', ')}.`);
  }
  const common: { match?: Match } = match === undefined ? {} : { match: readMatch(match) };
  const target = { ...contract, operation, fitting };
  if (sequence === undefined) return [{ ...readStep(single, { ...target, prefix: '' }), ...common }];
  const [beside] = Object.keys(single);
  if (beside !== undefined) throw invalidField(beside, 'cannot be combined with sequence. Put it into the steps.');
  if (!Array.isArray(sequence) || sequence.length === 0)
    throw invalidField('sequence', 'must be an array of responses, such as [{"status": 503, "times": 2}].');
  return sequence.map((step, i) => {
    if (!isObject(step)) throw invalidField(`sequence.${i}`, 'must be an object.');
    requireKnown(step, STEP_FIELDS);
    return { ...readStep(step, { ...target, prefix: `sequence.${i}.` }), ...common };
  });
}

function readStep(step: Json, target: Target): NewOverride {
  const { operation, fitting, prefix } = target;
  const code = textOf(step['status']);
  const example = textOf(step['example']);
  const hasBody = Object.hasOwn(step, 'body');
  const { body, allowInvalid = false, disconnect } = step;
  const headers = step['headers'] === undefined ? undefined : readHeaders(step['headers'], `${prefix}headers`);
  const delayMs = Number(step['delay_ms'] ?? 0);
  const isForever = step['times'] === null || step['times'] === '';
  const times = Number(step['times'] ?? 1);
  if (!Number.isInteger(delayMs) || delayMs < 0 || delayMs > MAX_DELAY_MS)
    throw invalidField(`${prefix}delay_ms`, `must be an integer from 0 to ${MAX_DELAY_MS}.`);
  if (!isForever && !(Number.isInteger(times) && times >= 1 && times <= MAX_TIMES))
    throw invalidField(
      `${prefix}times`,
      `must be an integer from 1 to ${MAX_TIMES}, or null for every request until it is cleared.`,
    );
  if (disconnect !== undefined && disconnect !== 'before' && disconnect !== 'after')
    throw invalidField(`${prefix}disconnect`, 'must be "before" or "after".');
  const beside = disconnect && RESPONSE_FIELDS.find((name) => step[name] !== undefined);
  if (beside !== undefined) throw invalidField(`${prefix}${beside}`, 'cannot be combined with disconnect.');
  if (typeof allowInvalid !== 'boolean') throw invalidField(`${prefix}allowInvalid`, 'must be true or false.');
  if (![code, example, headers, disconnect].some((each) => each !== undefined) && !hasBody && delayMs === 0)
    throw invalidField(
      `${prefix}status`,
      'is missing. Send a status, an example, a body, headers, a disconnect or a delay_ms.',
    );
  if (hasBody && example !== undefined)
    throw invalidField(`${prefix}example`, 'cannot be combined with body. Send one of them.');
  if (allowInvalid && example !== undefined)
    throw invalidField(`${prefix}example`, 'cannot be combined with allowInvalid. Send a body.');
  const status = allowInvalid ? anyStatus(code, prefix) : statusOf({ code, example }, target);
  const requireValid = hasBody && !allowInvalid ? createBodyCheck({ status, ...target }) : () => {};
  if (!isCreate(body)) requireValid(body);
  return {
    operation,
    status: allowInvalid && status === null ? successOfAll(fitting, prefix) : status,
    example: example ?? null,
    ...(hasBody && (isCreate(body) ? { createBody: withCheck(body, requireValid, prefix) } : { body })),
    ...(headers !== undefined && { headers }),
    ...(disconnect !== undefined && { disconnect }),
    ...(allowInvalid && { allowInvalid }),
    delay_ms: delayMs,
    left: isForever ? null : times,
  };
}

/** Returns the headers. Throws a 422 for a header that cannot be sent, or that the mock itself sets, such as Content-Length. */
function readHeaders(value: unknown, field: string): Record<string, string> {
  const headers = valuesOf(value, field);
  for (const [name, text] of Object.entries(headers)) {
    if (/^(content-length|transfer-encoding|connection)$/i.test(name))
      throw invalidField(`${field}.${name}`, 'is set by the mock. Leave it out.');
    try {
      validateHeaderName(name);
      validateHeaderValue(name, text);
    } catch {
      throw invalidField(`${field}.${name.slice(0, 100)}`, 'is not a header that HTTP allows.');
    }
  }
  return headers;
}

function textOf(value: unknown): string | undefined {
  return value === undefined || value === null || value === '' ? undefined : String(value);
}

/** Returns the chosen status, or `null` if no status is chosen. Throws if none of the operations has the response. */
function statusOf(chosen: Choice, { fitting, prefix }: Target): number | null {
  const words: ChoiceWords = {
    code: [`${prefix}status`, 'is'],
    example: [`${prefix}example`, 'is'],
    isOneMessage: true,
  };
  let refusal: unknown;
  for (const operation of fitting) {
    try {
      const response = responseOf(chosen, operation, words);
      return chosen.code === undefined ? null : (response?.status ?? null);
    } catch (error) {
      refusal ??= error;
    }
  }
  throw refusal;
}

/**
 * Returns the chosen status, or `null` if no status is chosen. Any status from 200 to 599 is accepted, even if it is not in the
 * contract.
 */
function anyStatus(code: string | undefined, prefix: string): number | null {
  if (code === undefined) return null;
  const status = Number(code);
  if (!Number.isInteger(status) || status < 200 || status > 599)
    throw invalidField(`${prefix}status`, 'must be an integer from 200 to 599.');
  return status;
}

function successOfAll(operations: readonly Operation[], prefix: string): number {
  const [status, ...others] = new Set(operations.map(successOf));
  if (status !== undefined && others.length === 0) return status;
  throw invalidField(`${prefix}status`, 'is missing, because the operations have several.');
}

/** The error for a body that the contract does not allow in the response. `hint` says how to send the body nevertheless. */
export class ForbiddenBodyError extends DomainError {
  readonly hint = REMEDY;

  constructor({ message, fields }: DomainError) {
    super('invalid', `${message} ${REMEDY}`, fields);
  }
}

const REMEDY = 'With "allowInvalid": true, the mock sends what the contract forbids.';

/** Returns a function that throws a 422 for a body that the contract does not allow in the response. */
function createBodyCheck({
  status,
  fitting,
  prefix,
  ajv,
}: Target & { status: number | null }): (body: unknown) => void {
  const [operation, ...others] = fitting;
  if (operation === undefined || others.length > 0)
    throw invalidField(
      `${prefix}body`,
      `is checked against the response of one operation. Name it in operation. ${REMEDY}`,
    );
  const code = status ?? successOf(operation);
  const schema = schemaOf(operation, code);
  if (schema === undefined)
    throw invalidField(`${prefix}body`, `is not allowed: the ${code} of ${operation.operationId} has none. ${REMEDY}`);
  const validate = ajv.compile(closeSchema(schema));
  return (body) => {
    // The body is copied, because validation adds default values.
    if (validate(structuredClone(body))) return;
    const violations = new Violations();
    const errors = (validate.errors ?? []).map((error) => ({
      ...error,
      instancePath: `/requestBody/${prefix.replaceAll('.', '/')}body${error.instancePath}`,
    }));
    violations.addAll(errors, {
      queryNames: [],
      headerNames: new Map(),
      subject: `the ${code} of ${operation.operationId}`,
    });
    const refusal = violations.refusal();
    if (refusal !== null) throw new ForbiddenBodyError(refusal);
  };
}

function isCreate(body: unknown): body is (request: SentRequest) => unknown {
  return typeof body === 'function';
}

/** Returns a function that creates a body and checks it. Rejects with a 422 if `create` throws. */
function withCheck(
  create: (request: SentRequest) => unknown,
  requireValid: (body: unknown) => void,
  prefix: string,
): Required<Override>['createBody'] {
  return async (request) => {
    let body: unknown;
    try {
      body = await create(request);
    } catch (error) {
      throw invalidField(`${prefix}body`, `is a function that threw: ${error}`);
    }
    requireValid(body);
    return body;
  };
}
