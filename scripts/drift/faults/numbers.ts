import type { Fault } from '../fault.ts';

const CONSTANTS = 'test/constants.test.ts';
const FACTS = 'test/docs/facts.test.ts';
const NUMBERS = 'test/docs/numbers.test.ts';
const RANDOMNESS = 'test/randomness.test.ts';
const STRENGTH = 'test/api/strength.test.ts';
const ZONES = 'test/time-zones.test.ts';

/** Faults in numbers: those of the texts, those of the source, random ones, and days. */
export const NUMBER_FAULTS: readonly Fault[] = [
  {
    title: 'the guide understates how many items the mock keeps',
    edits: [{ file: 'openapi/guides/mock-server.md', find: 'It keeps up to 10,000', replace: 'It keeps up to 1,000' }],
    caughtBy: FACTS,
  },
  {
    title: 'the guide overstates how many test events a webhook endpoint gets',
    edits: [
      {
        file: 'openapi/guides/managing-webhooks.md',
        find: 'at most ten test events',
        replace: 'at most twenty test events',
      },
    ],
    caughtBy: FACTS,
  },
  {
    title: 'the guide understates how many spans wait for a collector',
    edits: [{ file: 'openapi/guides/monitoring.md', find: 'Up to 2,048 spans', replace: 'Up to 1,024 spans' }],
    caughtBy: FACTS,
  },
  {
    title: 'the guide overstates how long a request waits for its turn',
    edits: [{ file: 'openapi/guides/guarantees.md', find: 'waited 1.2 seconds', replace: 'waited 1.5 seconds' }],
    caughtBy: FACTS,
  },
  {
    title: 'the guide overstates how long a busy organization pauses',
    edits: [{ file: 'openapi/guides/guarantees.md', find: 'at most 25 ', replace: 'at most 50 ' }],
    caughtBy: FACTS,
  },
  {
    title: 'the guide promises a time that no code determines',
    edits: [
      {
        file: 'openapi/guides/guarantees.md',
        find: 'Nothing has been changed then.',
        replace: 'Nothing has been changed then, and a second request is served within 30 seconds.',
      },
    ],
    caughtBy: NUMBERS,
  },
  {
    title: 'the server waits for a mail server for a quarter of an hour',
    edits: [{ file: 'src/service/mail.ts', find: 'SMTP_TIMEOUT_MS = 10_000', replace: 'SMTP_TIMEOUT_MS = 1_000_000' }],
    caughtBy: CONSTANTS,
  },
  {
    title: 'the hash of a password takes little memory',
    edits: [{ file: 'src/service/accounts/password.ts', find: 'memoryCost: 19_456', replace: 'memoryCost: 1024' }],
    caughtBy: CONSTANTS,
  },
  {
    title: 'four thousand codes of a second factor may be tried in an hour',
    edits: [
      {
        file: 'src/service/accounts/attempt-limits.ts',
        find: "'factor-account', attempts: 40",
        replace: "'factor-account', attempts: 4000",
      },
    ],
    caughtBy: CONSTANTS,
  },
  {
    title: 'the id of a form that shows a secret has 16 bits',
    edits: [{ file: 'src/dashboard/http/one-time-form.ts', find: 'randomBytes(16)', replace: 'randomBytes(2)' }],
    caughtBy: STRENGTH,
  },
  {
    title: 'the secret of the forms before the sign-in has 64 bits',
    edits: [{ file: 'src/dashboard/http/cookies.ts', find: 'randomBytes(32)', replace: 'randomBytes(8)' }],
    caughtBy: RANDOMNESS,
  },
  {
    title: 'the key of the cursors of an organization has 32 bits',
    edits: [
      {
        file: 'src/store/organizations.ts',
        find: 'randomBytes(32), place',
        replace: 'randomBytes(32).fill(0, 4), place',
      },
    ],
    caughtBy: RANDOMNESS,
  },
  {
    title: 'the last day of a webhook endpoint is one of the time zone of the machine',
    edits: [
      {
        file: 'src/dashboard/webhooks/cells.ts',
        find: 'const date = last.startsAt.toISOString().slice(0, 10);',
        replace: "const date = last.startsAt.toLocaleDateString('sv');",
      },
    ],
    caughtBy: ZONES,
  },
  {
    title: 'the dashboard takes the day of the machine for today',
    edits: [
      {
        file: 'src/dashboard/webhooks/cells.ts',
        find: 'const isToday = date === now.toISOString().slice(0, 10);',
        replace: "const isToday = date === now.toLocaleDateString('sv');",
      },
    ],
    caughtBy: ZONES,
  },
  {
    title: 'the links of the audit log begin on a day of the time zone of the machine',
    edits: [
      {
        file: 'src/dashboard/audit-log/page.ts',
        find: '(days - 1) * DAY_MS).toISOString().slice(0, 10)',
        replace: "(days - 1) * DAY_MS).toLocaleDateString('sv')",
      },
    ],
    caughtBy: ZONES,
  },
];
