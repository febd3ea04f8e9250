import { globSync } from 'node:fs';
import { type Checkout, makeCheckout, run } from '../../scripts/drift/checkout.ts';
import { judge, listFailures } from '../../scripts/drift/judge.ts';
import { HELP } from '../../scripts/new-resource/resource.ts';
import { CHECKS } from '../../scripts/test/checks.ts';
import { root } from '../../scripts/tool.ts';

/** The example of the command's help: every kind of field, all operations, external ids and events. */
const FULL = argumentsIn(HELP.slice(HELP.indexOf('Example:')));

/** Returns the arguments after "--", split as a shell does. */
function argumentsIn(command: string): string[] {
  const [, written = ''] = command.split(' -- ');
  return [...written.replaceAll('\\\n', '').matchAll(/'([^']*)'|\S+/g)].map(([whole, quoted]) => quoted ?? whole);
}

async function add(folder: string, ...parameters: string[]): Promise<string> {
  const { code, printed } = await run(folder, ['scripts/new-resource/main.ts', ...parameters]);
  if (code !== 0) throw new Error(printed);
  return printed;
}

async function withCheckout(use: (checkout: Checkout) => Promise<void>): Promise<void> {
  const checkout = await makeCheckout();
  try {
    await use(checkout);
  } finally {
    await checkout.remove();
  }
}

/** A resource with events, whose rows have no name and refer to rows of the other new resource. */
const REFERRING = argumentsIn(
  'npm run new-resource -- courses --events --field title:string:1..100 --field provider_id:reference=providers:filter',
);

/** The smallest resource: no name to sort by, no filter and no events, and its rows never change. */
const SMALL = argumentsIn(
  'npm run new-resource -- entries --singular entry --operations list,create,get --field amount:integer:-5..5',
);

/** Everything that `npm test` runs, and the generated requests of `npm run soak`. */
const testFiles = [...globSync('test/**/*.test.ts', { cwd: root }), 'test/fuzz/fuzz.soak.ts'];

const filesIn = (folder: string) => globSync('{openapi,prisma,src}/**/*.*', { cwd: folder }).sort();

/** Adds the resource, and checks that a dry run listed what the command then writes. */
async function addAsListed(folder: string): Promise<void> {
  const before = filesIn(folder);
  const listed = await add(folder, ...FULL, '--dry-run');
  expect(filesIn(folder)).toEqual(before);
  const printed = await add(folder, ...FULL);
  // The name of the migration contains the time.
  const untimed = (texts: string) => texts.replace(/\d{14}_/g, '');
  for (const file of filesIn(folder).filter((each) => !before.includes(each))) {
    expect(untimed(listed)).toContain(`  ${untimed(file)}\n`);
    expect(printed).toContain(`  ${file}\n`);
  }
}

test('with three new resources, every check and every test passes', () =>
  withCheckout(async (checkout) => {
    const { folder } = checkout;
    await addAsListed(folder);
    await expect(add(folder, ...FULL)).rejects.toThrow('These files exist, and nothing was written.');
    await add(folder, ...REFERRING);
    await add(folder, ...SMALL);
    // `npm test` also does this before the tests.
    for (const script of ['scripts/generate/main.ts', 'scripts/docs/main.ts']) {
      const { code, printed } = await run(folder, [script]);
      if (code !== 0) throw new Error(printed);
    }
    for (const check of Object.keys(CHECKS) as (keyof typeof CHECKS)[]) {
      const { isFine, printed } = await judge(checkout, check);
      if (!isFine) throw new Error(`${CHECKS[check].title}:\n${printed}`);
    }
    const failures = await listFailures(checkout, testFiles, { isParallel: true });
    // Runs only the failed files again, because a fault of the resource fails every time. `npm test` checks that the tests can
    // run in parallel.
    const failed = [...new Set(failures.map(({ file }) => file))];
    const confirmed = failed.length === 0 ? [] : await listFailures(checkout, failed);
    expect(confirmed).toEqual([]);
  }));
