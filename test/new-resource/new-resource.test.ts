// `npm run new-resource` adds the resources that its help and this file show, and every check and every test passes.
import { globSync } from 'node:fs';
import { type Checkout, makeCheckout } from '../../scripts/drift/checkout.ts';
import { findFailures, judge } from '../../scripts/drift/judge.ts';
import { run } from '../../scripts/drift/running.ts';
import { parseField } from '../../scripts/new-resource/field.ts';
import { HELP } from '../../scripts/new-resource/help.ts';
import { resourceOf } from '../../scripts/new-resource/resource.ts';
import { CHECKS } from '../../scripts/test/checks.ts';
import { root } from '../../scripts/tool.ts';
import { length } from '../support/length.ts';
import { useScratchDatabase, withClient } from '../support/postgres/postgres.ts';

/** Only ends a trial that hangs, after what it runs has been ended. */
const MINUTES = 60;

const database = await useScratchDatabase();

/** The example of the help: every kind of field, all operations and events. */
const FULL = argumentsIn(HELP.slice(HELP.indexOf('Example:')));
/** As little as possible: no name to sort by, no filter, no event, and rows that never change. */
const SMALL = argumentsIn(
  'npm run new-resource -- entries --singular entry --operations list,create,get --field amount:integer:-5..5',
);

/** Names that the handlers use for other things. */
const SHADOWING = argumentsIn(
  'npm run new-resource -- bodies --field body:string --field content:string:nullable --field path:string',
);

/** The arguments after "--", as the shell reads them. */
function argumentsIn(command: string): string[] {
  const [, written = ''] = command.split(' -- ');
  return [...written.replaceAll('\\\n', '').matchAll(/'([^']*)'|\S+/g)].map(([whole, quoted]) => quoted ?? whole);
}

const given = { plural: 'providers', singular: undefined, fields: ['name:string'], operations: undefined };

describe('a mistake in the arguments is named, with a remedy', () => {
  test.each([
    ['Providers', 'The name "Providers" must consist of lower-case words'],
    ['sheep', 'The singular of "sheep" is not known. Add it: --singular WORD'],
    ['classes', 'The singular "class" is a reserved word of JavaScript. Choose another one: --singular WORD'],
  ])('the name %s', (plural, message) => {
    expect(() => resourceOf({ ...given, plural, hasEvents: false })).toThrow(message);
  });

  test.each([
    ['list,create,get,merge', '"merge" is not known. Use some of: list,create,get,update,delete'],
    ['list,get', 'Every resource has list, create and get. Add: create'],
  ])('--operations %s', (operations, message) => {
    expect(() => resourceOf({ ...given, operations, hasEvents: false })).toThrow(
      `--operations ${operations}: ${message}`,
    );
  });

  test('--events without all operations', () => {
    expect(() => resourceOf({ ...given, operations: 'list,create,get', hasEvents: true })).toThrow(
      '--events: Only a resource with update and delete has events.',
    );
  });

  test.each([
    ['name', '"" is not a type. Use one of: string, uri'],
    ['isActive:boolean', 'The name "isActive" must consist of lower-case words'],
    ['created_at:string', '"created_at" has a meaning of its own in Charter. Choose another name.'],
    ['time_of_write:string', '"time_of_write" has a meaning of its own in Charter. Choose another name.'],
    ['package:string', 'The name "package" is a reserved word of JavaScript. Choose another name.'],
    ['order:integer', 'The name "order" is a reserved word of SQL. Choose another name.'],
    ['name:text', '"text" is not a type. Use one of: string, uri'],
    ['name:string:1-200', '"1-200" is not known. Use MIN..MAX'],
    ['name:string:9..1', 'The bounds 9..1 must be in order'],
    ['is_open:boolean:0..1', 'A boolean has no bounds. Remove 0..1.'],
    ['note:string:0..10000:filter', 'needs bounds with a maximum of at most 600, such as 1..200'],
    ['level:enum=one', 'Write at least two different values in lower case, such as level:enum=basic,advanced.'],
    ['seats:integer:0..9:default=10', 'default=10 is not a value of this field.'],
    ['country:string:2..2:pattern=^[A-Z{2}$', 'The pattern is not a regular expression'],
    ['country:string:2..2:pattern=[A-Z]{2}', 'The pattern must begin with "^" and end with "$".'],
    ['note:string:pattern=^[^a]*$', 'The pattern must not allow NUL characters'],
    ['country:string:2..2:pattern=^[A-Z]{2}$', 'Add example=VALUE, and other=VALUE for a second row'],
    [
      'code:string:unique:example=A:other=A',
      'Two rows have different values of "code". Add example=VALUE and other=VALUE.',
    ],
    ['program:reference=parent_programs', 'A reference to parent_programs must have the name "parent_program_id".'],
  ])('--field %s', (text, message) => {
    expect(() => parseField(text)).toThrow(`--field ${text}: `);
    expect(() => parseField(text)).toThrow(message);
  });

  test.each([
    [[], 'Add at least one field, such as: --field name:string:1..200'],
    [['name:string', 'name:string'], '--field name: This name is used twice.'],
    [['name:string:nullable', 'is_open:boolean:default=true'], 'At least one field must be required'],
  ])('the fields %j', (fields, message) => {
    expect(() => resourceOf({ ...given, fields, hasEvents: false })).toThrow(message);
  });
});

