import type { Actor } from '../../../src/domain/audit/actor.ts';
import { issueKey } from '../../../src/service/keys/issue-key.ts';
import { revokeKey } from '../../../src/service/keys/revoke-key.ts';
import { rotateKey } from '../../../src/service/keys/rotate-key.ts';
import { orThrow } from '../../../src/service/outcome.ts';
import { deactivateUser } from '../../../src/service/people/change-user.ts';
import { inviteUser } from '../../../src/service/people/invitations.ts';
import type { Database } from '../../../src/store/sql/database.ts';
import { READ, READ_WRITE } from './actors.ts';
import { createTeam, type Team } from './team.ts';

export type RealisticTeam = Team & {
  /** An active key of the administrator. */
  readonly keyId: string;
  /** A key of the administrator that was rotated. */
  readonly rotatedKeyId: string;
  /** A key of the member that is in use. */
  readonly usedKeyId: string;
  /** A member without keys. */
  readonly newcomer: Actor;
  readonly deactivatedId: string;
  /** The token of an unused invitation. */
  readonly invitation: string;
};

const DAY_MS = 86_400_000;

/** A team after a year of work: keys in every state, an invited and a deactivated user, short and long names. */
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

/** Sets times of creation and use in the past, for a realistic list. */
async function age(
  { prisma }: Database,
  id: string,
  { createdAgoMs, usedAgoMs }: Record<'createdAgoMs' | 'usedAgoMs', number>,
) {
  const ago = (ms: number) => new Date(Date.now() - ms);
  const data = { createdAt: ago(createdAgoMs), lastUsedAt: ago(usedAgoMs) };
  await prisma.apiKey.updateMany({ where: { id }, data });
}

/** Requests of every hour of a month, most of them successful. */
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

/** Names of the maximum length without a space: 200 characters, 100 for a key; and ten active keys. */
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
