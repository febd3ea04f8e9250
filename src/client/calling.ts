import createFetchClient from 'openapi-fetch';
import type { Clock } from './clock.ts';
import type { Method } from './contract.ts';
import { UnexpectedAnswerError } from './errors.ts';
import { type Parameters, parametersOf } from './parameters.ts';
import { nameOf, send } from './sending.ts';
import type { Settings } from './settings.ts';

/** A call of any operation, without the operation's types; `charter-client.ts` adds them. */
export type Call = (method: Method, path: string, options?: LooseOptions) => Promise<LooseAnswer>;

export type LooseOptions = {
  readonly params?: Parameters;
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
};

export type LooseAnswer = Received & ({ readonly data?: unknown } | { readonly error: Exception });

type Received = {
  readonly ok: boolean;
  readonly status: number;
  readonly headers: Headers;
  readonly response: Response;
  readonly tries: number;
};

type Exception = { readonly message: string };

/** openapi-fetch writes the request and reads the answer; `send` decides what is sent, how often and for how long. */
export function createCall(settings: Settings, clock: Clock): Call {
  const client = createFetchClient<LoosePaths>({ baseUrl: settings.baseUrl });
  return async (method, path, { params = {}, body, signal } = {}) => {
    let what = '';
    let tries = 0;
    const { response, data, error } = await client.request(method, path, {
      params: parametersOf(method, path, params),
      body,
      parseAs: 'text',
      fetch: async (request) => {
        what = nameOf(request);
        const sent = await send(request, { settings, clock, signal });
        tries = sent.tries;
        return sent.response;
      },
    });
    const { ok, status, headers } = response;
    const received = { ok, status, headers, response, tries };
    if (status === 204 || status === 304) return received;
    if (ok) return { ...received, data: parsed(data) ?? unexpected(what, status) };
    return isException(error) ? { ...received, error } : unexpected(what, status);
  };
}

function unexpected(what: string, status: number): never {
  throw new UnexpectedAnswerError(what, { status, reason: 'what came with it is not what Charter sends' });
}

/** Undefined where it is no JSON. */
function parsed(text: unknown): unknown {
  try {
    return JSON.parse(String(text));
  } catch {
    return undefined;
  }
}

/** The one shape of the contract's every exception. */
function isException(error: unknown): error is Exception {
  return typeof error === 'object' && error !== null && 'message' in error && typeof error.message === 'string';
}

/** What openapi-fetch needs to know of a contract, when it is any. */
type LoosePaths = Record<string, Record<Method, LooseOperation>>;
type LooseOperation = {
  parameters: Parameters;
  requestBody?: { content: { 'application/json': unknown } };
  responses: Record<200 | 500, { content: { 'application/json': unknown } }>;
};
