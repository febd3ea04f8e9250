// Flaws of a request's path, method or key, each with the response that the request must get.

import { METHODS } from 'node:http';
import fc from 'fast-check';
import { isOfTemplate, segmentsOf, sufficientPermissionsOf } from '../../src/contract/document.ts';
import { formatKey } from '../../src/domain/keys/api-key.ts';
import type { Operation } from '../support/contract/contract.ts';
import { badKeys } from '../support/contract/parity-cases.ts';
import { READ } from '../support/data/actors.ts';
import { type Change, flawedDraft, isSendable, OWN_ID, unchanged, withHeader } from './draft.ts';

/** A well-formed key with a correct checksum that no organization has. */
const NOBODYS_KEY = formatKey('live', 'x'.repeat(40));

/** Generates a wrong path, method or key. Each can be combined with any other flaw, and takes precedence over the other flaw. */
export function accessFlaw(operation: Operation, all: readonly Operation[]): fc.Arbitrary<Change> {
  return fc.oneof(wrongAddress(all), wrongMethod(operation, all), wrongKey(operation), fc.constant(byTheOther));
}

/** Requests the caller's row with another organization's key, which must get a 404. */
const byTheOther: Change = (draft) =>
  draft.path.includes(OWN_ID) ? { ...draft, key: 'other organization', subject: 'unknown' } : draft;

function wrongAddress(all: readonly Operation[]): fc.Arbitrary<Change> {
  const ends = fc.constantFrom('/', '/more', '/..', '//', ';x', '%00', '%ff', '/%2e%2e');
  const inserted = fc.tuple(fc.constantFrom(...'/x%.~A'), fc.nat()).map(
    ([text, at]) =>
      (path: string) =>
        path.slice(0, 5 + (at % (path.length - 4))) + text + path.slice(5 + (at % (path.length - 4))),
  );
  const changes = fc.oneof(
    ends.map((end) => (path: string) => path + end),
    inserted,
    fc.constant((path: string) => `/api/${path.slice(5).toUpperCase()}`),
  );
  const isKnown = (path: string) => all.some((operation) => isOfTemplate(operation.path.split('/'), segmentsOf(path)));
  return changes.map(
    (change): Change =>
      (draft) => {
        const path = change(draft.path);
        // If a new last segment forms the path of another operation, the path stays unchanged.
        return isKnown(path)
          ? draft
          : flawedDraft((before) => ({ ...before, path }), { stage: 'address', status: 404 })(draft);
      },
  );
}

function wrongMethod({ path }: Operation, all: readonly Operation[]): fc.Arbitrary<Change> {
  const taken = all.filter((other) => other.path === path).map(({ method }) => method.toUpperCase());
  const allowed = new Set([...taken, ...(taken.includes('GET') ? ['HEAD'] : [])]);
  // CONNECT is excluded, because clients send it only to open a tunnel.
  const others = METHODS.filter((method) => !allowed.has(method) && method !== 'CONNECT');
  return fc
    .constantFrom(...others)
    .map((method) => flawedDraft((draft) => ({ ...draft, method }), { stage: 'address', status: 405 }));
}

function wrongKey(operation: Operation): fc.Arbitrary<Change> {
  const unauthenticated = { stage: 'key', status: 401 } as const;
  const withKey = (key: 'none' | 'revoked' | 'read-only') => (change: Change) => (draft: Parameters<Change>[0]) =>
    change({ ...draft, key });
  const listed = badKeys(NOBODYS_KEY).map(({ headers = {} }) => headers['Authorization']);
  const any = fc.string({ unit: 'binary-ascii' }).filter(isSendable);
  const authorizations = fc.oneof(
    fc.constantFrom(...listed),
    any,
    any.map((text) => `Bearer ${text}`.trim()),
  );
  const isWriting = sufficientPermissionsOf(operation).some((permission) => !READ.some((name) => name === permission));
  return fc.oneof(
    authorizations.map((value) => flawedDraft(withKey('none')(withHeader('Authorization', value)), unauthenticated)),
    fc.constant(flawedDraft(withKey('revoked')(unchanged), unauthenticated)),
    fc.constant(
      isWriting
        ? flawedDraft(withKey('read-only')(unchanged), { stage: 'permission', status: 403 })
        : withKey('read-only')(unchanged),
    ),
  );
}
