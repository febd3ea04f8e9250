import type { ApiRequest } from '../../src/api/api-request.ts';
import { SEND_A_KEY } from '../../src/api/authentication.ts';
import type { Operation } from '../../src/api/document.ts';
import { exceptionOf } from '../../src/api/exceptions.ts';
import { encodeJson } from '../../src/api/json-text.ts';
import { rawResponse, send } from '../../src/api/response.ts';
import { ForbiddenError, UnauthenticatedError } from '../../src/domain/errors.ts';
import { PERMISSIONS } from '../../src/domain/role.ts';
import { isObject } from './json-schema.ts';
import { type Preference, preferenceOf } from './prefer.ts';
import { examplesOf, type Source, successOf } from './response-source.ts';

export type Forcing = {
  readonly operation: Operation;
  readonly source: Source;
  readonly isDynamic: boolean;
};

/**
 * Answers with the response that `Prefer` asks for, whatever else the request is. Returns false where it asks for nothing, or
 * for a success, which only a request gets that the server would accept. Throws a 422 for what the contract does not have.
 */
export async function answerForced(request: ApiRequest, forcing: Forcing): Promise<boolean> {
  const preference = preferenceOf(request.headers['prefer'], forcing.operation);
  if (preference === undefined || preference.status === successOf(forcing.operation)) return false;
  await write(request, { ...forcing, preference });
  return true;
}

type Forced = Forcing & { readonly preference: Preference };

async function write(request: ApiRequest, forced: Forced): Promise<void> {
  const { operation, source, preference } = forced;
  const example = preference.example ?? fittingExample(request, forced);
  const found = await source({ operation, status: preference.status, example, address: request.url });
  const { 'Content-type': _, 'X-Request-Id': __, ...headers } = found.headers;
  const known = Object.entries(serversHeaders(request, forced, found.body)).filter(([name]) => name in headers);
  const bytes = found.body === undefined ? undefined : encodeJson(found.body);
  send(request, rawResponse(preference.status, { ...headers, ...Object.fromEntries(known) }, bytes));
}

/** The example that fits this operation, where there are several; undefined: the first, or generated data. */
function fittingExample(request: ApiRequest, { operation, preference, isDynamic }: Forced): string | undefined {
  if (isDynamic) return undefined;
  const words = { 403: `${request.operation.permission}.`, 405: `${request.allow}.` }[preference.status] ?? '';
  return examplesOf(operation, preference.status).find(([, { value }]) => JSON.stringify(value).includes(words))?.[0];
}

/** Headers for which the contract shows several values: the server's own code knows which one goes with which body. */
function serversHeaders({ allow }: ApiRequest, { preference }: Forced, body: unknown): Record<string, string> {
  const message = isObject(body) ? String(body['message']) : '';
  switch (preference.status) {
    case 401:
      return exceptionOf(new UnauthenticatedError(message, { presented: message !== SEND_A_KEY })).headers;
    case 403:
      return exceptionOf(
        new ForbiddenError(
          message,
          PERMISSIONS.find((permission) => message.includes(permission)),
        ),
      ).headers;
    case 405:
      return { Allow: allow };
    default:
      return {};
  }
}
