import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const MODULE = join(import.meta.dirname, '../../src/postgres/system-user.ts');

// The bug: a service without a PATH was told that the user could not be created, because "id" was not found.
test.each([
  ['no PATH', {}],
  ['a PATH without programs', { PATH: '/nonexistent' }],
])('the programs of the system are found with %s', async (_, env) => {
  const script = `import { run } from ${JSON.stringify(MODULE)}; process.stdout.write(JSON.stringify(await run('id', ['-u'])));`;
  const parameters = ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', script];
  const { stdout } = await promisify(execFile)(process.execPath, parameters, { env });
  expect(JSON.parse(stdout)).toEqual({ ok: true, output: String(process.getuid?.()) });
});
