import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { brotliCompressSync } from 'node:zlib';
import { searchIndexOf } from '../../scripts/docs/search.ts';
import { readSite } from '../../scripts/docs/site.ts';
import { lintSynonyms } from '../../scripts/lint/files.ts';
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
what is a parent program => getting-started#4-list-parent-programs, getting-started, index
how many requests per second can I make => limits, limits#what-is-limited
can I call the api from react => browsers, browsers#why-there-is-no-cors
delete many records at once => batchParentPrograms, writing-many, writing-many#send-a-batch, importing-a-catalogue#delete-what-is-not-in-the-file
update a single field => updateParentProgram
how long are keys valid => rotating-and-revoking#when-a-key-expires, issuing-a-key#what-you-fill-in
where do I find my organization id => getKey, authentication#the-key-decides-the-organization, field organization
invalid json => errors#400-badrequestexception
webhooks not arriving => managing-webhooks#see-what-was-sent, managing-webhooks, receiving-events
test webhooks locally => receiving-events#try-it, mock-server#send-events-to-your-receiver
python example => complete-programs, complete-programs#python-read-all-pages, complete-programs#python-keep-a-copy
order of events => receiving-events#expect-duplicates-and-events-out-of-order, following-changes
why was my request refused => rotating-and-revoking#why-was-a-request-refused
employee left => single-sign-on#when-somebody-leaves, integrations#when-the-owner-leaves
lost phone authenticator => signing-in#password-and-second-factor
how to undo delete => deleteParentProgram
total number of programs => pages-filters-sorting#read-every-page, pages-filters-sorting
newest first => pages-filters-sorting#sort, parameter sort
check if my key works => getKey, getting-started#3-check-the-key
read only key => authentication#what-a-key-may-do, issuing-a-key#what-you-fill-in
hello world => getting-started, charter-client#the-first-call
request body too large => errors#413-payloadtoolargeexception
webhook signature invalid => receiving-events#verify-the-signature
missed events => receiving-events#catch-up, following-changes
custom attributes => field metadata, schema Metadata
insert or update => upsertParentProgram, writing-many#create-or-replace-by-your-own-id
atomic batch => writing-many#all-or-nothing
mock 500 error => mock-server#choose-the-response, charter-mock#responses, mock-server#force-responses-from-outside-of-your-app
key in github => leaked-keys, leaked-keys#secret-scanning
docker compose => operating#the-recommended-set-up
key rotation without downtime => changing-a-key, rotating-and-revoking#replace-a-key-without-interruption, changing-a-key#with-two-keys
my key does not work => authentication#when-a-key-is-rejected, errors#401-authenticationexception
webhook timeout => receiving-events#respond
okta setup => single-sign-on#set-it-up, single-sign-on
sort by date => pages-filters-sorting#sort, parameter sort
clear a field => updateParentProgram
webhooks vs polling => following-changes, receiving-events
who can create keys => issuing-a-key#who-may-create-keys
behind a reverse proxy => restricting-a-key#behind-proxies, configuration#network-and-processes, operating#the-recommended-set-up
delete a customer => moving-an-organization#erase-an-organization
what permissions exist => authentication#what-a-key-may-do
invalid api key => errors#401-authenticationexception, authentication#when-a-key-is-rejected
bulk delete => batchParentPrograms, writing-many, writing-many#send-a-batch, importing-a-catalogue#delete-what-is-not-in-the-file
import dry run => importing-a-catalogue#check-it-first
already exists => errors#409-conflictexception, upsertParentProgram
change feed => following-changes, listEvents, following-changes#follow-the-feed
webhook delivery failed => managing-webhooks#see-what-was-sent, managing-webhooks, managing-webhooks#send-an-event-again
mock rate limit => mock-server#try-the-rate-limits, charter-mock#rate-limits
who am i => getKey
unused keys => rotating-and-revoking#keys-that-are-not-used
my key was revoked => errors#401-authenticationexception, rotating-and-revoking#revoke-a-key, authentication#when-a-key-is-rejected
what if the request times out => retries-and-idempotency, retries-and-idempotency#when-to-retry, errors#408-requesttimeoutexception
delete everything not in my file => importing-a-catalogue#delete-what-is-not-in-the-file
how long are events kept => following-changes#after-a-long-break, following-changes
rate limit per organization => limits#what-is-limited, limits
api changelog => changelog
how to page through results => pages-filters-sorting#read-every-page, pages-filters-sorting
can I call it from a mobile app => browsers
typescript types => charter-client, charter-client#what-it-exports
who used my key => rotating-and-revoking#why-was-a-request-refused, leaked-keys, leaked-keys#if-your-key-has-leaked
`;

/** Returns the names that QUERIES uses for a result. */
function namesOf(
  { kind, title, where, name, anchor }: Result | undefined = { kind: '', title: '', where: '', name: '', anchor: '' },
): string[] {
  const [, operationId] = where.split(' · ');
  return [`${name}${anchor}`, `${kind} ${title}`, ...(operationId === undefined ? [] : [operationId])];
}

test('at least 114 of 120 queries of newcomers have their answer first', () => {
  const queries = QUERIES.trim()
    .split('\n')
    .map((line) => line.split(' => '));
  const wrong = queries.filter(([query = '', answers = '']) => {
    const names = namesOf(find(query)[0]);
    return !answers.split(', ').some((answer) => names.includes(answer));
  });
  expect(queries).toHaveLength(120);
  expect(wrong.length <= 6 ? [] : wrong.map(([query = '']) => [query, ...namesOf(find(query)[0])])).toEqual([]);
});

test('a synonym that leads nowhere is a problem, with its line and the nearest place', () => {
  const text = '# Words\nsdk: authentication.md\nquota: limit.md\nkey: operation:getKeys\nfind: filters\n';
  const synonyms = new Map([...text.matchAll(/^(\w+): (.+)$/gm)].map(([, said = '', written = '']) => [said, written]));
  expect(lintSynonyms({ ...source, synonyms }, text)).toMatchObject([
    { line: 3, column: 8, remedy: 'Did you mean "limits.md"?' },
    { line: 4, column: 6, remedy: 'Did you mean "operation:getKey"?' },
  ]);
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
