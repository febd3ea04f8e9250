import type { Fault } from '../fault.ts';

const POOLER = 'test/postgres/pooler.test.ts';

/** Faults in what a connection pooler needs. */
export const POOLER_FAULTS: readonly Fault[] = [
  {
    title: 'migrations run through a connection pooler',
    edits: [
      { file: 'src/postgres/connection-problem.ts', find: "memberOf(client, 'processID')", replace: 'rows[0]?.pid' },
    ],
    caughtBy: POOLER,
  },
  {
    title: 'the sessions of a pooler may have any time zone',
    edits: [
      {
        file: 'src/postgres/pooler.ts',
        find: 'value !== SESSION_SETTINGS[name]',
        replace: "name !== 'TimeZone' && value !== SESSION_SETTINGS[name]",
      },
    ],
    caughtBy: POOLER,
  },
  {
    title: 'a pooler that keeps no prepared statements gets named ones',
    edits: [{ file: 'src/store/database.ts', find: '{ ...statement, name: undefined }', replace: '{ ...statement }' }],
    caughtBy: POOLER,
  },
];
