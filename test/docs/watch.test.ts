import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onChange } from '../../scripts/watch.ts';
import { until } from '../support/wait.ts';

const folder = await mkdtemp(join(tmpdir(), 'charter-watch-'));
afterAll(() => rm(folder, { recursive: true, force: true }));
const file = join(folder, 'guide.md');

// The preview builds for seconds before its first page; an edit meanwhile was shown only after the next one.
test('a file that is saved during the first call is not missed', async () => {
  await writeFile(file, 'old');
  const seen: string[] = [];
  const end = await onChange(
    folder,
    async () => {
      seen.push(await readFile(file, 'utf8'));
      if (seen.length === 1) await writeFile(file, 'edited');
    },
    { atOnce: true },
  );
  await until('the second call', () => seen.length > 1);
  end();
  expect(seen).toEqual(['old', 'edited']);
});
