// Adds a resource to the checkout: the files that a developer would otherwise write by hand. See --help.
import { parseArgs } from 'node:util';
import { prepareFiles } from './files.ts';
import { HELP, resourceOf } from './resource.ts';
import { type Change, requireNew, write } from './tree.ts';

const REMAINING = 'What remains: step 2 and the following steps of "A second resource" in CONTRIBUTING.md.\n';

try {
  process.exitCode = await main();
} catch (error) {
  process.exitCode = 1;
  console.error(error instanceof Error ? error.message : error);
}

async function main(): Promise<number> {
  const { values, positionals } = readCommandLine();
  if (values.help) {
    process.stdout.write(HELP);
    return 0;
  }
  const { field: fields, operations, singular, events: hasEvents, 'own-id': ownId } = values;
  const [plural, ...others] = positionals;
  if (others.length > 0) throw new Error(`Only one name is expected. Remove: ${others.join(' ')}`);
  const changes = await prepareFiles(resourceOf({ plural, singular, fields, operations, hasEvents, ownId }));
  requireNew(changes);
  if (!values['dry-run']) await write(changes);
  process.stdout.write(describe(changes, values['dry-run']));
  return 0;
}

function readCommandLine() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        field: { type: 'string', multiple: true, default: [] },
        operations: { type: 'string' },
        singular: { type: 'string' },
        'own-id': { type: 'string' },
        events: { type: 'boolean', default: false },
        'dry-run': { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    });
  } catch (error) {
    throw new Error(
      `${error instanceof Error ? error.message : error}\nTo see the options: npm run new-resource -- --help`,
    );
  }
}

function describe(changes: readonly Change[], isDry: boolean): string {
  const linesOf = (isNew: boolean) =>
    changes
      .filter(({ previous }) => (previous === null) === isNew)
      .map(({ path }) => `  ${path}\n`)
      .join('');
  const heads = isDry ? ['Would write:', 'Would change:'] : ['Written:', 'Changed:'];
  return `${heads[0]}\n${linesOf(true)}\n${heads[1]}\n${linesOf(false)}\n${isDry ? 'Nothing was written.\n' : REMAINING}`;
}
