import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const MODULE = join(import.meta.dirname, '../../src/postgres/system-user.ts');

// The bug: without a PATH, the server said that the user could not be created, because it did not find the program "id".
test.each([
  ['no PATH', {}],
  ['a PATH without programs', { PATH: '/nonexistent' }],
])('the programs of the system are found with %s', async (_, env) => {
  const script = `import { run } from ${JSON.stringify(MODULE)}; process.stdout.write(JSON.stringify(await run('id', ['-u'])));`;
  const parameters = ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', script];
  const { stdout } = await promisify(execFile)(process.execPath, parameters, { env });
  expect(JSON.parse(stdout)).toEqual({ ok: true, output: String(process.getuid?.()) });
});
