// Every sample is run as it is shown: somebody copies it before they read anything else.
import { join } from 'node:path';
import { LANGUAGES } from '../../scripts/docs/samples/languages.ts';
import { installClient, packClient, type Scratch, typeCheck, write } from '../support/client-package.ts';
import { operations } from '../support/contract.ts';
import { startDashboard, type TestDashboard } from '../support/dashboard-server.ts';
import { runSample, samples, samplesWithBody } from '../support/samples.ts';

let dashboard: TestDashboard;
let scratch: Scratch;
beforeAll(async () => {
  dashboard = await startDashboard();
  scratch = await installClient(await packClient());
});
afterAll(() => Promise.all([dashboard.close(), scratch.remove()]));

test('there is a sample in four languages for each operation', () => {
  expect(LANGUAGES.map(({ label }) => label)).toEqual(['curl', 'TypeScript', 'JavaScript', 'Python']);
  const all = operations.flatMap(({ operationId }) => LANGUAGES.map(({ label }) => `${operationId} ${label}`));
  expect(samples.map(({ operationId, label }) => `${operationId} ${label}`).sort()).toEqual(all.sort());
});

test.each(samples)('$operationId in $label does what it shows', async (sample) => {
  const printed = await runSample(dashboard, sample, scratch.folder);
  // curl prints the body of the answer, of which a deletion has none.
  expect(printed !== '' || sample.request.endsWith(' 204')).toBe(true);
});

test('the samples in TypeScript compile', async () => {
  const ofOurs = samples.filter(({ label }) => label === 'TypeScript');
  const files = ofOurs.map(({ operationId }) => `compiled/${operationId}.ts`);
  for (const [i, file] of files.entries()) await write(join(scratch.folder, file), ofOurs[i]?.source ?? '');
  expect(await typeCheck(scratch, files)).toEqual({ code: 0, stdout: '', stderr: '' });
});

test('a sample ends with an error where the server refuses', async () => {
  for (const sample of samples.filter(({ operationId }) => operationId === 'getKey')) {
    const wrong = { ...sample, source: sample.source.replace('/api/key', '/api/keys') };
    await expect(runSample(dashboard, wrong, scratch.folder)).rejects.toThrow(/Command failed/);
  }
});

// The attack: an example with a quote in it ends the string that it stands in, and what follows is run.
test('whatever an example holds, the samples send it and run nothing of it', async () => {
  const name = `It's "$HOME" $(touch run) \`touch run\` \${process.exit(3)} \\ %s é 😀`;
  const nasty = samplesWithBody('createParentProgram', { name });
  for (const sample of nasty) await runSample(dashboard, sample, scratch.folder);
  expect(await dashboard.db.prisma.parentProgram.count({ where: { name } })).toBe(nasty.length);
});
