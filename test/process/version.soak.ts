import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ENCRYPTION_KEY } from '../support/data/encryption.ts';
import { withScratchDatabase } from '../support/postgres/postgres.ts';
import { logOf, withCharter } from '../support/processes/charter.ts';
import { runFile } from '../support/processes/process.ts';

const { version } = JSON.parse(await readFile(join(import.meta.dirname, '../../package.json'), 'utf8'));

test.each(['src/main.ts', 'scripts/admin/main.ts'])('%s --version prints the version of package.json', async (file) => {
  const { code, stdout, stderr } = await runFile(file, ['--version']);
  expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
});

test.each(['1', '2'])('the log of a server with WORKERS=%s says its version', async (WORKERS) => {
  await withScratchDatabase((DATABASE_URL) =>
    withCharter({ DATABASE_URL, ENCRYPTION_KEY, WORKERS }, async (charter) => {
      expect(logOf(charter)).toContainEqual(expect.objectContaining({ msg: 'Charter is listening', version }));
    }),
  );
});
