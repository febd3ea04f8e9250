import createFetchClient from 'openapi-fetch';
import type { Clock } from './clock.ts';
import type { Method } from './contract.ts';
import { UnexpectedResponseError } from './errors.ts';
import { type Parameters, parametersOf } from './parameters.ts';
import { nameOf, send } from './sending.ts';
import type { Settings } from './settings.ts';

/** Calls any operation, without its types; `client.ts` adds them. */
export type Call = (method: Method, path: string, options?: LooseOptions) => Promise<LooseResult>;

export type LooseOptions = {
  readonly params?: Parameters;
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
};

export type LooseResult = Received & ({ readonly data?: unknown } | { readonly error: Exception });

type Received = {
  readonly ok: boolean;
  readonly status: number;
  readonly headers: Headers;
  readonly response: Response;
  readonly tries: number;
};

type Exception = { readonly message: string };

/** openapi-fetch builds the request and reads the response; `send` handles the key, time limits and retries. */
export function createCall(settings: Settings, clock: Clock): Call {
  const client = createFetchClient<LoosePaths>({ baseUrl: settings.baseUrl });
  return async (method, path, { params = {}, body, signal } = {}) => {
    let name = '';
    let tries = 0;
    const { response, data, error } = await client.request(method, path, {
      params: parametersOf(method, path, params),
      body,
      parseAs: 'text',
      fetch: async (request) => {
        name = nameOf(request);
        const sent = await send(request, { settings, clock, signal });
        tries = sent.tries;
        return sent.response;
      },
    });
    const { ok, status, headers } = response;
    const received = { ok, status, headers, response, tries };
    if (status === 204 || status === 304) return received;
    if (ok) return { ...received, data: parsed(data) ?? unexpected(name, status) };
    return isException(error) ? { ...received, error } : unexpected(name, status);
  };
}

function unexpected(name: string, status: number): never {
  throw new UnexpectedResponseError(name, { status, reason: 'its body is not one that Charter sends' });
}

/** Undefined if the text is not JSON. */
function parsed(text: unknown): unknown {
  try {
    return JSON.parse(String(text));
  } catch {
    return undefined;
  }
}

/** Whether it has what every exception of the contract has. */
function isException(error: unknown): error is Exception {
  return typeof error === 'object' && error !== null && 'message' in error && typeof error.message === 'string';
}

/** The `paths` type that openapi-fetch needs, for any contract. */
type LoosePaths = Record<string, Record<Method, LooseOperation>>;
type LooseOperation = {
  parameters: Parameters;
  requestBody?: { content: { 'application/json': unknown } };
  responses: Record<200 | 500, { content: { 'application/json': unknown } }>;
};
