import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { type Environment, hasRecordedExpiry } from '../domain/api-key.ts';
import { clientProductOf } from '../domain/client-product.ts';
import { ExpiredKeyError, ForbiddenAddressError, UnauthenticatedError } from '../domain/errors.ts';
import { addressIn, networkOf } from '../domain/network.ts';
import {
  acceptKey,
  callerOf,
  type FindKey,
  findKnownKey,
  type KnownKey,
  type RecordExpiry,
  refuseAddress,
  requirePermission,
  unknownKeyIn,
} from '../service/authenticate.ts';
import type { UseRecorder } from '../traffic/last-used.ts';
import type { Traffic } from '../traffic/traffic.ts';
import type { ApiRequest } from './api-request.ts';
import { keyHashOf, keyOf } from './authentication.ts';
import type { ContractApiDeps } from './contract-api.ts';
import { applyAdmission, TOO_MANY_FROM_FORBIDDEN_ADDRESS, TOO_MANY_WITHOUT_KEY } from './rate-limit-fields.ts';

export type KeyStepsDeps = {
  readonly findKey: FindKey;
  readonly environment: Environment;
  readonly cell: string | null;
  readonly now: () => Date;
  readonly traffic: Pick<Traffic, 'limiter' | 'keyUses' | 'pause'>;
  /** The address of the client, behind trusted proxies too. */
  readonly clientAddressOf: (req: IncomingMessage) => string;
  readonly recordExpiry: RecordExpiry;
};

/** The steps of a request that are about its key: whose it is, how much it may send, and what it may do. */
export function keySteps(deps: KeyStepsDeps): Pick<ContractApiDeps, 'authenticate' | 'limit' | 'permit'> {
  const { findKey, environment, cell, now, traffic, clientAddressOf, recordExpiry } = deps;
  const { limiter, keyUses, pause } = traffic;
  return {
    async authenticate(request) {
      const { req } = request;
      let known: KnownKey | undefined;
      try {
        known = await findKnownKey(keyHashOf(req, environment), { findKey, now, keyUses });
        request.exchange.key = known.record;
        // The response counts as one to the key, whether or not the key is accepted.
        request.use = known.use;
        request.key = acceptKey(known);
        if (known.record.allowedAddresses !== null) refuseAddress(known.record, addressIn(clientAddressOf(req)));
      } catch (error) {
        if (known !== undefined && error instanceof ExpiredKeyError && !hasRecordedExpiry(known.record))
          await recordExpiry(known.record, error.expiresAt);
        // Before the limits of the key, which nobody else must be able to use up.
        const isFromForbidden = error instanceof ForbiddenAddressError;
        if (!isFromForbidden && !(error instanceof UnauthenticatedError)) throw error;
        const isUnknown = error instanceof UnauthenticatedError && error.reason === 'unknown';
        if (await limiter.admitAddress(clientAddressOf(req))) throw isUnknown ? unknownKeyIn(cell, keyOf(req)) : error;
        await pause();
        throw isFromForbidden ? TOO_MANY_FROM_FORBIDDEN_ADDRESS : TOO_MANY_WITHOUT_KEY;
      }
    },
    limit(request, further) {
      const admission = limiter.admitKey(request.key.record, further);
      if (admission instanceof Promise) return admission.then((decided) => applyAdmission(request, decided));
      if (admission !== null) applyAdmission(request, admission);
    },
    permit(request) {
      request.caller = callerOf(request.key, () => addressIn(clientAddressOf(request.req)));
      recordClient(request, clientAddressOf);
      requirePermission(request.caller.permissions, request.operation.permission);
    },
  };
}

/** With which recorder, and behind which proxies, the client of an open connection was recorded last. */
type RecordedClient = { readonly use: UseRecorder; readonly forwardedFor: string | string[] | undefined };
const recordedClients = new WeakMap<Socket, RecordedClient>();

/** Records each address at least once between two writes of the uses, without looking at each request of a connection. */
function recordClient({ key: { use, at }, req }: ApiRequest, clientAddressOf: KeyStepsDeps['clientAddressOf']): void {
  const forwardedFor = req.headers['x-forwarded-for'];
  const recorded = recordedClients.get(req.socket);
  if (recorded?.use === use && recorded.forwardedFor === forwardedFor && !use.lacksClient(at)) return;
  recordedClients.set(req.socket, { use, forwardedFor });
  const address = clientAddressOf(req);
  const network = address === '' ? null : networkOf(address);
  use.usedBy({ network, client: clientProductOf(req.headers['user-agent']) }, at);
}
