// The demonstration's API keys with a month of requests, so that newcomers see what the charts show. Nobody can use these keys,
// because only their hashes are stored.
import { randomUUID } from 'node:crypto';
import { v7 as newId } from 'uuid';
import type { operations } from '../generated/openapi.d.ts';
import { type Environment, expiryOf, holderText, mintKey } from '../src/domain/keys/api-key.ts';
import {
  firstShown,
  KEPT_REQUESTS,
  type PeriodUse,
  type RecordedRequest,
  type ResultCounts,
  requestsOf,
  totalOf,
} from '../src/domain/keys/key-usage.ts';
import type { OrganizationScope } from '../src/domain/organizations/organization-scope.ts';
import type { Permission } from '../src/domain/people/role.ts';
import { DAY_MS, HOUR_MS } from '../src/domain/time.ts';
import { insertIntegration } from '../src/store/integrations/integrations.ts';
import { insertApiKey } from '../src/store/keys/api-keys.ts';
import type { Transaction } from '../src/store/sql/database.ts';
import { INTEGRATION } from './demonstration-data.ts';

type DemonstrationKey = {
  readonly name: string;
  /** The e-mail address of a user, or the name of an integration. */
  readonly holder: string;
  readonly permissions: readonly Permission[];
  readonly createdDaysAgo: number;
  readonly lifeDays: number;
  /** `null` if the key is not revoked. */
  readonly revokedDaysAgo: number | null;
  readonly client: string;
  /** An address from the ranges for documentation (RFC 5737). */
  readonly network: string;
  /** The operation that the requests call, and why some requests are refused. */
  readonly operation: keyof operations;
  readonly refusal: Pick<RecordedRequest, 'status' | 'exception' | 'message'>;
  /** Returns the number of requests in the hour that begins at `hour`, by result. */
  readonly requestsIn: (hour: Date) => ResultCounts;
};

const NONE: ResultCounts = { successful: 0, refused: 0, failed: 0 };
const [MANAGER, MEMBER] = ['manager@northwind.example', 'member@northwind.example'];
const REVOKED_DAYS_AGO = 5;
const INTEGRATION_DAYS_AGO = 60;
const REVOKED = { status: 401, exception: 'AuthenticationException', message: 'This API key was revoked.' };
const FAULT = {
  status: 500,
  exception: 'ServerException',
  message:
    'Something went wrong on our side. Try again. If it happens again, contact support and quote the X-Request-Id.',
};

const KEYS: readonly DemonstrationKey[] = [
  {
    name: 'Nightly import, production',
    holder: MANAGER,
    permissions: ['parent_programs:read', 'parent_programs:write'],
    createdDaysAgo: 76,
    lifeDays: 90,
    revokedDaysAgo: null,
    client: 'python-requests/2.32.3',
    network: '203.0.113.40',
    operation: 'upsertParentProgram',
    refusal: { status: 422, exception: 'ValidationException', message: 'name must not be blank.' },
    requestsIn(hour) {
      if (hour.getUTCHours() !== 2) return NONE;
      const day = dayOf(hour);
      return {
        successful: 1800 + variation(day, 400),
        refused: 4 + variation(day, 9),
        failed: day % 11 === 0 ? 130 : 0,
      };
    },
  },
  {
    name: 'Partner portal',
    holder: MEMBER,
    permissions: ['parent_programs:read'],
    createdDaysAgo: 40,
    lifeDays: 180,
    revokedDaysAgo: null,
    client: 'node',
    network: '198.51.100.17',
    operation: 'getParentProgram',
    refusal: { status: 404, exception: 'NotFoundException', message: 'There is no parent program with this id.' },
    requestsIn(hour) {
      const isWeekend = hour.getUTCDay() % 6 === 0;
      const isWorkingHour = hour.getUTCHours() >= 7 && hour.getUTCHours() < 19;
      const usual = isWorkingHour && !isWeekend ? 220 : 14;
      const successful = usual + variation(hour.getTime() / HOUR_MS, usual / 2);
      return { successful, refused: Math.floor(successful / 60), failed: 0 };
    },
  },
  {
    name: 'Reporting script',
    holder: MANAGER,
    permissions: ['parent_programs:read'],
    createdDaysAgo: 130,
    lifeDays: 365,
    revokedDaysAgo: REVOKED_DAYS_AGO,
    client: 'curl/8.5.0',
    network: '203.0.113.40',
    operation: 'listParentPrograms',
    refusal: REVOKED,
    requestsIn: (hour) => (hour.getUTCHours() % 6 === 0 ? { ...NONE, successful: 24 } : NONE),
  },
  {
    name: 'Enrolment sync, production',
    holder: INTEGRATION.name,
    permissions: ['parent_programs:read', 'parent_programs:write'],
    createdDaysAgo: 55,
    lifeDays: 365,
    revokedDaysAgo: null,
    client: 'node',
    network: '203.0.113.52',
    operation: 'listEvents',
    refusal: REVOKED,
    requestsIn: (hour) => ({ successful: 8, refused: 0, failed: hour.getUTCHours() === 5 ? 1 : 0 }),
  },
  {
    name: 'Staging tests',
    holder: MEMBER,
    permissions: ['parent_programs:read', 'parent_programs:write'],
    createdDaysAgo: 2,
    lifeDays: 30,
    revokedDaysAgo: null,
    client: '',
    network: '',
    operation: 'getKey',
    refusal: REVOKED,
    requestsIn: () => NONE,
  },
];

type SeedOptions = { readonly environment: Environment; readonly now: Date };

