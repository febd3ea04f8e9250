import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { judge } from '../../scripts/drift/judge.ts';
import { useFolder } from '../support/folder.ts';

const scratch = await useFolder();

/** Returns the verdict on a folder whose linter consists of `code`. */
async function judgeStyle(name: string, code: string) {
  const folder = join(scratch, name);
  await mkdir(join(folder, 'node_modules/@biomejs/biome/bin'), { recursive: true });
  await writeFile(join(folder, 'node_modules/@biomejs/biome/bin/biome'), code);
  return judge({ folder }, 'style');
}

test('a check that fails has caught the fault, and its first line says why', async () => {
  const verdict = await judgeStyle('failing', `console.log('\\n a.ts:1:1 lint'); process.exitCode = 1;`);
  expect(verdict).toMatchObject({ isFine: false, line: 'a.ts:1:1 lint' });
});

// Processes are killed in this way when they exceed a time limit, or when the system runs out of memory.
test('a check that is killed has caught nothing', async () => {
  const killed = judgeStyle('killed', `console.log('begun'); process.kill(process.pid, 'SIGKILL');`);
  await expect(killed).rejects.toThrow('The check "style" was killed by a signal');
});
