import type { Actor } from '../../../src/domain/audit/actor.ts';
import { ROLES, type Role } from '../../../src/domain/people/role.ts';
import { issueKey } from '../../../src/service/keys/issue-key.ts';
import { revokeKey } from '../../../src/service/keys/revoke-key.ts';
import { rotateKey } from '../../../src/service/keys/rotate-key.ts';
import { orThrow } from '../../../src/service/outcome.ts';
import { deactivateUser } from '../../../src/service/people/change-user.ts';
import { inviteUser } from '../../../src/service/people/invitations.ts';
import { sendTestEvent } from '../../../src/service/webhooks/deliveries.ts';
import { disableEndpoint } from '../../../src/service/webhooks/disabling.ts';
import { rotateEndpointSecret } from '../../../src/service/webhooks/endpoints.ts';
import type { Database } from '../../../src/store/sql/database.ts';
import { cheapPasswordHash, newAuditSource } from './accounts.ts';
import { byRole, createActors, createScope, READ, READ_WRITE } from './actors.ts';
import { type Attempt, addEndpoint, countDay, withoutMail, writeAttempts, writeEvent } from './webhooks.ts';

export const NAMES: Record<Role, string> = {
  administrator: 'Adaeze Okafor',
  manager: 'Mateo Lindqvist',
  member: 'Mei Tanaka',
  viewer: 'Viktor Dahl',
};
export const ORGANIZATION = 'Northwind Learning Alliance';

/** One user of each role. Their password is PASSWORD. */
export type Team = { readonly organizationId: string } & Readonly<Record<Role, Actor>>;

let made = 0;

/** Creates a typical organization. Its e-mail addresses are unique, so that the tests of a file can share a server. */
export async function createTeam(db: Database): Promise<Team> {
  made += 1;
  const passwordHash = await cheapPasswordHash();
  const domain = made === 1 ? 'northwind.example' : `northwind-${made}.example`;
  const scope = await createScope(db, { name: ORGANIZATION });
  const users = ROLES.map((role) => ({ role, name: NAMES[role], email: `${role}@${domain}`, passwordHash }));
  const actors = (await createActors(db, scope, users)).map((actor): Actor => {
    return { ...actor, organizationName: ORGANIZATION, auditSource: newAuditSource() };
  });
  return { organizationId: scope.organizationId, ...byRole(actors) };
}

type RealisticTeam = Team & {
  /** An active key of the administrator. */
  readonly keyId: string;
  /** A rotated key of the administrator. */
  readonly rotatedKeyId: string;
  /** A key of the member that is in use. */
  readonly usedKeyId: string;
  /** A member without keys. */
  readonly newcomer: Actor;
  readonly deactivatedId: string;
  /** The token of an unused invitation. */
  readonly invitation: string;
};

/** Creates a team as it is after a year of work: keys in every state, an invited and a deactivated user, short and long names. */
export async function createRealisticTeam(db: Database): Promise<RealisticTeam> {
  const team = await createTeam(db);
  const { administrator, manager, member } = team;
  const newcomer = (await createTeam(db)).member;
  const nightly = await make(db, administrator, { name: 'Nightly import, production' });
  const reporting = await make(db, administrator, { name: 'Reporting', permissions: READ, lifeDays: 21 });
  const leaked = await make(db, administrator, { name: 'Laptop of a contractor' });
  orThrow(await revokeKey(db, manager, { keyId: leaked.id, userId: administrator.userId }));
  const staging = await make(db, administrator, { name: 'Nightly import, staging' });
  orThrow(await rotateKey(db, administrator, { keyId: staging.id, userId: administrator.userId, environment: 'live' }));
  const enrolment = orThrow(
    await issueKey(db, manager, {
      userId: member.userId,
      name: 'Enrolment sync of all partner universities, weekdays',
      permissions: READ_WRITE,
      lifeDays: 90,
      environment: 'live',
    }),
  );
  await age(db, nightly.id, { createdAgoMs: 92 * DAY_MS, usedAgoMs: 12 * 60_000 });
  await age(db, reporting.id, { createdAgoMs: 344 * DAY_MS, usedAgoMs: 3 * 3_600_000 });
  await age(db, leaked.id, { createdAgoMs: 61 * DAY_MS, usedAgoMs: 2 * DAY_MS });
  await useOften(db, nightly.id);
  await useOften(db, enrolment.id);
  await restrict(db, enrolment.id);
  await age(db, staging.id, { createdAgoMs: 92 * DAY_MS, usedAgoMs: 5 * 60_000 });
  await age(db, enrolment.id, { createdAgoMs: 12 * DAY_MS, usedAgoMs: 7 * 60_000 });
  const { token } = await invite(db, administrator, 'Noor Haddad');
  const gone = await invite(db, administrator, 'Bartholomew Featherstonehaugh-Cholmondeley');
  orThrow(await deactivateUser(db, administrator, { userId: gone.userId }));
  return {
    ...team,
    keyId: nightly.id,
    rotatedKeyId: staging.id,
    usedKeyId: enrolment.id,
    newcomer,
    deactivatedId: gone.userId,
    invitation: token,
  };
}

