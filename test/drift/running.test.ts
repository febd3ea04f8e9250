import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from '../../scripts/drift/checkout.ts';
import { useFolder } from '../support/folder.ts';

const scratch = await useFolder();

test('a check leaves no process behind', async () => {
  // The bug: a server that npm did not stop ran on after its trial, until the machine was restarted.
  const folder = join(scratch, 'checkout');
  await mkdir(folder);
  const server = `spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'inherit' }).unref()`;
  const check = `require('node:child_process').${server}; console.log('checked');`;
  // The output ends only when no process is left that could write to it.
  expect(await run(folder, ['-e', check])).toEqual({ code: 0, printed: 'checked\n' });
});
