import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Request } from 'express';
import type { Actor, AuditSource } from '../../domain/audit/actor.ts';
import { MovingError, type Overloaded } from '../../domain/errors.ts';
import type { WebhookTargets } from '../../domain/forbidden-address.ts';
import type { Environment } from '../../domain/keys/api-key.ts';
import type { RequestLimits } from '../../domain/keys/request-limits.ts';
import type { ScannerKeys } from '../../domain/keys/secret-scanning.ts';
import { networkOf } from '../../domain/network.ts';
import type { CommonAddress } from '../../domain/organizations/cells.ts';
import type { SessionEnd } from '../../domain/people/session.ts';
import type { Exchange } from '../../domain/request.ts';
import { FORWARDED } from '../../service/cells/forward-report.ts';
import type { Outbox } from '../../service/mail.ts';
import type { ProviderAccess } from '../../service/provider-access.ts';
import { getSessionState } from '../../service/sign-in/sign-in.ts';
import type { Database } from '../../store/sql/database.ts';
import type { FairQueue } from '../../traffic/fair-queue.ts';
import type { KeyUseWriter } from '../../traffic/last-used.ts';
import type { AssetUrls } from './assets.ts';
import { formCookie, formTokenOf, newFormSecret, readCookies } from './cookies.ts';

export type DashboardDeps = {
  readonly db: Database;
  readonly environment: Environment;
  /** The name of the cell, which is part of new keys; `null` or omitted if the installation is not a cell. */
  readonly cell?: string | null | undefined;
  /**
   * The address at which people reach Charter, such as https://charter.example.org. The default is the address of each request.
   */
  readonly publicUrl?: string | undefined;
  /** The address that this cell shares with others; `null` or omitted if there is no shared address. */
  readonly common?: CommonAddress | null | undefined;
  readonly supportUrl?: string | undefined;
  readonly outbox: Outbox;
  /** The public keys of the secret scanner that sends signed reports of leaked keys. */
  readonly scannerKeys: ScannerKeys;
  /** The addresses to which webhooks may be sent. */
  readonly webhooks: WebhookTargets;
  readonly providers: ProviderAccess;
  /** The rate limits of an organization that has no limits of its own. */
  readonly requestLimits: RequestLimits;
  /** Returns the client's address, which trusted proxies pass on in a header. */
  readonly clientAddressOf: (req: IncomingMessage) => string;
  /** Delays the request if its address sends too many requests without a valid key or session. */
  readonly throttle: (ip: string) => Promise<void>;
  /** Runs the tasks that need the database in turn. Each network of clients is one tenant of the queue. */
  readonly queue: FairQueue;
  /** The writer of key uses. Pages that show uses call `freshen` first. */
  readonly keyUses: Pick<KeyUseWriter, 'freshen' | 'delaySeconds'>;
  readonly now: () => Date;
  /** Whether people reach Charter over HTTPS. If so, cookies are Secure. */
  readonly isHttps: boolean;
  readonly setPageHeaders: (res: ServerResponse) => void;
  /** Reports a bug or an outage. */
  readonly onFault: (error: unknown, requestId: string) => void;
  /** Reports that a request was refused because the server is overloaded. */
  readonly onOverload: (overloaded: Overloaded, exchange: Exchange) => void;
};

export type Dashboard = DashboardDeps & { readonly assets: AssetUrls };

/** A request as the function of a page gets it. */
export type RequestContext = {
  readonly dashboard: Dashboard;
  readonly method: string;
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** Charter's own origin, such as https://charter.example.org. */
  readonly origin: string;
  /** The address that all cells share; `null` if the request came to another address. */
  readonly commonAddress: CommonAddress | null;
  /** Whether another cell says that it has forwarded the request. Any client can send the header, so the value proves nothing. */
  readonly isForwarded: boolean;
  readonly auditSource: AuditSource;
  readonly now: Date;
  /** The session token from the cookie, not yet verified; `null` if the browser sent no session cookie. */
  readonly token: string | null;
  /** The secret in the form cookie. The cookie lasts until the browser is closed. */
  readonly browserSecret: string;
  /** The token that each form on the page must contain. */
  readonly formToken: string;
  /**
   * Runs a task when it is the turn of the client's network. For tasks that need the database or much CPU time. A task must not
   * wait for the client, because the other clients would wait, too.
   */
  readonly inTurn: <T>(task: () => T | Promise<T>) => Promise<T>;
};

export type SignedInContext = RequestContext & {
  readonly actor: Actor;
  readonly token: string;
  /** When the actor last proved who they are in this session; `null` if never. See isProofFresh. */
  readonly provedAt: Date | null;
  /** Whether the organization is moving to another database. During a move, most pages and forms are refused. */
  readonly isMoving: boolean;
};

