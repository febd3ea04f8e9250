import { exportedFunctions } from '../support/contract/exports.ts';
import { createTenant, useDatabase } from '../support/postgres/store.ts';
import { apiKeyProofs, keyRestrictionProofs } from './isolation/api-keys.ts';
import { auditProofs } from './isolation/audit.ts';
import { eventProofs } from './isolation/events.ts';
import { idempotencyKeyProofs } from './isolation/idempotency-keys.ts';
import { integrationProofs } from './isolation/integrations.ts';
import {
  keyHistoryProofs,
  keyHolderProofs,
  keyListProofs,
  keyRotationProofs,
  keyUseProofs,
  organizationKeyProofs,
} from './isolation/key-lists.ts';
import { keyCheckProofs, keyNoticeProofs, shownNoticeProofs } from './isolation/key-notices.ts';
import { organizationMoveProofs, organizationRowProofs } from './isolation/organization-moves.ts';
import { organizationProofs } from './isolation/organizations.ts';
import { keyOfWriteProofs, listProofs, parentProgramListProofs, rowProofs } from './isolation/parent-programs.ts';
import { passkeyProofs } from './isolation/passkeys.ts';
import { peopleProofs, policyProofs } from './isolation/people.ts';
import type { Proofs } from './isolation/proof.ts';
import { rowBatchProofs } from './isolation/row-batches.ts';
import { accessLinkProofs, auditLogProofs, sessionProofs } from './isolation/sessions.ts';
import {
  ssoConnectionProofs,
  ssoDomainProofs,
  ssoIdentityProofs,
  ssoSignInProofs,
} from './isolation/single-sign-on.ts';
import { userListProofs } from './isolation/user-lists.ts';
import { userProofs } from './isolation/users.ts';
import { webhookEndpointProofs, webhookHistoryProofs } from './isolation/webhooks.ts';

const PROOFS: Record<string, Proofs> = {
  'access-links.ts': accessLinkProofs,
  'api-keys.ts': apiKeyProofs,
  'audit-log.ts': auditLogProofs,
  'audit.ts': auditProofs,
  'events.ts': eventProofs,
  'idempotency-keys.ts': idempotencyKeyProofs,
  'key-history.ts': keyHistoryProofs,
  'key-holder.ts': keyHolderProofs,
  'key-lists.ts': keyListProofs,
  'key-of-write.ts': keyOfWriteProofs,
  'key-checks.ts': keyCheckProofs,
  'key-notices.ts': keyNoticeProofs,
  'shown-notices.ts': shownNoticeProofs,
  'key-restrictions.ts': keyRestrictionProofs,
  'key-rotations.ts': keyRotationProofs,
  'key-uses.ts': keyUseProofs,
  'organization-keys.ts': organizationKeyProofs,
  'organization-moves.ts': organizationMoveProofs,
  'organization-rows.ts': organizationRowProofs,
  'integrations.ts': integrationProofs,
  'list.ts': listProofs,
  'organizations.ts': { ...organizationProofs, ...policyProofs },
  'parent-program-list.ts': parentProgramListProofs,
  'passkeys.ts': passkeyProofs,
  'row-batches.ts': rowBatchProofs,
  'rows.ts': rowProofs,
  'sessions.ts': sessionProofs,
  'sso-connections.ts': ssoConnectionProofs,
  'sso-domains.ts': ssoDomainProofs,
  'sso-identities.ts': ssoIdentityProofs,
  'sso-sign-ins.ts': ssoSignInProofs,
  'webhook-endpoints.ts': webhookEndpointProofs,
  'webhook-history.ts': webhookHistoryProofs,
  'user-lists.ts': userListProofs,
  'users.ts': { ...userProofs, ...peopleProofs },
};
/**
 * Housekeeping, the actions of operators, the write of key uses, the notices about keys, the rotation of encryption keys, the names
 * of earlier API keys, the delivery of webhooks, reports of leaked keys and the rows of a cell, which cover all organizations in one
 * statement.
 */
