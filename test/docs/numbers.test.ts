// Every time, size and count in the README, the guides, the contract and the messages is either compared with the code, in
// FACTS, or listed here with the reason why no code determines it.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { sourcesIn, wordsIn } from '../support/contract/constants.ts';
import { FACTS, type Fact, markdownFiles, numberOf, ROOT, read } from '../support/contract/facts.ts';

const MEASURED = 'measured';
const EXAMPLE = 'an example';
const ADVICE = 'advice to the reader';
const FOREIGN = 'the number of another program';
const ELSEWHERE = 'checked by other tests';

/** By file, the excerpts with such numbers. */
const OTHERS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'README.md': {
    'in two minutes': ADVICE,
    'on a machine with two cores': MEASURED,
    'first pages of 100 organizations in turn | 40 µs': MEASURED,
  },
  'CONTRIBUTING.md': {
    '4 minutes': MEASURED,
    '25 minutes': MEASURED,
    'a minute': MEASURED,
    'has created 1,200,000 rows': MEASURED,
    'within a second of saving': ELSEWHERE,
  },
  'src/client/README.md': {
    'with `tries` above 1': EXAMPLE,
  },
  'openapi/guides/following-changes.md': {
    'for example every minute': EXAMPLE,
  },
  'openapi/guides/getting-started.md': {
    'in two minutes': ADVICE,
  },
  'openapi/guides/issuing-a-key.md': {
    'the last day': EXAMPLE,
  },
  'openapi/guides/managing-webhooks.md': {
    'with a status from 200 to 299': EXAMPLE,
  },
  'openapi/guides/mock-server.md': {
    'waits for 2,000 milliseconds': EXAMPLE,
    'the client waits 5 seconds at most': EXAMPLE,
    'Choose any secret, of 24 to 64 bytes': ELSEWHERE,
  },
  'openapi/guides/operating.md': {
    'Run at least two servers': ADVICE,
    'Kubernetes waits one second': FOREIGN,
    '35 MB | 11 MB': MEASURED,
    '92 MB | 34 MB': MEASURED,
    'half a second apart, so 3 seconds are enough': ADVICE,
  },
  'openapi/guides/configuration.md': {
    'above 0, up to 1.': ELSEWHERE,
  },
  'openapi/guides/postgresql.md': {
    'with 16 busy clients': MEASURED,
    '`ttl` | 20 to 30': ADVICE,
    'is above 0': FOREIGN,
    'on 2 cores that other programs used, too, with 1,000 parent programs': MEASURED,
    'takes two to three times as much processor time': MEASURED,
  },
  'openapi/guides/backups.md': {
    'about the last minute is lost': ADVICE,
  },
  'openapi/guides/monitoring.md': {
    'at most twice a minute': ELSEWHERE,
  },
  'openapi/guides/guarantees.md': {
    'uses at most half of them': ELSEWHERE,
    'at most half of the time': ELSEWHERE,
    'came at most 0.4 seconds after PostgreSQL was back, and at most 1.0 second in 200 more': MEASURED,
    'In 200 stops': MEASURED,
    'In 40 shutdowns with 64 busy clients': MEASURED,
    'None of 6,400 writes': MEASURED,
    'made p50 5.3 and 3.0 times as long': MEASURED,
    'then want more than the two cores': MEASURED,
    'got 1,090 instead of 2,104 responses': MEASURED,
    'The rates of 2,000 and of 64 connections are those of three rounds of 30 seconds and of four of 10 seconds':
      MEASURED,
    'the rate of the same 64 connections changes by a quarter within a minute': MEASURED,
    'A pool of fewer than four connections': ADVICE,
    'in a minute of random traffic': ELSEWHERE,
  },
  'openapi/guides/pages-filters-sorting.md': {
    'one minute before that time': ADVICE,
  },
  'openapi/guides/receiving-events.md': {
    'allow 1 MiB': ADVICE,
    'two days are enough': ADVICE,
    'minus two days': ADVICE,
  },
  'openapi/guides/rotating-and-revoking.md': {
    'was used within the last day': ELSEWHERE,
  },
  'openapi/guides/scaling.md': {
    'with 10,000,000 rows than with 1,000': MEASURED,
    'with 1,000,000 rows in them, of which 2,001 changed, a page reads 50,000 rows': MEASURED,
    'A pool of at least four': ADVICE,
  },
  'src/api/instant.ts': {
    'the last second of a day': EXAMPLE,
  },
  'src/config.ts': {
    'a number above 0 and up to 1': ELSEWHERE,
    'a number from 0 to 1': ELSEWHERE,
  },
  'src/dashboard/keys/create.ts': {
    'Last day': EXAMPLE,
  },
  'src/dashboard/keys/usage.ts': {
    'Requests of the last minute': ELSEWHERE,
  },
  'src/listen-on.ts': {
    'a port above 1023': FOREIGN,
  },
  'src/service/webhooks/sending.ts': {
    'test events within a minute': ELSEWHERE,
  },
  'openapi/components/headers/RateLimit.yaml': {
    'Another 480 requests within one second': EXAMPLE,
    'No more requests within one second': EXAMPLE,
  },
  'openapi/components/headers/RetryAfter.yaml': {
    'Retry after five seconds': EXAMPLE,
  },
  'openapi/components/parameters/UpdatedSince.yaml': {
    'one minute before the latest `updated_at`': ADVICE,
  },
};