test('a name that SQL reserves is refused, whatever the version of PostgreSQL reserves', async () => {
  const { rows } = await withClient(database.url, (client) =>
    client.query<{ word: string }>("select word from pg_get_keywords() where catcode in ('R', 'T')"),
  );
  expect(rows.length).toBeGreaterThan(90);
  for (const { word } of rows) expect(() => parseField(`${word}:boolean`)).toThrow('Choose another name.');
});

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

const filesIn = (folder: string) => globSync('{openapi,prisma,src}/**/*.*', { cwd: folder }).sort();

test('a dry run lists what the command then writes, the result compiles, and no file is overwritten', () =>
  withCheckout(async ({ folder, ...checkout }) => {
    const before = filesIn(folder);
    const listed = await add(folder, ...FULL, '--dry-run');
    expect(filesIn(folder)).toEqual(before);
    const printed = await add(folder, ...FULL);
    const written = filesIn(folder).filter((file) => !before.includes(file));
    // The name of the migration contains the time.
    const untimed = (texts: string) => texts.replace(/\d{14}_/g, '');
    for (const file of written) expect(untimed(listed)).toContain(`  ${untimed(file)}\n`);
    for (const file of written) expect(printed).toContain(`  ${file}\n`);
    await expect(add(folder, ...FULL)).rejects.toThrow('These files exist, and nothing was written.');
    await add(folder, ...SHADOWING);
    await run(folder, ['scripts/generate/main.ts']);
    expect(await judge({ ...checkout, folder }, 'types')).toMatchObject({ isFine: true });
  }));

/** Tests that a new resource does not affect, and why: the beginnings of their paths. All others run with it. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  'test/browser/':
    'The dashboard shows only the permissions and events of a resource, and test/dashboard tries its pages.',
  'test/contract/release/': 'They compare fixed contracts.',
  'test/dist/': 'They pack the files that the program imports.',
  'test/drift/running': 'It starts and stops processes.',
  'test/drift/trials': 'It plants faults in copies of the tree itself.',
  'test/fuzz/self': 'It plants faults in responses of parent programs.',
  'test/deployment/': 'They replace and disturb servers and PostgreSQL.',
  'test/new-resource/': 'This is the trial itself.',
  'test/postgres/embedded-postgres': 'It starts and stops PostgreSQL.',
  'test/postgres/pooler': 'It connects through a pooler.',
  'test/process/': 'They start and stop servers, and test/docs/samples tries the demonstration.',
};

const testFiles = globSync('test/**/*.test.ts', { cwd: root });
const isLeftOut = (file: string) => Object.keys(LEFT_OUT).some((part) => file.startsWith(part));

test('every test that the trial leaves out exists', () => {
  const unused = Object.keys(LEFT_OUT).filter((part) => !testFiles.some((file) => file.startsWith(part)));
  expect(unused).toEqual([]);
});

/** Soak runs the trial at full length; the tests in the copy need not be longer than in `npm test`. */
const AS_IN_NPM_TEST = { CHARTER_TEST_LENGTH: 'short' };

const onlyInSoak = length({ short: test.skip, full: test });

onlyInSoak(
  'with two new resources, every check and every test that they can affect passes',
  () =>
    withCheckout(async (checkout) => {
      const { folder } = checkout;
      await add(folder, ...FULL);
      await add(folder, ...SMALL);
      // As `npm test` does before the tests.
      for (const script of ['scripts/generate/main.ts', 'scripts/docs/main.ts']) {
        const { code, printed } = await run(folder, [script]);
        if (code !== 0) throw new Error(printed);
      }
      for (const check of Object.keys(CHECKS) as (keyof typeof CHECKS)[]) {
        const { isFine, printed } = await judge(checkout, check);
        if (!isFine) throw new Error(`${CHECKS[check].title}:\n${printed}`);
      }
      const affected = testFiles.filter((file) => !isLeftOut(file));
      const failures = await findFailures(checkout, affected, { isParallel: true, env: AS_IN_NPM_TEST });
      // What a resource breaks fails always. The tests by themselves, also beside others, are proved by `npm test`.
      const failed = [...new Set(failures.map(({ file }) => file))];
      const confirmed = failed.length === 0 ? [] : await findFailures(checkout, failed, { env: AS_IN_NPM_TEST });
      expect(confirmed).toEqual([]);
    }),
  MINUTES * 60_000,
);