/** Adds an integration and the keys to an organization. The organization must have the demonstration's users. */
export async function seedKeys(
  tx: Transaction,
  scope: OrganizationScope,
  { environment, now }: SeedOptions,
): Promise<void> {
  const { organizationId } = scope;
  const ago = (days: number) => new Date(now.getTime() - days * DAY_MS);
  const users = await tx.user.findMany({ where: { organizationId }, select: { id: true, name: true, email: true } });
  const owner = users.find(({ email }) => email === INTEGRATION.ownerEmail);
  if (owner === undefined) throw new Error(`The demonstration has no user ${INTEGRATION.ownerEmail}.`);
  const { ownerEmail: _, ...integration } = INTEGRATION;
  const added = { ...integration, id: newId(), ownerUserId: owner.id };
  await insertIntegration(tx, scope, added);
  await tx.user.updateMany({
    where: { organizationId, id: added.id },
    data: { createdAt: ago(INTEGRATION_DAYS_AGO) },
  });
  const holders = [...users, { ...added, email: null }];
  for (const key of KEYS) {
    const holder = holders.find((each) => holderText(each) === key.holder);
    if (holder === undefined) throw new Error(`The demonstration has no user ${key.holder}.`);
    const creatorId = holder.email === null ? owner.id : holder.id;
    const [id, createdAt] = [newId(), ago(key.createdDaysAgo)];
    const { hash, prefix } = mintKey(environment);
    await insertApiKey(tx, scope, {
      id,
      userId: holder.id,
      createdByUserId: creatorId,
      name: key.name,
      keyHash: Uint8Array.from(hash),
      prefix,
      permissions: key.permissions,
      expiresAt: expiryOf(createdAt, key.lifeDays),
      createdAt,
    });
    const revokedAt = key.revokedDaysAgo === null ? null : ago(key.revokedDaysAgo);
    const hours = hoursOf(key, { revokedAt, now });
    const lastHour = hours.findLast(({ successful }) => successful > 0);
    await tx.apiKey.updateMany({
      where: { organizationId, id },
      data: {
        revokedAt,
        revokedByUserId: revokedAt === null ? null : creatorId,
        ...(lastHour !== undefined && {
          lastUsedAt: new Date(Math.min(lastHour.startsAt.getTime() + HOUR_MS - 1, now.getTime())),
          lastUsedNetwork: key.network,
          lastUsedClient: key.client,
        }),
        refusedUses: revokedAt === null ? 0 : hours.filter(({ startsAt }) => startsAt >= revokedAt).length,
      },
    });
    const rows = [
      ...hours
        .filter(({ startsAt }) => startsAt >= firstShown('hour', now))
        .map((use) => ({ ...use, period: 'hour' as const })),
      ...daysOf(hours).map((use) => ({ ...use, period: 'day' as const })),
    ];
    await tx.keyUse.createMany({ data: rows.map((row) => ({ ...row, organizationId, keyId: id })) });
    await tx.keyOperationUse.createMany({
      data: daysOf(hours).map((use) => ({ ...use, operation: key.operation, organizationId, keyId: id })),
    });
    const requests = requestsOfLastDays(key, hours, now);
    await tx.keyRequest.createMany({ data: requests.map((request) => ({ ...request, organizationId, keyId: id })) });
  }
}

/**
 * Returns the hours with requests, from the first day in the charts until now. After its revocation, a key has one refused
 * request an hour.
 */
function hoursOf(
  { requestsIn }: DemonstrationKey,
  { revokedAt, now }: { revokedAt: Date | null; now: Date },
): readonly PeriodUse[] {
  const first = firstShown('day', now).getTime();
  const hours = Array.from({ length: Math.floor((now.getTime() - first) / HOUR_MS) + 1 }, (_, i): PeriodUse => {
    const startsAt = new Date(first + i * HOUR_MS);
    const counts = revokedAt !== null && startsAt >= revokedAt ? { ...NONE, refused: 1 } : requestsIn(startsAt);
    return { startsAt, ...counts };
  });
  return hours.filter((use) => requestsOf(use) > 0);
}

/**
 * Returns the requests that are recorded one by one: all that were refused or failed, and one successful request of each hour.
 */
function requestsOfLastDays(
  { operation, refusal }: DemonstrationKey,
  hours: readonly PeriodUse[],
  now: Date,
): readonly RecordedRequest[] {
  const first = now.getTime() - KEPT_REQUESTS.days * DAY_MS;
  const requests = hours.flatMap(({ startsAt, successful, refused, failed }) => {
    const all = [
      ...Array<typeof refusal>(refused).fill(refusal),
      ...Array<typeof refusal>(failed).fill(FAULT),
      ...(successful > 0 ? [{ status: 200, exception: '', message: '' }] : []),
    ];
    return all.map((response, i): RecordedRequest => {
      const at = new Date(startsAt.getTime() + Math.floor(((i + 0.5) * HOUR_MS) / all.length));
      return { ...response, requestId: randomUUID(), at, operation, durationMs: 2 + variation(at.getTime(), 40) };
    });
  });
  return requests.filter(({ at }) => at.getTime() > first && at <= now);
}

function daysOf(hours: readonly PeriodUse[]): readonly PeriodUse[] {
  const days = Map.groupBy(hours, ({ startsAt }) => dayOf(startsAt));
  return [...days].map(([day, uses]) => ({ startsAt: new Date(day * DAY_MS), ...totalOf(uses) }));
}

/** Returns the number of days since 1970-01-01. */
function dayOf(at: Date): number {
  return Math.floor(at.getTime() / DAY_MS);
}

/** Returns a pseudo-random integer from 0 to `limit` - 1. The result for a given `number` is always the same. */
function variation(number: number, limit: number): number {
  return Math.floor((Math.sin(number * 12.9898) * 0.5 + 0.5) * limit);
}
