import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { components } from '../../generated/openapi.d.ts';
import type { Caller } from '../domain/audit/actor.ts';
import { ExpiredKeyError, ForbiddenAddressError, RateLimitedError, UnauthenticatedError } from '../domain/errors.ts';
import { type Environment, hasRecordedExpiry } from '../domain/keys/api-key.ts';
import { clientProductOf } from '../domain/keys/key-usage.ts';
import { addressIn, networkOf } from '../domain/network.ts';
import { formatCount } from '../domain/text.ts';
import {
  acceptKey,
  admitCaller,
  type FindKey,
  getKnownKey,
  type KnownKey,
  parseKeyHash,
  type RecordExpiry,
  requireAllowedAddress,
  requirePermission,
  unknownKeyIn,
} from '../service/authenticate.ts';
import type { Admission } from '../traffic/request-limiter.ts';
import type { Traffic } from '../traffic/traffic.ts';
import type { ApiRequest } from './api-request.ts';
import type { ContractApiDeps } from './contract-api.ts';
import { isRepeated } from './unreadable-request.ts';

export type KeyStepsDeps = {
  readonly findKey: FindKey;
  readonly environment: Environment;
  readonly cell: string | null;
  readonly now: () => Date;
  readonly traffic: Pick<Traffic, 'limiter' | 'keyUses' | 'pause'>;
  /** Returns the address of the client, even behind trusted proxies. */
  readonly clientAddressOf: (req: IncomingMessage) => string;
  readonly recordExpiry: RecordExpiry;
};

/** Creates the steps that concern the key of a request: which key it is, how many requests it may send, and what it may do. */
export function createKeySteps(deps: KeyStepsDeps): Pick<ContractApiDeps, 'authenticate' | 'limit' | 'permit'> {
  const { findKey, environment, cell, now, traffic, clientAddressOf, recordExpiry } = deps;
  const { limiter, keyUses, pause } = traffic;
  return {
    async authenticate(request) {
      const { req } = request;
      let known: KnownKey | undefined;
      try {
        known = await getKnownKey(keyHashOf(req, environment), { findKey, now, keyUses });
        request.exchange.key = known.record;
        // The response is counted as a use of the key, whether or not the key is accepted.
        request.known = known;
        request.key = acceptKey(known);
        if (known.record.allowedAddresses !== null)
          requireAllowedAddress(known.record, addressIn(clientAddressOf(req)));
      } catch (error) {
        if (known !== undefined && error instanceof ExpiredKeyError && !hasRecordedExpiry(known.record))
          await recordExpiry(known.record, error.expiresAt);
        // The limit of the address is checked in place of the key's limits, so that nobody except the key's holder can use up the
        // key's limits.
        const isFromForbidden = error instanceof ForbiddenAddressError;
        if (!isFromForbidden && !(error instanceof UnauthenticatedError)) throw error;
        const isUnknown = error instanceof UnauthenticatedError && error.reason === 'unknown';
        if (await limiter.admitAddress(clientAddressOf(req))) throw isUnknown ? unknownKeyIn(cell, keyOf(req)) : error;
        await pause();
        throw isFromForbidden ? TOO_MANY_FROM_FORBIDDEN_ADDRESS : TOO_MANY_WITHOUT_KEY;
      }
    },
    limit(request) {
      const admission = limiter.admitKey(request.key.record, request.extraItems);
      if (admission instanceof Promise) {
        request.exchange.beginPart('limit');
        return admission.then((decided) => applyAdmission(request, decided));
      }
      if (admission !== null) applyAdmission(request, admission);
    },
    permit(request) {
      request.caller = admitCaller(request.key, () => addressIn(clientAddressOf(request.req)));
      recordClient(request, clientAddressOf);
      requirePermission(request.caller.permissions, request.operation.permissions);
    },
  };
}

/**
 * Records the network and the product of the client. Does nothing if the client that was last recorded for this key is the same,
 * and was recorded within the last second.
 */
function recordClient({ key: { use, at }, req }: ApiRequest, clientAddressOf: KeyStepsDeps['clientAddressOf']): void {
  const { socket, headers } = req;
  const userAgent = headers['user-agent'];
  const source = { remoteAddress: socket.remoteAddress, forwardedFor: headers['x-forwarded-for'], userAgent };
  if (!use.lacksClient(source, at)) return;
  const address = clientAddressOf(req);
  const network = address === '' ? null : networkOf(address);
  use.noteClient({ network, client: clientProductOf(userAgent) }, source, at);
}

/** The Bearer scheme (RFC 6750 section 2.1). The letter case of its name does not matter (RFC 9110 section 11.1). */
const BEARER = /^bearer +(\S+)$/i;
export const SEND_A_KEY = 'Send an API key in the Authorization header: Bearer <API_KEY>.';

/**
 * The last key of each open connection. Most clients send the same key with every request of a connection, and to inspect and
 * hash the key takes 5% of the processor time of a cached response.
 */
const hashed = new WeakMap<Socket, { readonly authorization: string; readonly hash: string }>();

/**
 * Returns the hash of the key in the Authorization header. Throws a 401 unless there is exactly one such header, with a key of
 * this environment.
 */
