import { listAffectedBy } from '../../scripts/test/changed.ts';
import { listNamedTests } from '../../scripts/test/named-files.ts';

const LIST = 'test/api/list.test.ts';
const ROLES = 'test/domain/people/role.test.ts';
const JSON_TEXTS = 'test/domain/resources/json.test.ts';
const GUIDES = 'test/contract/guides.test.ts';

/**
 * Returns the files whose code a test has executed: two files for the list's test, and `null` for all other tests, which have not
 * run yet.
 */
const executedBy = (test: string) =>
  test === LIST ? new Set(['src/api/handlers/parent-programs.ts', 'src/store/resources/list.ts']) : null;

test.each([
  ['the code that a test executed', 'src/store/resources/list.ts', [LIST], [ROLES]],
  ['code that a test only loaded', 'src/service/mail.ts', [], [LIST, ROLES]],
  ['what a test imports and has not run yet', 'src/domain/resources/json.ts', [JSON_TEXTS], [LIST, ROLES]],
  ['a guide', 'openapi/guides/errors.md', [GUIDES], [LIST, ROLES]],
  ['a test', ROLES, [ROLES], [LIST, GUIDES]],
  ['what tests share', 'test/support/contract/contract.ts', [LIST], [ROLES]],
  ['the contract', 'openapi/openapi.yaml', [LIST, ROLES, GUIDES], []],
])('%s affects the tests that depend on it, and no others', (_, file, affected, others) => {
  const { tests } = listAffectedBy([file], executedBy);
  for (const test of affected) expect(tests).toContain(test);
  for (const test of others) expect(tests).not.toContain(test);
});

test('a change affects the checks that read its file', () => {
  const titlesOf = (file: string) => listAffectedBy([file], executedBy).checks.map(({ title }) => title);
  expect(titlesOf('openapi/guides/errors.md')).toEqual(['contract, guides and spelling']);
  expect(titlesOf('src/store/resources/list.ts')).toEqual(['types', 'style', 'boundaries']);
});

test.each([
  [['test/api/list.test.ts'], ['test/api/list.test.ts'], []],
  [['./test/process/commands.soak.ts'], ['test/process/commands.soak.ts'], []],
  [['test/new-resource'], ['test/new-resource/new-resource.test.ts'], ['test/new-resource/new-resource.soak.ts']],
])('npm test -- %j runs %j and leaves out %j', (names, files, leftOut) => {
  expect(listNamedTests(names)).toEqual({ files, leftOut });
});

test.each([
  ['test/absent', 'No file test/**/*.{test,soak}.ts matches "test/absent".'],
  [
    'process/commands',
    'Only files *.soak.ts match "process/commands". Run them with: npm run soak -- process/commands',
  ],
])('npm test -- %s is refused, because no test would run', (name, message) => {
  expect(() => listNamedTests(['test/api/list.test.ts', name])).toThrow(message);
});
