import type { IncomingMessage } from 'node:http';
import { type Environment, hasRecordedExpiry } from '../domain/api-key.ts';
import { clientProductOf } from '../domain/client-product.ts';
import { ExpiredKeyError, UnauthenticatedError } from '../domain/errors.ts';
import { networkOf } from '../domain/network.ts';
import {
  acceptKey,
  callerOf,
  type FindKey,
  findKnownKey,
  type KnownKey,
  type RecordExpiry,
  requirePermission,
} from '../service/authenticate.ts';
import type { Traffic } from '../traffic/traffic.ts';
import type { ApiRequest } from './api-request.ts';
import { keyHashOf } from './authentication.ts';
import type { ContractApiDeps } from './contract-api.ts';
import { applyAdmission, TOO_MANY_WITHOUT_KEY } from './rate-limit-fields.ts';

export type KeyStepsDeps = {
  readonly findKey: FindKey;
  readonly environment: Environment;
  readonly now: () => Date;
  readonly traffic: Pick<Traffic, 'limiter' | 'keyUses' | 'pause'>;
  /** The address of the client, behind trusted proxies too. */
  readonly clientAddressOf: (req: IncomingMessage) => string;
  readonly recordExpiry: RecordExpiry;
};

/** The steps of a request that are about its key: whose it is, how much it may send, and what it may do. */
export function keySteps(deps: KeyStepsDeps): Pick<ContractApiDeps, 'authenticate' | 'limit' | 'permit' | 'charge'> {
  const { findKey, environment, now, traffic, clientAddressOf, recordExpiry } = deps;
  const { limiter, keyUses, pause } = traffic;
  return {
    async authenticate(request) {
      const { req } = request;
      let known: KnownKey | undefined;
      try {
        known = await findKnownKey(keyHashOf(req, environment), { findKey, now, keyUses });
        // The response counts as one to the key, whether or not the key is accepted.
        request.use = known.use;
        request.key = acceptKey(known);
      } catch (error) {
        if (known !== undefined && error instanceof ExpiredKeyError && !hasRecordedExpiry(known.record))
          await recordExpiry(known.record, error.expiresAt);
        if (!(error instanceof UnauthenticatedError) || (await limiter.admitAddress(clientAddressOf(req)))) throw error;
        await pause();
        throw TOO_MANY_WITHOUT_KEY;
      }
    },
    limit(request) {
      const admission = limiter.admitKey(request.key.record);
      if (admission instanceof Promise) return admission.then((decided) => applyAdmission(request, decided));
      if (admission !== null) applyAdmission(request, admission);
    },
    charge(request, requests) {
      const admission = limiter.charge(request.key.record, requests);
      if (admission !== null) applyAdmission(request, admission);
    },
    permit(request) {
      request.caller = callerOf(request.key);
      recordClient(request, clientAddressOf);
      requirePermission(request.caller.permissions, request.operation.permission);
    },
  };
}

function recordClient({ key: { use, at }, req }: ApiRequest, clientAddressOf: KeyStepsDeps['clientAddressOf']): void {
  if (!use.lacksClient(at)) return;
  const address = clientAddressOf(req);
  const network = address === '' ? null : networkOf(address);
  use.usedBy({ network, client: clientProductOf(req.headers['user-agent']) }, at);
}