async function make(
  db: Database,
  owner: Actor,
  change: { name: string; permissions?: typeof READ; lifeDays?: number },
) {
  const request = { userId: owner.userId, permissions: READ_WRITE, lifeDays: 365, environment: 'live' } as const;
  return orThrow(await issueKey(db, owner, { ...request, ...change }));
}

async function invite(db: Database, by: Actor, name: string) {
  const email = `${name.toLowerCase().replaceAll(' ', '.')}@${by.email.split('@')[1]}`;
  return orThrow(await inviteUser(db, by, { email, name, role: 'member' })).link;
}

/** Moves the times of creation and last use of a key into the past, for a realistic list. */
async function age(
  { prisma }: Database,
  id: string,
  { createdAgoMs, usedAgoMs }: Record<'createdAgoMs' | 'usedAgoMs', number>,
) {
  const ago = (ms: number) => new Date(Date.now() - ms);
  const data = { createdAt: ago(createdAgoMs), lastUsedAt: ago(usedAgoMs) };
  await prisma.apiKey.updateMany({ where: { id }, data });
}

/** Adds requests with a key to every day of a month and every hour of two days. Most of the requests are successful. */
async function useOften({ prisma, pool }: Database, id: string): Promise<void> {
  const { organizationId } = await prisma.apiKey.findFirstOrThrow({ where: { id } });
  await pool.query(
    `insert into key_uses (organization_id, key_id, period, starts_at, successful, refused, failed)
     select $1::uuid, $2::uuid, 'day'::use_period, date_trunc('day', now(), 'UTC') - i * interval '1 day',
            9000 + 2500 * sin(i), case when i % 7 = 0 then 1800 else 40 end, case when i = 9 then 1500 else i % 3 end
     from generate_series(0, 29) i
     union all
     select $1::uuid, $2::uuid, 'hour'::use_period, date_trunc('hour', now(), 'UTC') - i * interval '1 hour',
            400 + 150 * sin(i / 4.0), case when i between 20 and 23 then 90 else i % 2 end, 0
     from generate_series(0, 47) i`,
    [organizationId, id],
  );
  await pool.query(
    `insert into key_operation_uses (organization_id, key_id, operation, starts_at, successful, refused, failed)
     select $1::uuid, $2::uuid, o.operation, date_trunc('day', now(), 'UTC') - i * interval '1 day', o.count, i % 3, i % 2
     from generate_series(0, 29) i
     cross join (values ('listParentPrograms', 7500), ('upsertParentProgram', 1400), ('batchParentPrograms', 90)) o (operation, count)`,
    [organizationId, id],
  );
  await pool.query(
    `insert into key_requests (organization_id, key_id, at, request_id, operation, status, exception, message, duration_ms)
     select $1::uuid, $2::uuid, now() - i * interval '47 minutes', gen_random_uuid(), r.operation, r.status, r.exception, r.message, 3 + i * i
     from generate_series(0, 59) i join (values
       (0, 'listParentPrograms', 200, '', ''),
       (1, 'upsertParentProgram', 422, 'ValidationException',
         'name must be at most 200 characters long; it has 212. See errors for 1 more field.'),
       (2, 'batchParentPrograms', 429, 'TooManyRequestsException',
         'This API key can send 50 requests per second. Wait for the number of seconds in Retry-After, then send fewer.'),
       (3, 'getParentProgram', 500, 'ServerException',
         'Something went wrong on our side. Try again. If it happens again, contact support and quote the X-Request-Id.'),
       (4, 'deleteParentProgram', 403, 'AuthorizationException', 'This API key lacks the permission parent_programs:write.')
     ) r (place, operation, status, exception, message) on r.place = i % 5`,
    [organizationId, id],
  );
  const lastUse = { lastUsedNetwork: '2001:db8:12:34::/64', lastUsedClient: 'python-requests/2.32.3' };
  const today = new Date().toISOString().slice(0, 10);
  const usedNetworks = { '2001:db8:12:34::/64': today, '203.0.113.7': today, '198.51.100.23': '2026-01-31' };
  await prisma.apiKey.updateMany({ where: { id }, data: { ...lastUse, usedNetworks } });
}

async function restrict({ prisma }: Database, id: string): Promise<void> {
  const longest = '2001:db8:aaaa:bbbb:cccc:dddd:eeee:f000/127';
  const allowedAddresses = ['203.0.113.0/24', '2001:db8:12:34::/64', '198.51.100.23', '192.0.2.16/28', longest];
  await prisma.apiKey.updateMany({ where: { id }, data: { allowedAddresses, requestsPerSecond: 20 } });
}

const LONG = 'Wolfeschlegelsteinhausenbergerdorff'.repeat(6);

/**
 * Creates a team whose names have the maximum length and no spaces: 200 characters, 100 for keys. The administrator has ten
 * active keys.
 */
