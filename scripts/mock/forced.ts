import { type Exchange, messageOfException, messageWith, send } from '../../src/api/answer.ts';
import { SEND_A_KEY } from '../../src/api/authentication.ts';
import type { Operation } from '../../src/api/document.ts';
import { exceptionOf } from '../../src/api/exceptions.ts';
import { encodeJson } from '../../src/api/json-text.ts';
import type { Acting, Plan } from '../../src/api/plan.ts';
import { ForbiddenError, UnauthenticatedError } from '../../src/domain/errors.ts';
import { PERMISSIONS } from '../../src/domain/role.ts';
import { isObject } from './json.ts';
import { type Wish, wishOf } from './prefer.ts';
import { examplesOf, type Source, successOf } from './source.ts';

export type Forcing = {
  readonly operation: Operation;
  readonly plan: Plan<Acting>;
  /** The methods of the path. */
  readonly allow: string;
  readonly source: Source;
  readonly isDynamic: boolean;
};

/**
 * Answers by what `Prefer` asks for, whatever else the request is; false: it asks for nothing, or for a success, which
 * only a request gets that the server would accept.
 */
export async function answerForced(exchange: Exchange, forcing: Forcing): Promise<boolean> {
  try {
    const wish = wishOf(exchange.req.headers['prefer'], forcing.operation);
    if (wish === undefined || wish.status === successOf(forcing.operation)) return false;
    await write(exchange, { ...forcing, wish });
  } catch (error) {
    send(exchange, messageOfException(exceptionOf(error)));
  }
  return true;
}

async function write(exchange: Exchange, forcing: Forcing & { wish: Wish }): Promise<void> {
  const { operation, source, wish } = forcing;
  const example = wish.example ?? fittingExample(forcing);
  const shown = await source({ operation, status: wish.status, example, address: String(exchange.req.url) });
  const { 'Content-type': _, 'X-Request-Id': __, ...headers } = shown.headers;
  const known = Object.entries(serversHeaders(forcing, shown.body)).filter(([name]) => name in headers);
  const bytes = shown.body === undefined ? undefined : encodeJson(shown.body);
  send(exchange, messageWith(wish.status, { ...headers, ...Object.fromEntries(known) }, bytes));
}

/** Of several examples, the one that is of this operation; undefined: the first, or generated data. */
function fittingExample({ operation, plan, allow, wish, isDynamic }: Forcing & { wish: Wish }): string | undefined {
  if (isDynamic) return undefined;
  const words = { 403: `${plan.permission}.`, 405: `${allow}.` }[wish.status] ?? '';
  return examplesOf(operation, wish.status).find(([, { value }]) => JSON.stringify(value).includes(words))?.[0];
}

/** Headers of which the contract shows several values: the server's own code knows which one goes with which body. */
function serversHeaders({ allow, wish }: Forcing & { wish: Wish }, body: unknown): Record<string, string> {
  const message = isObject(body) ? String(body['message']) : '';
  switch (wish.status) {
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