function keyHashOf(req: IncomingMessage, environment: Environment): string {
  const authorization = authorizationOf(req);
  const known = hashed.get(req.socket);
  if (known?.authorization === authorization) return known.hash;
  const hash = parseKeyHash(keyIn(authorization), environment);
  hashed.set(req.socket, { authorization, hash });
  return hash;
}

/** Returns the key in the Authorization header. Throws a 401 unless there is exactly one such header. */
export function keyOf(req: IncomingMessage): string {
  return keyIn(authorizationOf(req));
}

function authorizationOf(req: IncomingMessage): string {
  const { authorization } = req.headers;
  if (authorization === undefined) throw new UnauthenticatedError(SEND_A_KEY, 'missing');
  // If there are several such headers, a proxy in front of the server may have checked a header other than the first one.
  if (isRepeated(req.rawHeaders, 'authorization')) {
    throw new UnauthenticatedError('There are several Authorization headers. Send one.', 'malformed');
  }
  return authorization;
}

function keyIn(authorization: string): string {
  const key = BEARER.exec(authorization)?.[1];
  if (key === undefined)
    throw new UnauthenticatedError(`The Authorization header is not in the Bearer scheme. ${SEND_A_KEY}`, 'malformed');
  return key;
}

/** Sets the rate limit fields of the response (draft-ietf-httpapi-ratelimit-headers-11). Throws if the limit refuses the request. */
export function applyAdmission(request: ApiRequest, admission: Admission): void {
  const { isAdmitted, limits, closest, remaining, retryAfterSeconds = 1 } = admission;
  const texts = textsOf(limits);
  request.rateLimitFields = ['RateLimit-Policy', texts.policy, 'RateLimit', `"${closest}";r=${remaining};t=1`];
  if (isAdmitted) return;
  const refusal = texts.refusals[closest];
  // Every limit allows at least one request per second, so only a batch can lead to a longer wait than one second.
  throw retryAfterSeconds === 1 ? refusal : new RateLimitedError(refusal.message, retryAfterSeconds);
}

/** The limits, in requests per second. `isOwn` means that the key has its own limit, which is below that of its organization. */
type Rates = { readonly perKey: number; readonly perOrganization: number; readonly isOwn: boolean };
type Texts = {
  readonly policy: string;
  /** The errors are created in advance, because capturing a stack takes longer than the rest of a refusal. */
  readonly refusals: Readonly<Record<Admission['closest'], RateLimitedError>>;
};

/**
 * The texts for each combination of limits. There are only a few limits: those in the configuration, those of organizations, and
 * those of keys.
 */
const known = new Map<string, Texts>();
const MAX_KNOWN = 1000;
let last: { readonly rates: Rates; readonly texts: Texts } | undefined;

function textsOf(rates: Rates): Texts {
  const { perKey, perOrganization, isOwn } = rates;
  if (last?.rates.perKey === perKey && last.rates.perOrganization === perOrganization && last.rates.isOwn === isOwn)
    return last.texts;
  const name = `${perKey} ${perOrganization} ${isOwn}`;
  const texts = known.get(name) ?? describe(rates);
  if (known.size >= MAX_KNOWN && !known.has(name)) known.clear();
  known.set(name, texts);
  last = { rates, texts };
  return texts;
}

const WAIT = 'Wait for the number of seconds in Retry-After, then send fewer.';

function describe({ perKey, perOrganization, isOwn }: Rates): Texts {
  const policies = [
    { name: 'key', rate: perKey },
    { name: 'organization', rate: perOrganization },
  ].filter(({ rate }) => rate > 0);
  const perSecond = (rate: number) => `${formatCount(rate, 'request')} per second`;
  return {
    policy: policies.map(({ name, rate }) => `"${name}";q=${rate};w=1`).join(', '),
    refusals: {
      key: new RateLimitedError(
        isOwn
          ? `This API key has a limit of its own: it can send ${perSecond(perKey)}. ${WAIT}`
          : `This API key can send ${perSecond(perKey)}. ${WAIT}`,
        1,
      ),
      organization: new RateLimitedError(
        `All API keys of your organization together can send ${perSecond(perOrganization)}. ${WAIT}`,
        1,
      ),
    },
  };
}

const TOO_MANY_FROM_FORBIDDEN_ADDRESS = new RateLimitedError(
  'Too many requests come from your address with an API key that may not be used from it. Use an allowed address, and wait for the number of seconds in Retry-After.',
  1,
);

const TOO_MANY_WITHOUT_KEY = new RateLimitedError(
  'Too many requests without a valid API key come from your address. Correct the key, and wait for the number of seconds in Retry-After.',
  1,
);

/**
 * Returns the key as the contract shows it. The declared return type lets the compiler refuse a field that the contract does not
 * have.
 */
export function presentKey(caller: Caller): components['schemas']['Key'] {
  return {
    id: caller.keyId,
    name: caller.keyName,
    permissions: [...caller.permissions],
    expires_at: caller.expiresAt?.toISOString() ?? null,
    organization: { id: caller.scope.organizationId, name: caller.organizationName },
    integration: caller.integration,
  };
}
