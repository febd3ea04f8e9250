import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { onChange } from '../../scripts/watch.ts';
import { useFolder } from '../support/folder.ts';
import { until } from '../support/wait.ts';

const folder = await useFolder();
const file = join(folder, 'guide.md');

// The bug: the preview builds for seconds before its first page, and an edit in that time was shown only after the next edit.
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