const OVER_ALL_ORGANIZATIONS = [
  'access-links.ts deleteExpiredAccessLinks',
  'events.ts deleteExpiredEvents',
  'idempotency-keys.ts deleteExpiredIdempotencyKeys',
  'key-networks.ts deleteOldKeyNetworks',
  'key-networks.ts noteNetworks',
  'key-checks.ts checkDueKeys',
  'key-checks.ts endUnusedKeys',
  'key-notices.ts deleteOldKeyNotices',
  'key-uses.ts deleteOldKeyUses',
  'key-uses.ts writeKeyUses',
  'name-keys.ts fillNameKeys',
  'notice-mails.ts claimNoticeMails',
  'notice-mails.ts markMailed',
  'cell-domains.ts listDomainsOfCell',
  'cell-rows.ts countRowsOfCell',
  'moved-keys.ts listKeysOfOtherCells',
  'operator-actions.ts isBeingDeleted',
  'operator-actions.ts listOperatorActions',
  'operator-actions.ts recordOperatorAction',
  'passkey-challenges.ts deleteExpiredChallenges',
  'rate-limits.ts deleteIdleRateLimits',
  'reported-keys.ts findConcernedPeople',
  'reported-keys.ts revokeReportedKeys',
  'secrets.ts retireOtherKeys',
  'sessions.ts deleteExpiredSessions',
  'sign-in-failures.ts deleteExpiredSignInFailures',
  'sso-sign-ins.ts deleteExpiredSsoSignIns',
  'webhook-deliveries.ts claimDeliveries',
  'webhook-deliveries.ts countPendingDeliveries',
  'webhook-deliveries.ts listPendingEndpoints',
  'webhook-expiry.ts deleteExpiredDeliveries',
  'webhook-expiry.ts deleteOldWebhookDays',
  'webhook-expiry.ts eraseExpiredPreviousSecrets',
  'webhook-results.ts recordAttempts',
];
/**
 * Failed attempts are counted by hashes of the input, and requests without a key by address, and a challenge is made before anybody
 * has signed in: no organization is known.
 */
const BEFORE_ANY_ORGANIZATION = [
  'passkey-challenges.ts insertChallenge',
  'passkey-challenges.ts takeChallenge',
  'rate-limits.ts leaseTokens',
  'sign-in-failures.ts countAttempt',
  'sign-in-failures.ts resetAttempts',
  'sign-in-failures.ts isRemembered',
  'sign-in-failures.ts recordUnknownEmail',
  'sign-in-failures.ts remember',
  'sign-in-failures.ts takeBackAttempt',
];
/** Opens connections and runs transactions; reads no row of an organization. */
const OF_THE_CONNECTION = ['database.ts', 'tenant-tables.ts'];
/** Sends a statement that was built for a scope. */
const OF_A_STATEMENT = ['list.ts readPage'];

const database = await useDatabase();

// The attack, for each function: a guessed id, key or name of another organization.
describe.each(Object.keys(PROOFS))('%s', (file) => {
  test.each(Object.entries(PROOFS[file] ?? {}))(
    '%s neither reads nor changes another organization',
    async (_, proof) => {
      const { db } = database;
      await proof({ db, ours: await createTenant(db), theirs: await createTenant(db) });
    },
  );
});

test('every store function with a scope parameter has a proof here', () => {
  const scoped = exportedFunctions('src/store').filter(({ parameters }) => parameters[1] === 'OrganizationScope');
  const proven = Object.entries(PROOFS).flatMap(([file, proofs]) =>
    Object.keys(proofs).map((name) => `${file} ${name}`),
  );
  expect(scoped.map(({ file, name }) => `${file} ${name}`).sort()).toEqual(proven.sort());
});

// The attack: a look-up without the organization, in a file that no review checks for it.
test('a store function without a scope is in unscoped/, or is listed here with a reason', () => {
  const others = exportedFunctions('src/store').filter(
    ({ file, parameters }) =>
      /^(Database|Transaction|PrismaClient|pg\.)/.test(parameters[0] ?? '') &&
      parameters[1] !== 'OrganizationScope' &&
      !OF_THE_CONNECTION.includes(file),
  );
  expect(others.map(({ file, name }) => `${file} ${name}`).sort()).toEqual(
    [...OVER_ALL_ORGANIZATIONS, ...BEFORE_ANY_ORGANIZATION, ...OF_A_STATEMENT].sort(),
  );
});
