// Every sample runs exactly as shown, because readers copy samples first.
import { join } from 'node:path';
import { seed } from '../../prisma/seed.ts';
import { LANGUAGES } from '../../scripts/docs/samples/languages.ts';
import { deleteExpired } from '../../src/operations/housekeeping.ts';
import { withCharter } from '../support/charter.ts';
import { installClient, packClient, typeCheck, write } from '../support/client-package.ts';
import { operations } from '../support/contract.ts';
import { useDashboard } from '../support/dashboard-server.ts';
import { withScratchDatabase } from '../support/postgres.ts';
import { pasteSample, runSample, samples, samplesWithBody, shownIdOf } from '../support/samples.ts';
import { SILENT } from '../support/server.ts';
import { openTestDatabase } from '../support/store.ts';
import { until } from '../support/wait.ts';

const KEY_OF_WELCOME = /curl -H "Authorization: Bearer (\S+)" "http/;

const dashboard = await useDashboard();
const scratch = await installClient(await packClient());
afterAll(() => scratch.remove());

test('each operation has samples in four languages', () => {
  expect(LANGUAGES.map(({ label }) => label)).toEqual(['curl', 'TypeScript', 'JavaScript', 'Python']);
  const all = operations.flatMap(({ operationId }) => LANGUAGES.map(({ label }) => `${operationId} ${label}`));
  expect(samples.map(({ operationId, label }) => `${operationId} ${label}`).sort()).toEqual(all.sort());
});

test.each(samples)('the sample of $operationId in $label works as shown', async (sample) => {
  const printed = await runSample(dashboard, sample, scratch.folder);
  // curl prints the body of the response; a deletion has none.
  expect(printed !== '' || sample.request.endsWith(' 204')).toBe(true);
});

test('the samples in TypeScript compile', async () => {
  const ofOurs = samples.filter(({ label }) => label === 'TypeScript');
  const files = ofOurs.map(({ operationId }) => `compiled/${operationId}.ts`);
  for (const [i, file] of files.entries()) await write(join(scratch.folder, file), ofOurs[i]?.source ?? '');
  expect(await typeCheck(scratch, files)).toEqual({ code: 0, stdout: '', stderr: '' });
});

test('a sample exits with an error if the server refuses its request', async () => {
  for (const sample of samples.filter(({ operationId }) => operationId === 'getKey')) {
    const wrong = { ...sample, source: sample.source.replace('/api/key', '/api/keys') };
    await expect(runSample(dashboard, wrong, scratch.folder)).rejects.toThrow(/Command failed/);
  }
});

test.each(LANGUAGES.map(({ label }) => label))(
  'a refused sample in %s shows the message of the server',
  async (label) => {
    const [sample] = samplesWithBody('createParentProgram', { name: '' }).filter((each) => each.label === label);
    if (sample === undefined) throw new Error(`There is no sample in ${label}.`);
    const failed: unknown = await runSample(dashboard, sample, scratch.folder).catch((error: unknown) => error);
    const { stdout, stderr } = Object(failed);
    expect(`${stdout}${stderr}`).toContain('name must not be blank.');
    expect(`${stdout}${stderr}`).not.toContain('Traceback');
  },
);

test('the demonstration has and keeps the parent program and the event that the samples read', async () => {
  const { db, close } = await openTestDatabase();
  await seed(db, 'live');
  await deleteExpired(db, SILENT, { now: new Date(), retention: { eventDays: 30 } });
  const programs = await db.prisma.parentProgram.findMany({ where: { id: shownIdOf('/api/parent_programs/{id}') } });
  expect(programs.map(({ name }) => name)).toEqual(['Nordic Scholars Exchange 2025']);
  const events = await db.prisma.event.findMany({ where: { id: shownIdOf('/api/events/{id}') } });
  expect(events.map(({ data }) => data)).toMatchObject(programs.map(({ id, name }) => ({ id, name })));
  await close();
});

// As `npm start` creates it, and as a newcomer finds it: one sample after the other, those that delete last.
test.each(LANGUAGES)('the samples in $label work as pasted on a fresh demonstration', async ({ label }) => {
  const own = samples.filter((sample) => sample.label === label);
  const isDeletion = ({ request }: { request: string }) => request.startsWith('DELETE ');
  const inOrder = [...own.filter((sample) => !isDeletion(sample)), ...own.filter(isDeletion)];
  expect(inOrder).toHaveLength(operations.length);
  await withScratchDatabase((DATABASE_URL) =>
    withCharter({ DATABASE_URL, NODE_ENV: 'development' }, async ({ printed, url }) => {
      const [, key = ''] = await until('the key of the demonstration', () => KEY_OF_WELCOME.exec(printed.stdout));
      for (const sample of inOrder) {
        const output = await pasteSample(sample, { url, key, folder: scratch.folder });
        expect([sample.operationId, output !== '' || isDeletion(sample)]).toEqual([sample.operationId, true]);
      }
    }),
  );
});

// The attack: a quote in an example ends the string literal, and the rest of the example is executed.
test('samples send any content of an example and execute none of it', async () => {
  const name = `It's "$HOME" $(touch run) \`touch run\` \${process.exit(3)} \\ %s é 😀`;
  const nasty = samplesWithBody('createParentProgram', { name });
  for (const sample of nasty) await runSample(dashboard, sample, scratch.folder);
  expect(await dashboard.db.prisma.parentProgram.count({ where: { name } })).toBe(nasty.length);
});