/** What a benchmark or a trial has written, or is told of its last run. */
const WRITTEN = [
  /^On a shared machine, the ratios depend[\s\S]*?(?=^<!-- Written by)/gm,
  /<!-- Written by[\s\S]*?<!-- The end of what it writes -->/g,
  /^## How requests grow$[\s\S]*?(?=^### Which requests grow$)/gm,
  /^### Figures$[\s\S]*?(?=^## Partition)/gm,
  /^## Measured beside a client that sends too much$[\s\S]*?(?=^### )/gm,
  /^## How it is tested$[\s\S]*/gm,
];
/** facts.test.ts compares the ranges of the variables. */
const RANGES_OF_VARIABLES = /(?<=^\| `[A-Z_]+` \|.*)\b\d+ to \d+/gm;
/** Keywords of a schema. */
const BOUNDS = /\b(?:min|max)[A-Z]\w*: \d+/g;
const FENCES = /^ *```[\s\S]*?^ *```$/gm;

const DIGITS = String.raw`\d+(?:,\d{3})*(?:\.\d+)?`;
const NUMBER = `(?:${DIGITS}|half|half an?|an? (?:quarter|third|tenth)|two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|twenty|thirty|sixty|a hundred|a thousand)`;
const TIME = '(?:milli|micro)?seconds?|minutes?|hours?|days?|weeks?|months?|years?';
const SIZE = '[KMG]i?B|kB|bytes?|bits?|%|characters?|ms|tenths|times';
const COUNTED =
  'rows|entries|requests|responses|connections|attempts|keys|processes|workers|organizations|programs|events|endpoints|spans|items|users|clients|statements|cores|rounds|writes|stops|shutdowns|sessions|codes|pages';
const QUANTITIES = new RegExp(
  [
    String.raw`\b${NUMBER}[ -](?:[a-z\d]+ )?(?:${TIME}|${SIZE})(?!\w)`,
    String.raw`\b${DIGITS}(?:%|ms\b|s\b)`,
    String.raw`\b(?:one|another|within an?|after an?|once an?|twice an?|takes an?|last|every) (?:${TIME})(?!\w)`,
    String.raw`\b(?:up to|at most|at least|more than|fewer than|less than|above|below) ${NUMBER}(?!\w)`,
    String.raw`\b${DIGITS} to ${DIGITS}(?!\w)|\bdefault(?: is)? ${DIGITS}`,
    String.raw`\b${DIGITS} (?:[a-z]+ )?(?:${COUNTED})\b`,
  ].join('|'),
  'gi',
);

async function contractFiles(): Promise<string[]> {
  const files = await readdir(join(ROOT, 'openapi'), { recursive: true });
  return files
    .filter((file) => /^(openapi\.yaml$|(paths|components|webhooks)\/)/.test(file) && file.endsWith('.yaml'))
    .filter((file) => !file.startsWith('components/examples/'))
    .map((file) => join('openapi', file));
}

const files = [
  // The changelogs say how it was.
  ...(await markdownFiles()).filter((file) => !/CHANGELOG\.md$|^openapi\/lint\//.test(file)),
  ...(await contractFiles()),
  // SQL is no prose.
  ...sourcesIn('src').filter((file) => !file.startsWith('src/store/')),
  ...sourcesIn('scripts/admin'),
];

/** The text without what is generated, code, and numbers that FACTS or OTHERS know. */
async function unknownPartsOf(file: string): Promise<string> {
  const source = file.endsWith('.ts') ? wordsIn(file) : await read(file);
  const own = [...WRITTEN, RANGES_OF_VARIABLES, BOUNDS, FENCES].reduce((text, each) => text.replace(each, '·'), source);
  const text = FACTS.reduce((rest, fact) => withoutFact(file, rest, fact), own.replace(/\n */g, ' '));
  return Object.keys(OTHERS[file] ?? {})
    .reduce((rest, excerpt) => rest.replaceAll(excerpt, '·'), text)
    .replace(/`[^`]*`/g, '·');
}

/** Also without what another file of the contract says, because the resources of the contract say the same. */
function withoutFact(file: string, text: string, [of, pattern, ...values]: Fact): string {
  const isOwn = of === file;
  if (!isOwn && !(isOfContract(of) && isOfContract(file))) return text;
  return text.replace(new RegExp(pattern, 'g'), (whole: string, ...groups: unknown[]) => {
    const isSame = values.every((value, i) => numberOf(String(groups[i])) === value);
    return isOwn || isSame ? '·' : whole;
  });
}

const isOfContract = (file: string) => file.startsWith('openapi/') && file.endsWith('.yaml');

test.each(files)('%s has no unchecked number', async (file) => {
  const text = await unknownPartsOf(file);
  const found = [...text.matchAll(QUANTITIES)].map(
    ({ 0: quantity, index }) => `...${text.slice(Math.max(0, index - 40), index)}[${quantity}]`,
  );
  if (found.length === 0) return;
  throw new Error(`${file} has unchecked numbers:
  ${found.join('\n  ')}
Add each to FACTS in test/support/contract/facts.ts, with the constant of the code that makes it true. If no code determines it, because it is
an example, a measurement or advice, add the words around it to OTHERS in test/docs/numbers.test.ts, with the reason.`);
});

test('every exempt excerpt still occurs in its file', async () => {
  const lost: string[] = [];
  for (const [file, excerpts] of Object.entries(OTHERS)) {
    const text = (await read(file)).replace(/\n */g, ' ');
    for (const excerpt of Object.keys(excerpts)) if (!text.includes(excerpt)) lost.push(`${file}: ${excerpt}`);
  }
  expect(lost).toEqual([]);
});

test.each([
  'waited 1.5 seconds for its turn',
  'keeps up to 1,000, until',
  'at most 30 MiB of memory',
  'after five idle minutes',
  'within an hour',
  'the last 20% of it',
  'from 3 to 100',
  'with 64 busy clients',
  'six tenths of them',
])('"%s" counts as a number that must be checked', (words) => expect(words).toMatch(new RegExp(QUANTITIES, 'i')));
