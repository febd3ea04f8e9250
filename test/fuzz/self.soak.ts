// Tests the fuzzer itself: with an altered document, it must find where the server differs.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { contract, type Planted, planted, remove, set } from '../support/contract/planted.ts';
import { exchangeRaw, rawRequest } from '../support/http/raw.ts';
import { startUpstream } from '../support/http/upstream.ts';
import { fuzz } from './fuzz.ts';
import { openWorld, type World } from './world.ts';

const MOST_SECONDS = 300;
/** Another document may need more runs to reach every case below, or another seed. */
const SEED = 1;
const LIST = 'paths /api/parent_programs get';

const world = await openWorld({ lifeSeconds: 10 * MOST_SECONDS });
afterAll(() => world.close());

const failureOf = (document: typeof contract, tried = world) =>
  fuzz('requests', { document, world: tried, runs: 250, seed: SEED });

const CASES: [what: string, plant: Planted, complaint: RegExp][] = [
  [
    "a bound narrower than the server's",
    set('components parameters Limit schema maximum', 50),
    /is invalid and must get 422 that names "limit", and got 200\./,
  ],
  [
    "a bound wider than the server's",
    set('components parameters Limit schema maximum', 200),
    /is valid and must get 200, and got 422\./,
  ],
  [
    'a field missing from the response',
    remove('components schemas ParentProgram properties metadata'),
    /of its response, 20[01]: the body .*\(metadata\)/,
  ],
  ['an undeclared status', remove(`${LIST} responses 406`), /the contract does not show the status 406\./],
  [
    'a permission that the server does not require',
    set(`${LIST} security`, [{ apiKey: ['parent_programs:write'] }]),
    /is invalid and must get 403, and got 200\./,
  ],
];

test.each(CASES)(
  'finds %s, and shrinks it to one command that reproduces it',
  async (_, plant, complaint) => {
    const [found = '', line = '', ...rest] = ((await failureOf(planted(contract, [plant]))) ?? '').split('\n');
    expect(found).toMatch(complaint);
    expect(line).toMatch(/^(ID=\$\(.*\); )?curl .* "\$CHARTER_URL"'\/api\//);
    expect(rest).toEqual([
      expect.stringMatching(new RegExp(`npm run fuzz -- --property requests --seed ${SEED} --path [\\d:]+$`)),
    ]);
    const status = /(?:got|response,) (\d+)/.exec(found)?.[1];
    expect(await pasted(line)).toContain(`HTTP/1.1 ${status} `);
  },
  MOST_SECONDS * 1000,
);

/** The output of the printed command in a shell. */
async function pasted(line: string): Promise<string> {
  const ours = await world.newOrganization();
  const keys = { CHARTER_KEY: ours.key, CHARTER_READ_ONLY_KEY: ours.key };
  const env = { PATH: process.env['PATH'], CHARTER_URL: world.url, ...keys };
  return (await promisify(execFile)('bash', ['-c', line], { env })).stdout;
}

test(
  'a server error is a failure, even though the document declares it',
  async () => {
    const send: World['send'] = async (...sent) => {
      const response = await world.send(...sent);
      return { ...response, status: 500 };
    };
    expect(await failureOf(contract, { ...world, send })).toMatch(/must get [\d or]+.*, and got 500\./);
  },
  MOST_SECONDS * 1000,
);

test(
  'finds a server that is slow on every attempt',
  async () => {
    const send: World['send'] = async (...sent) => ({ ...(await world.send(...sent)), seconds: 6 });
    expect(await failureOf(contract, { ...world, send })).toMatch(/^it took 6\.0 seconds, again and again\./);
  },
  MOST_SECONDS * 1000,
);

test(
  'finds a server that has stopped',
  async () => {
    const send: World['send'] = () => Promise.reject(new Error('connect ECONNREFUSED'));
    expect(await failureOf(contract, { ...world, send })).toMatch(/^connect ECONNREFUSED\ncurl /);
  },
  MOST_SECONDS * 1000,
);

test(
  'finds a leak between two organizations, and repeats it by its path',
  async () => {
    const shared = await world.newOrganization();
    const mixed = { ...world, newOrganization: async () => shared };
    const options = { document: contract, world: mixed, runs: 60, seed: 1 };
    const failure = (await fuzz('sequences', options)) ?? '';
    expect(failure).toMatch(/\ncurl .*\nAgain, without shrinking: .* --property sequences --seed 1 --path /s);
    const path = failure.split(' ').at(-1);
    const again = { ...options, runs: 1, path };
    expect(await fuzz('sequences', { ...again, world })).toBeNull();
    expect(await fuzz('sequences', again)).not.toBeNull();
  },
  MOST_SECONDS * 1000,
);

test(
  'an occasional slow response does not make a sequence write twice',
  async () => {
    let writes = 0;
    const sendOnce: World['sendOnce'] = async (outgoing, ours) => {
      if (outgoing.method !== 'GET') writes += 1;
      return { ...(await world.sendOnce(outgoing, ours)), seconds: 6 };
    };
    expect(await fuzz('sequences', { document: contract, world: { ...world, sendOnce }, runs: 5, seed: 1 })).toBeNull();
    expect(writes).toBeGreaterThan(0);
  },
  MOST_SECONDS * 1000,
);

test(
  'finds a response to malformed bytes that the document does not declare',
  async () => {
    const document = planted(contract, [remove('components responses BadRequestException headers X-Request-Id')]);
    expect(await fuzz('garbage', { document, world, runs: 150, seed: 1 })).toMatch(
      /^the document shows no such response: 400 .*\nprintf '.*' \| curl /,
    );
  },
  MOST_SECONDS * 1000,
);

test('a response to bytes is read without damage to a character that arrives in two segments', async () => {
  // The bug: such a character became two U+FFFD, so that the body was longer than its Content-Length.
  const body = `x${'é'.repeat(500_000)}`;
  const server = await startUpstream((_, res) => res.end(body));
  try {
    expect((await exchangeRaw(server.url, rawRequest('GET /'))).endsWith(body)).toBe(true);
  } finally {
    await server.close();
  }
});
