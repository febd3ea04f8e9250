import type { Fault } from '../fault.ts';

const VARIABLES = 'test/process/variables.test.ts';
const FACTS = 'test/docs/facts.test.ts';
const TEXTS = 'test/docs/texts.test.ts';
const STRENGTH = 'test/api/strength.test.ts';
const EXPORT = 'test/dashboard/audit-log/export-filters.test.ts';
const COLUMNS = 'test/dashboard/audit-log/export-columns.test.ts';
const BOUNDARIES = 'test/mock/filter-boundaries.test.ts';

/** Faults in what the texts and the configuration promise. */
export const PROMISE_FAULTS: readonly Fault[] = [
  {
    title: 'DATABASE_POOL_SIZE is read and not used',
    edits: [
      {
        file: 'src/postgres/connect.ts',
        find: 'poolSize: databasePoolSize,',
        replace: 'poolSize: Math.min(databasePoolSize, 10),',
      },
    ],
    caughtBy: VARIABLES,
  },
  {
    title: 'the connection that malformed requests use does not know PUBLIC_URL',
    edits: [
      {
        file: 'src/server.ts',
        find: 'const securityHeaders = apiSecurityHeaders(publicUrl);',
        replace: 'const securityHeaders = apiSecurityHeaders(publicUrl?.slice(0, 0));',
      },
    ],
    caughtBy: VARIABLES,
  },
  {
    title: 'the application does not get its response check',
    edits: [{ file: 'src/run.ts', find: '    responseCheck,\n', replace: '' }],
    caughtBy: 'types',
  },
  {
    title: 'a request may take a minute',
    edits: [
      {
        file: 'src/server.ts',
        find: 'headersSeconds: 10, requestSeconds: 30',
        replace: 'headersSeconds: 10, requestSeconds: 60',
      },
    ],
    caughtBy: FACTS,
  },
  {
    title: 'a client that reads nothing keeps its connection',
    edits: [{ file: 'src/connections.ts', find: 'if (writableLength > 0 &&', replace: 'if (writableLength > 1e9 &&' }],
    caughtBy: 'test/connections.test.ts',
  },
  {
    title: '/readyz waits four seconds',
    edits: [{ file: 'src/observability/health.ts', find: 'TIMEOUT_MS = 2000', replace: 'TIMEOUT_MS = 4000' }],
    caughtBy: FACTS,
  },
  {
    title: 'a text names an option that a command does not have',
    edits: [
      { file: 'CONTRIBUTING.md', find: '`npm run migration -- --name x`', replace: '`npm run migration -- --title x`' },
    ],
    caughtBy: TEXTS,
  },
  {
    title: 'the guide on retries repeats a 500',
    edits: [
      {
        file: 'openapi/guides/retries-and-idempotency.md',
        find: '| 500 | not automatically:',
        replace: '| 500 | yes:',
      },
    ],
    caughtBy: TEXTS,
  },
  {
    title: 'the MAC of a cursor has 48 bits',
    edits: [{ file: 'src/api/cursor.ts', find: 'const MAC_CHARACTERS = 22;', replace: 'const MAC_CHARACTERS = 8;' }],
    caughtBy: STRENGTH,
  },
  {
    title: 'an entity tag has 48 bits',
    edits: [{ file: 'src/api/conditional.ts', find: '.slice(0, 22)', replace: '.slice(0, 8)' }],
    caughtBy: STRENGTH,
  },
  {
    title: 'a rotation issues a live key in the test environment',
    edits: [
      {
        file: 'src/service/keys/rotate-key.ts',
        find: 'mintKey(environment)',
        replace: "mintKey(environment === 'live' ? environment : 'live')",
      },
    ],
    caughtBy: 'test/process/test-environment.test.ts',
  },
  {
    title: 'the CSV export ignores the filter by action',
    edits: [
      {
        file: 'src/dashboard/audit-log/export.ts',
        find: 'exportAudit(dashboard.db, actor, filters)',
        replace: 'exportAudit(dashboard.db, actor, { ...filters, action: undefined })',
      },
    ],
    caughtBy: EXPORT,
  },
  {
    title: 'the CSV export ignores the filter by key',
    edits: [
      {
        file: 'src/dashboard/audit-log/export.ts',
        find: 'exportAudit(dashboard.db, actor, filters)',
        replace: 'exportAudit(dashboard.db, actor, { ...filters, keyIds: undefined })',
      },
    ],
    caughtBy: EXPORT,
  },
  {
    title: 'the mock omits a program at the instant of updated_since',
    edits: [
      {
        file: 'scripts/mock/list-page.ts',
        find: "new Date(String(item['updated_at'])) >= readInstant",
        replace: "new Date(String(item['updated_at'])) > readInstant",
      },
    ],
    caughtBy: BOUNDARIES,
  },
  {
    title: 'the mock omits an event at the instant of since',
    edits: [
      {
        file: 'scripts/mock/list-page.ts',
        find: "item['timestamp'])) >= readInstant",
        replace: "item['timestamp'])) > readInstant",
      },
    ],
    caughtBy: BOUNDARIES,
  },
  {
    title: 'the search of the mock finds no capitals',
    edits: [
      {
        file: 'scripts/mock/list-page.ts',
        find: 'includes(String(value).toLowerCase())',
        replace: 'includes(String(value))',
      },
    ],
    caughtBy: BOUNDARIES,
  },
  {
    title: 'the mock finds values that begin with that of a filter',
    edits: [
      {
        file: 'scripts/mock/list-page.ts',
        find: '|| item[name] === value',
        replace: '|| String(item[name]).startsWith(String(value))',
      },
    ],
    caughtBy: BOUNDARIES,
  },
  {
    title: 'the CSV export has the e-mail of the actor in the column of the user',
    edits: [
      {
        file: 'src/dashboard/audit-log/export.ts',
        find: 'user_email: ({ targetEmail }) => targetEmail',
        replace: 'user_email: ({ actorEmail }) => actorEmail',
      },
    ],
    caughtBy: COLUMNS,
  },
  {
    title: 'the CSV export has the name of a key in the column of its prefix',
    edits: [
      {
        file: 'src/dashboard/audit-log/export.ts',
        find: 'key_prefix: ({ keyPrefix }) => keyPrefix',
        replace: 'key_prefix: ({ keyName }) => keyName',
      },
    ],
    caughtBy: COLUMNS,
  },
  {
    title: 'the audit log reads the name of the actor for that of the user',
    edits: [{ file: 'src/store/audit-log.ts', find: 't.name as "targetName"', replace: 'a.name as "targetName"' }],
    caughtBy: COLUMNS,
  },
  {
    title: 'updated_since drops the digits after the milliseconds',
    edits: [
      {
        file: 'src/api/instant.ts',
        find: 'FINER.test(text) ? instant + 1 : instant',
        replace: 'FINER.test(text) ? instant : instant',
      },
    ],
    caughtBy: 'test/api/list.test.ts',
  },
  {
    title: 'days of the audit log begin at midnight of the machine',
    edits: [
      {
        file: 'src/dashboard/http/day.ts',
        find: 'new Date(`${text}T00:00:00Z`)',
        replace: 'new Date(`${text}T00:00:00`)',
      },
    ],
    caughtBy: EXPORT,
  },
  {
    title: 'the dashboard understates what a manager may do',
    edits: [
      {
        file: 'src/dashboard/markup/words.ts',
        find: 'keys of managers, members and viewers, and',
        replace: 'keys of members and viewers, and',
      },
    ],
    caughtBy: 'test/dashboard/role-words.test.ts',
  },
];
