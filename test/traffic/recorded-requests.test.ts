import { deleteOldKeyRequests } from '../../src/store/keys/key-requests.ts';
import { type KeyUseWriter, startKeyUses } from '../../src/traffic/last-used.ts';
import { createPeople, times } from '../support/data/actors.ts';
import { newKeyIn } from '../support/data/key-uses.ts';
import { countStatements } from '../support/postgres/statements.ts';
import { useDatabase } from '../support/postgres/store.ts';

const { db } = await useDatabase();
const people = await createPeople(db);
const AT = new Date('2026-05-04T12:00:00Z');
type Key = Awaited<ReturnType<typeof newKeyIn>>;

const startUses = () =>
  startKeyUses(db, {
    onFailure: (error) => {
      throw error;
    },
  });

/** Records requests that were refused, each a millisecond after the one before it. */
function refuse(uses: KeyUseWriter, { of }: Key, count: number, { status = 422, message = 'Refused.' } = {}): void {
  for (let i = 0; i < count; i += 1) {
    const at = new Date(AT.getTime() + i);
    const request = { operation: 'getKey', exception: 'ValidationException', message, durationMs: 1 };
    uses.of(of, AT).countResponse('getKey', 'refused');
    uses.of(of, AT).noteRequest({ ...request, requestId: crypto.randomUUID(), at, status });
  }
}

const recorded = ({ id }: Key) => db.prisma.keyRequest.findMany({ where: { keyId: id }, orderBy: { at: 'asc' } });
const unlisted = async ({ id }: Key) =>
  Number((await db.prisma.keyUse.findFirst({ where: { keyId: id, period: 'day' } }))?.unlisted);

test('of a flood of refused requests, the last thousand are kept, and the others are counted', async () => {
  const uses = startUses();
  const key = await newKeyIn(db, people);
  refuse(uses, key, 1500);
  await uses.flush();
  expect([(await recorded(key)).map(({ at }) => at.getTime() - AT.getTime()).at(0), await unlisted(key)]).toEqual([
    500, 500,
  ]);
  expect(await recorded(key)).toHaveLength(1000);
  refuse(uses, key, 60);
  await uses.stop();
  // The second write gave the key too many requests, so its oldest requests were deleted.
  expect(await recorded(key)).toHaveLength(1000);
});

// The risk: the refusals of one integration in a loop use up the memory, or leave no room for the refusals of others.
test('a process keeps a bounded number of requests, and a few of each key while others flood it', async () => {
  const uses = startUses();
  const [quiet, ...floods] = await times(5, () => newKeyIn(db, people));
  for (const flood of floods) refuse(uses, flood, 5000);
  if (quiet === undefined) throw new Error('There is no key.');
  refuse(uses, quiet, 3);
  expect(await countStatements(db, () => uses.stop(), ['lease_tokens'])).toBe(3);
  expect(await recorded(quiet)).toHaveLength(3);
  const counts = await Promise.all(floods.map(async (key) => (await recorded(key)).length + (await unlisted(key))));
  expect(counts).toEqual(floods.map(() => 5000));
  expect(await db.prisma.keyRequest.count({ where: { keyId: { in: floods.map(({ id }) => id) } } })).toBeLessThan(4000);
});

test('of the successful requests, each write has one for each key and operation', async () => {
  const uses = startUses();
  const key = await newKeyIn(db, people);
  const use = () => uses.of(key.of, AT);
  const sample = (operation: string) => {
    if (!use().lacksSample(operation)) return;
    const request = { requestId: crypto.randomUUID(), at: AT, status: 200, exception: '', message: '', durationMs: 1 };
    use().noteRequest({ ...request, operation });
  };
  for (const operation of ['getKey', 'listEvents', 'getKey', 'listEvents']) sample(operation);
  await uses.flush();
  sample('getKey');
  await uses.stop();
  expect((await recorded(key)).map(({ operation }) => operation).toSorted()).toEqual([
    'getKey',
    'getKey',
    'listEvents',
  ]);
});

test('a message with a character that PostgreSQL cannot store keeps no other request from being written', async () => {
  const uses = startUses();
  const key = await newKeyIn(db, people);
  refuse(uses, key, 1, { message: 'a\0b is unknown.' });
  refuse(uses, key, 1);
  await uses.stop();
  expect((await recorded(key)).map(({ message }) => message).toSorted()).toEqual(['Refused.', 'a\uFFFDb is unknown.']);
});

test('housekeeping deletes requests after 7 days, and those that are too many for their key', async () => {
  const uses = startUses();
  const [many, few] = [await newKeyIn(db, people), await newKeyIn(db, people)];
  for (let i = 0; i < 25; i += 1) {
    refuse(uses, many, 49);
    await uses.flush();
  }
  refuse(uses, few, 2);
  await uses.stop();
  expect(await recorded(many)).toHaveLength(25 * 49);
  await deleteOldKeyRequests(db, { now: AT });
  expect([(await recorded(many)).length, (await recorded(few)).length]).toEqual([1000, 2]);
  await deleteOldKeyRequests(db, { now: new Date(AT.getTime() + 7 * 86_400_000 + 1) });
  expect(await recorded(few)).toHaveLength(1);
});