export function askedUrl({ path, query }: Pick<RequestContext, 'path' | 'query'>): string {
  return query.size === 0 ? path : `${path}?${query}`;
}

/** Returns the same visitor's context for another page. `url` is the path and the query of that page. */
export function contextAt(context: SignedInContext, url: string): SignedInContext {
  const { pathname, searchParams } = new URL(url, context.origin);
  return { ...context, path: pathname, query: searchParams };
}

/** Returns the context of a request, and the cookies that the response must set. */
export function contextOf(req: Request, dashboard: Dashboard): { context: RequestContext; newCookies: string[] } {
  const { session, formSecret: sentSecret } = readCookies(req.headers, dashboard.isHttps);
  const formSecret = sentSecret ?? newFormSecret();
  const auditSource = auditSourceOf(req, dashboard);
  const commonAddress = calledCommonAddress(req, dashboard);
  const queryStart = req.originalUrl.indexOf('?');
  const context: RequestContext = {
    dashboard,
    method: req.method,
    path: req.path,
    params: Object.fromEntries(Object.entries(req.params).map(([name, value]) => [name, String(value)])),
    query: new URLSearchParams(queryStart < 0 ? '' : req.originalUrl.slice(queryStart + 1)),
    origin: commonAddress?.url ?? dashboard.publicUrl ?? `${req.protocol}://${req.headers.host ?? 'localhost'}`,
    commonAddress,
    isForwarded: req.headers[FORWARDED] !== undefined,
    auditSource,
    now: dashboard.now(),
    token: session,
    browserSecret: formSecret,
    formToken: formTokenOf(formSecret),
    inTurn: turnsOf(req, networkOf(auditSource.ip), dashboard.queue),
  };
  return { context, newCookies: sentSecret === null ? [formCookie(formSecret, dashboard.isHttps)] : [] };
}

/** Returns the `inTurn` of a request. If a task itself calls `inTurn`, the nested task runs in the same turn. */
function turnsOf({ socket }: Request, network: string, queue: FairQueue): RequestContext['inTurn'] {
  let hasTurn = false;
  return async (task) => {
    if (hasTurn) return task();
    return queue.run(network, socket, async () => {
      hasTurn = true;
      try {
        return await task();
      } finally {
        hasTurn = false;
      }
    });
  };
}

function auditSourceOf(req: Request, { clientAddressOf }: DashboardDeps): AuditSource {
  const { 'user-agent': userAgent = '' } = req.headers;
  // The server sets this response header before the routes run.
  const requestId = req.res?.getHeader('X-Request-Id');
  if (typeof requestId !== 'string') throw new Error('The request has no id.');
  return { ip: clientAddressOf(req), userAgent: userAgent.slice(0, 300), requestId };
}

type Visitor =
  | { readonly kind: 'signed-in'; readonly context: SignedInContext }
  /** `end` is why the cookie's session ended; `null` if the session does not exist or still needs the second factor. */
  | { readonly kind: 'guest'; readonly end: SessionEnd | null };

/**
 * Returns who sends the request. Throws a MovingError if the person's organization is moving, unless `allowedDuringMove` is set.
 */
export async function getVisitor(context: RequestContext, { allowedDuringMove = false } = {}): Promise<Visitor> {
  const { token, dashboard, auditSource, now, inTurn } = context;
  if (token === null) return { kind: 'guest', end: null };
  const session = await inTurn(() => getSessionState(dashboard.db, token, auditSource, now));
  switch (session.kind) {
    case 'signed-in': {
      const { actor, provedAt, isMoving } = session;
      if (isMoving && !allowedDuringMove) throw new MovingError();
      return {
        kind: 'signed-in',
        context: { ...context, token, actor, provedAt, isMoving, formToken: formTokenOf(token) },
      };
    }
    case 'second-factor':
      return { kind: 'guest', end: null };
    case 'ended':
      return { kind: 'guest', end: session.end };
  }
}

export async function findSignedIn(context: RequestContext): Promise<SignedInContext | null> {
  const visitor = await getVisitor(context);
  return visitor.kind === 'signed-in' ? visitor.context : null;
}

/** Returns the address that all cells share if the request was sent to that address, otherwise `null`. */
export function calledCommonAddress(
  { headers }: IncomingMessage,
  { common = null }: { readonly common?: CommonAddress | null | undefined },
): CommonAddress | null {
  if (common === null || headers.host === undefined) return null;
  const { protocol, origin } = new URL(common.url);
  // Parsing normalizes the Host header, in which a client may write the default port or uppercase letters.
  const called = URL.parse(`${protocol}//${headers.host}`);
  return called?.origin === origin ? common : null;
}