export async function createLongNamedTeam(db: Database): Promise<Team & { readonly keyId: string }> {
  const team = await createTeam(db);
  const name = LONG.slice(0, 200);
  await db.prisma.organization.update({ where: { id: team.organizationId }, data: { name } });
  await db.prisma.user.updateMany({ where: { organizationId: team.organizationId }, data: { name } });
  const [first] = await Promise.all(
    Array.from({ length: 10 }, (_, i) => make(db, team.administrator, { name: `${i}${LONG}`.slice(0, 100) })),
  );
  const { member, manager } = team;
  orThrow(
    await issueKey(db, manager, {
      userId: member.userId,
      name: LONG.slice(0, 100),
      permissions: READ_WRITE,
      lifeDays: 20,
      environment: 'live',
    }),
  );
  const { id } = await make(db, manager, { name: LONG.slice(0, 99) });
  orThrow(await revokeKey(db, manager, { keyId: id, userId: manager.userId }));
  return { ...team, keyId: first?.id ?? '' };
}

type RealisticWebhooks = {
  /** An endpoint that accepts most events at the first attempt. */
  readonly endpointId: string;
  /** The delivery to this endpoint that failed once before it succeeded. */
  readonly retriedId: string;
  /** The delivery to this endpoint whose attempts all failed. */
  readonly failedId: string;
  /** An endpoint that Charter has disabled. */
  readonly disabledId: string;
};

const [MINUTE_MS, HOUR_MS, DAY_MS] = [60_000, 3_600_000, 86_400_000];
const NO_RESPONSE: Attempt = { status: null, error: 'No response within 15 seconds.', durationMs: 15_002 };
const ACCEPTED: Attempt = { status: 202, body: Uint8Array.from(Buffer.from('{"queued": true}')), durationMs: 87 };
const BROKEN: Attempt = {
  status: 503,
  body: Uint8Array.from(
    Buffer.from('<html>\n<head><title>503 Service Temporarily Unavailable</title></head>\n</html>\n'),
  ),
  durationMs: 41,
};

/**
 * Creates three endpoints as they are after a week of work: one that works, one that fails, and one that Charter has disabled.
 */
export async function addRealisticWebhooks(
  db: Database,
  { administrator, organizationId }: Team,
): Promise<RealisticWebhooks> {
  const { scope } = administrator;
  const { id: endpointId } = await addEndpoint(db, administrator, {
    url: 'https://hooks.northwind.example/charter/parent-programs?source=live',
  });
  const failing = await addEndpoint(db, administrator, {
    url: 'https://enrolment.partner-university.example/integrations/webhooks/v2/charter',
    eventTypes: ['parent_program.created', 'parent_program.deleted'],
  });
  const disabled = await addEndpoint(db, administrator, {
    url: 'https://reports.northwind.example/events',
    eventTypes: ['parent_program.deleted'],
  });
  await disableEndpoint(withoutMail(db), scope, { id: disabled.id, url: disabled.url, reason: 'failing' });
  const failingSince = new Date(Date.now() - 2 * DAY_MS);
  await db.prisma.webhookEndpoint.updateMany({ where: { id: failing.id }, data: { failingSince } });
  orThrow(await rotateEndpointSecret(db, administrator, { endpointId }));
  const now = new Date();
  for (let daysAgo = 0; daysAgo < 7; daysAgo += 1) {
    const succeeded = 640 + Math.round(300 * Math.sin(daysAgo));
    await countDay(
      db,
      { organizationId, endpointId },
      { now, daysAgo, succeeded, failed: daysAgo === 2 ? 180 : daysAgo % 3 },
    );
    await countDay(
      db,
      { organizationId, endpointId: failing.id },
      { now, daysAgo, succeeded: daysAgo > 2 ? 50 : 0, failed: 9 },
    );
  }
  const messages: string[] = [];
  for (let i = 0; i < 30; i += 1) messages.push(await writeEvent(db, scope, `Nordic Business Studies ${i}`));
  const [failedId = '', retriedId = '', ...others] = messages.toReversed();
  const write = (messageId: string, attempts: readonly Attempt[], state?: 'pending' | 'succeeded' | 'failed') =>
    writeAttempts(db, { organizationId, endpointId, messageId }, attempts, state);
  const at = (agoMs: number) => new Date(now.getTime() - agoMs);
  for (const [i, messageId] of others.slice(1).entries())
    await write(messageId, [{ ...ACCEPTED, at: at((i + 2) * 9 * MINUTE_MS) }]);
  await write(others[0] ?? '', [{ ...NO_RESPONSE, at: at(2 * MINUTE_MS) }], 'pending');
  await write(retriedId, [
    { ...NO_RESPONSE, at: at(20 * MINUTE_MS) },
    { ...BROKEN, at: at(19 * MINUTE_MS) },
    { ...ACCEPTED, at: at(14 * MINUTE_MS) },
  ]);
  const tries = Array.from({ length: 8 }, (_, i) => ({
    ...(i % 2 === 0 ? BROKEN : NO_RESPONSE),
    at: at((28 - 3 * i) * HOUR_MS),
  }));
  await write(failedId, tries, 'failed');
  await sendTestEvent(db, administrator, { endpointId });
  return { endpointId, retriedId, failedId, disabledId: disabled.id };
}
