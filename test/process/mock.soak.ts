import { Client } from '../support/clients/client.ts';
import { requireMockConformity } from '../support/contract/contract.ts';
import { type Running, runFile, startFile, untilPrinted } from '../support/processes/process.ts';
import { startTestMock } from '../support/servers/mock.ts';
import { startUpstream } from '../support/servers/scripted-server.ts';

const CURL = /curl -H "Authorization: Bearer (\S+)" "(http:[^"]+?)(\/api[^"]*)"\n/;

async function withMock<T>(parameters: readonly string[], work: (running: Running) => Promise<T>): Promise<T> {
  await using running = startFile('scripts/mock/main.ts', ['--port', '0', ...parameters]);
  return await work(running);
}

test('it prints its address, a curl command that works, and how to select a response, as its options say; Ctrl-C ends it with 0', async () => {
  await withMock(['--host', '127.0.0.2', '--environment', 'test', '--stateful'], async (running) => {
    const [, key = '', origin = '', path = ''] = await untilPrinted(running, CURL);
    expect([new URL(origin).hostname, key.slice(0, 13)]).toEqual(['127.0.0.2', 'charter_test_']);
    const client = new Client(origin, key, requireMockConformity);
    const response = await client.get(path);
    expect({ status: response.status, items: response.body.data.length }).toEqual({ status: 200, items: 2 });
    await untilPrinted(running, /Prefer: code=422/);
    await untilPrinted(running, /^GET \/api\/parent_programs\?limit=2 -> 200$/m);
    const { body } = await client.post('/api/parent_programs', { name: 'Kept' });
    expect((await client.get(`/api/parent_programs/${body.id}`)).body).toEqual(body);
    running.child.kill('SIGINT');
    expect(await running.ended).toMatchObject({ code: 0, stderr: '' });
  });
});

test('--dynamic prints its seed, which generates the same data again; it ends with 0 when its parent process ends', async () => {
  await withMock(['--dynamic'], async (running) => {
    const [, seed = ''] = await untilPrinted(running, /--dynamic-seed (\w+)/);
    const [, key, origin = ''] = await untilPrinted(running, CURL);
    const { text } = await new Client(origin, key, requireMockConformity).get('/api/key');
    const again = await startTestMock({ dynamicSeed: seed });
    expect((await again.client.get('/api/key')).text).toBe(text);
    await again.close();
    running.child.disconnect();
    expect((await running.ended).code).toBe(0);
  });
});

test('--proxy prints a summary at Ctrl-C', async () => {
  await using upstream = await startUpstream((_, res) => res.writeHead(502).end());
  await withMock(['--proxy', upstream.url], async (running) => {
    const [, address] = await untilPrinted(running, /(http:\S+) forwards requests to/);
    expect((await fetch(`${address}/api/key`)).status).toBe(502);
    running.child.kill('SIGINT');
    const { code, stdout } = await running.ended;
    expect(code).toBe(0);
    expect(stdout).toContain('! GET /api/key -> 502: the contract does not show the status 502.');
    expect(stdout).toMatch(/1 request, 2 disagreements with the contract\.\n {5}1 {2}getKey 502: /);
  });
});

test('--stock-prism serves the published contract, connects to nothing, and ends with 0 at a signal', async () => {
  const reportConnections = `import { Socket } from 'node:net';
    const { connect } = Socket.prototype;
    Socket.prototype.connect = function (...parameters) {
      process.stderr.write('A connection was opened.');
      return connect.apply(this, parameters);
    };`;
  await using running = startFile('scripts/mock/main.ts', ['--stock-prism', '--port', '0', '--dynamic-seed', 'a'], {
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(reportConnections)}`,
  });
  const [, address] = await untilPrinted(running, /Prism is listening on (\S+)/);
  const get = async () => (await fetch(`${address}/api/key`, { headers: { Authorization: 'Bearer x' } })).json();
  const [body, again] = [await get(), await get()];
  expect(body).toMatchObject({ name: expect.not.stringMatching('Nightly sync'), permissions: expect.any(Array) });
  expect(again).toEqual(body);
  running.child.kill('SIGTERM');
  const { code, stderr } = await running.ended;
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
});

test('--help describes how to select a response, and ends with 0', async () => {
  const { code, stdout } = await runFile('scripts/mock/main.ts', ['--help']);
  expect(code).toBe(0);
  for (const words of ['--port', '--proxy', '--stock-prism', '--dynamic', 'Prefer: example=', 'well-formed key']) {
    expect(stdout).toContain(words);
  }
});

test.each([
  [['--port', '70000'], '--port is 0 to 65535.'],
  [['--nothing'], "Unknown option '--nothing'."],
])('%j is refused in one line, which names the help', async (parameters, mistake) => {
  const { code, stderr } = await runFile('scripts/mock/main.ts', parameters);
  expect([code, stderr]).toEqual([1, `${mistake} To see all options: npm run mock -- --help\n`]);
});

test.each([[[]], [['--stock-prism']]])('%j: a port that is in use is reported in one line', async (mode) => {
  const other = await startUpstream(() => {});
  const { port } = new URL(other.url);
  const { code, stderr } = await runFile('scripts/mock/main.ts', [...mode, '--port', port]);
  await other.close();
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: `Port ${port} of 127.0.0.1 is in use. Choose another one with --port or --host.\n`,
  });
});
