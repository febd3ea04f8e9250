import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { brotliCompressSync } from 'node:zlib';
import { searchIndexOf } from '../../scripts/docs/search.ts';
import { readSite } from '../../scripts/docs/site.ts';
import { source } from '../support/browser/docs.ts';

type Result = {
  readonly kind: string;
  readonly title: string;
  readonly where: string;
  readonly name: string;
  readonly anchor: string;
};
type Search = { find(query: string): Result[] };

const ROOT = join(import.meta.dirname, '../..');
const site = await readSite(ROOT, source, {
  server: 'http://127.0.0.1:3000',
  address: '/docs',
  isServed: true,
  support: null,
});
const script = String(site.get('search.js')?.());
const browser: { siteSearch?: Search } = {};
runInNewContext(script, browser);
const find = (query: string) => browser.siteSearch?.find(query) ?? [];

/**
 * Searches that newcomers type, each with the results that answer the search: a page or its section, an operation, or a part by
 * kind and name.
 */
const QUERIES = `
how do I authenticate => authentication
sdk => charter-client
base url => getting-started#1-set-the-url
test mode => authentication#live-and-test
webhook retry => receiving-events#respond, managing-webhooks#send-an-event-again
typescript => charter-client
updated_since => parameter updated_since
external_id taken => errors#409-conflictexception, error external_id taken
X-Request-Id => header X-Request-Id
metadata => field metadata, schema Metadata
bulk => writing-many, writing-many#send-a-batch, batchParentPrograms
soft delete => deleteParentProgram
get all records => pages-filters-sorting, pages-filters-sorting#read-every-page, listParentPrograms
throttle => limits
token => authentication, issuing-a-key
secret => authentication, authentication#keep-the-key-safe, issuing-a-key, managing-webhooks#rotate-the-secret, receiving-events#rotate-the-secret
environment => authentication#live-and-test
how to get an api key => issuing-a-key
environment variables => configuration
rate limit => limits
429 => errors#429-toomanyrequestsexception
too many requests => errors#429-toomanyrequestsexception, limits, limits#above-the-limit
pagination => pages-filters-sorting, pages-filters-sorting#read-every-page
next page => pages-filters-sorting#read-every-page, field next_cursor, parameter cursor
next_cursor => field next_cursor
Idempotency-Key => header Idempotency-Key, retries-and-idempotency#create-once-with-an-idempotency-key
avoid creating duplicates => retries-and-idempotency, retries-and-idempotency#create-once-with-an-idempotency-key
upsert => upsertParentProgram, writing-many#create-or-replace-by-your-own-id
createParentProgram => createParentProgram
DELETE /api/parent_programs/{id} => deleteParentProgram
list parent programs => listParentPrograms
cors error => browsers, browsers#why-there-is-no-cors
health check => operating#health-checks-and-draining
mock => mock-server
fake server for tests => mock-server, mock-server#in-a-test-suite, charter-mock, charter-mock#in-a-test-suite
postman collection => getting-started#1-set-the-url
openapi file download => getting-started#1-set-the-url
verify webhook signature => receiving-events#verify-the-signature
webhook secret => managing-webhooks#rotate-the-secret, receiving-events#rotate-the-secret, receiving-events#verify-the-signature
401 unauthorized => errors#401-authenticationexception
permission denied => errors#403-authorizationexception, authentication#what-a-key-may-do
scopes => authentication#what-a-key-may-do
my key expired => rotating-and-revoking#when-a-key-expires, error expired key
leaked key => leaked-keys
csv upload => importing-a-catalogue
find deleted programs => following-changes, pages-filters-sorting#keep-a-copy-in-sync, onParentProgramDeleted
sync my database => pages-filters-sorting#keep-a-copy-in-sync, following-changes, following-changes#start-a-copy
changelog => changelog
api version => versioning
date format => conventions#responses, field created_at, field updated_at, parameter updated_since
two factor => signing-in#password-and-second-factor
sso okta => single-sign-on
ip whitelist => restricting-a-key, restricting-a-key#limit-from-where
optimistic locking => conditional-requests#avoid-lost-updates
If-Match => header If-Match, conditional-requests#avoid-lost-updates
timeout => errors#408-requesttimeoutexception, retries-and-idempotency#when-to-retry
max page size => parameter limit, pages-filters-sorting#read-every-page
sort by name => pages-filters-sorting#sort, parameter sort
filter => pages-filters-sorting#filter
ValidationException => schema ValidationException, errors#422-validationexception
`;

/** Returns the names that QUERIES uses for a result. */
function namesOf(
  { kind, title, where, name, anchor }: Result | undefined = { kind: '', title: '', where: '', name: '', anchor: '' },
): string[] {
  const [, operationId] = where.split(' · ');
  return [`${name}${anchor}`, `${kind} ${title}`, ...(operationId === undefined ? [] : [operationId])];
}

test('at least 57 of 60 queries of newcomers have their answer first', () => {
  const queries = QUERIES.trim()
    .split('\n')
    .map((line) => line.split(' => '));
  const wrong = queries.filter(([query = '', answers = '']) => {
    const names = namesOf(find(query)[0]);
    return !answers.split(', ').some((answer) => names.includes(answer));
  });
  expect(queries).toHaveLength(60);
  expect(wrong.length <= 3 ? [] : wrong.map(([query = '']) => [query, ...namesOf(find(query)[0])])).toEqual([]);
});

test('every place of the index exists', async () => {
  const pages = new Map<string, string>();
  const placed = searchIndexOf(source).entries.map(([, , , name, anchor]) => [String(name), String(anchor)] as const);
  const missing = placed.filter(([name, anchor]) => {
    const page = pages.get(name) ?? String(site.get(`${name}.html`)?.() ?? '');
    pages.set(name, page);
    return page === '' || (anchor !== '' && !page.includes(` id="${anchor.slice(1)}"`));
  });
  expect(missing).toEqual([]);
});

test('every operation, parameter, header, schema and field is among the first five results for its exact name', () => {
  const { contract } = source;
  const names = [
    ...[...contract.operations, ...contract.webhooks].map(({ operationId }) => operationId),
    ...contract.operations.flatMap(({ parameters = [] }) => parameters.map(({ name }) => name)),
    ...Object.keys(contract.schemas),
    ...Object.values(contract.schemas).flatMap(({ properties = {} }) => Object.keys(properties)),
  ];
  const found = [...new Set(names)].filter((name) => {
    const results = find(name).slice(0, 5);
    return !results.some((each) => each.title === name || each.where.endsWith(` · ${name}`));
  });
  expect(found).toEqual([]);
});

test('the script with its index has at most 520 bytes for each place, and 145 when it is compressed', () => {
  const places = searchIndexOf(source).entries.length;
  expect(script.length / places).toBeLessThan(520);
  expect(brotliCompressSync(script).length / places).toBeLessThan(145);
});
