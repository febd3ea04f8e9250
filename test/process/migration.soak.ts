// In a copy of the tree, because the command writes into the tree.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeCheckout } from '../../scripts/drift/checkout.ts';
import { run } from '../../scripts/drift/running.ts';

const checkout = await makeCheckout();
afterAll(() => checkout.remove());

test('a new migration is written, and named by its path from the current folder', async () => {
  const schema = join(checkout.folder, 'prisma/schema.prisma');
  const text = await readFile(schema, 'utf8');
  await writeFile(schema, text.replace('model ParentProgram {\n', 'model ParentProgram {\n  note String?\n'));
  const { code, printed } = await run(checkout.folder, ['scripts/migration.ts', '--name', 'add_note']);
  expect({ code, printed }).toEqual({ code: 0, printed: expect.stringContaining('Review it before you commit it.') });
  const [, file = ''] = /^Written: (\S+)$/m.exec(printed) ?? [];
  expect(file).toMatch(/^prisma\/migrations\/\d{14}_add_note\/migration\.sql$/);
  expect(await readFile(join(checkout.folder, file), 'utf8')).toContain('"note" TEXT');
});
