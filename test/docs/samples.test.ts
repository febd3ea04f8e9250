// Every sample is run as it is shown: somebody copies it before they read anything else.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { LANGUAGES } from '../../scripts/docs/samples.ts';
import { operations } from '../support/contract.ts';
import { startDashboard, type TestDashboard } from '../support/dashboard-server.ts';
import { runSample, samples, samplesWithBody } from '../support/samples.ts';

let dashboard: TestDashboard;
let folder: string;
beforeAll(async () => {
  dashboard = await startDashboard();
  folder = await mkdtemp(join(tmpdir(), 'charter-samples-'));
});
afterAll(() => Promise.all([dashboard.close(), rm(folder, { recursive: true })]));

test('there is a sample in four languages for each operation', () => {
  expect(LANGUAGES.map(({ label }) => label)).toEqual(['curl', 'TypeScript', 'JavaScript', 'Python']);
  const all = operations.flatMap(({ operationId }) => LANGUAGES.map(({ label }) => `${operationId} ${label}`));
  expect(samples.map(({ operationId, label }) => `${operationId} ${label}`).sort()).toEqual(all.sort());
});

const withoutClient = samples.filter(({ label }) => label !== 'TypeScript');

test.each(withoutClient)('$operationId in $label does what it shows', async (sample) => {
  const printed = await runSample(dashboard, sample, folder);
  // curl prints the body of the answer, of which a deletion has none.
  expect(printed !== '' || sample.request.endsWith(' 204')).toBe(true);
});

test('a sample ends with an error where the server refuses', async () => {
  for (const sample of withoutClient.filter(({ operationId }) => operationId === 'getKey')) {
    const wrong = { ...sample, source: sample.source.replace('/api/key', '/api/keys') };
    await expect(runSample(dashboard, wrong, folder)).rejects.toThrow(/Command failed/);
  }
});

// The attack: an example with a quote in it ends the string that it stands in, and what follows is run.
test('whatever an example holds, the samples send it and run nothing of it', async () => {
  const name = `It's "$HOME" $(touch run) \`touch run\` \${process.exit(3)} \\ %s é 😀`;
  const nasty = samplesWithBody('createParentProgram', { name });
  for (const sample of nasty.filter(({ label }) => label !== 'TypeScript')) await runSample(dashboard, sample, folder);
  expect(await dashboard.db.prisma.parentProgram.count({ where: { name } })).toBe(nasty.length - 1);
});
