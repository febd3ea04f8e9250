import { createServer as createTlsServer } from 'node:https';
import { createGuardedFetch } from '../../src/delivery/guarded-fetch.ts';
import { listenLocally } from '../support/servers/port.ts';
import {
  hangsUp,
  respondsWith,
  stallsMidway,
  staysSilent,
  useScriptedServer,
} from '../support/servers/scripted-server.ts';
import { CERTIFICATE, PRIVATE_KEY } from '../support/servers/self-signed.ts';

const server = await useScriptedServer();
const LOCAL = { allowHttp: true, allowedNetworks: ['127.0.0.1'] };
const REQUEST = { method: 'GET', headers: { accept: 'application/json' } };
const FORBIDDEN =
  'Charter must not connect to the address of this host. An operator allows its network with WEBHOOKS_ALLOWED_NETWORKS.';

const failureOf = (sent: Promise<Response>) =>
  sent.then(
    ({ status }) => String(status),
    ({ name, message }) => `${name}: ${message}`,
  );

test('what is sent, and what is answered', async () => {
  server.play(respondsWith(201, { 'X-Answer': 'yes' }, { right: true }));
  const sent = { method: 'POST', headers: { 'content-type': 'text/plain' }, body: 'a=b' };
  const response = await createGuardedFetch({ targets: LOCAL })(`${server.url}/token?x=1`, sent);
  expect([response.status, response.headers.get('x-answer'), await response.json()]).toEqual([
    201,
    'yes',
    { right: true },
  ]);
  expect(server.received).toMatchObject([{ method: 'POST', url: '/token?x=1', body: 'a=b' }]);
});

test.each([
  ['an internal address', 'http://10.0.0.1/', FORBIDDEN],
  ['the metadata of a cloud', 'http://169.254.169.254/latest/', FORBIDDEN],
  ['an address of IPv6', 'http://[::1]/', FORBIDDEN],
  ['another port of this machine', 'http://127.0.0.2:1/', FORBIDDEN],
  ['a name of an internal address', 'http://internal.example/', FORBIDDEN],
  ['another protocol', 'file:///etc/passwd', 'Charter must not use http:// for identity providers, only https://.'],
])('%s is not requested', async (_, url, words) => {
  const fetch = createGuardedFetch({ targets: LOCAL, resolve: async () => ['10.0.0.1', '169.254.169.254'] });
  expect(await failureOf(fetch(url, REQUEST))).toBe(`ProviderUnreachableError: ${words}`);
});

test('http is refused unless the operator allows it', async () => {
  const fetch = createGuardedFetch({ targets: { ...LOCAL, allowHttp: false } });
  expect(await failureOf(fetch(server.url, REQUEST))).toContain('only https://');
});

test('a certificate of an unknown authority is refused, with the setting that adds it', async () => {
  const untrusted = createTlsServer({ key: PRIVATE_KEY, cert: CERTIFICATE }, (_, res) => res.end());
  const port = await listenLocally(untrusted);
  try {
    expect(await failureOf(createGuardedFetch({ targets: LOCAL })(`https://127.0.0.1:${port}`, REQUEST))).toBe(
      'ProviderUnreachableError: Charter does not know the authority of the provider’s certificate (self-signed certificate). ' +
        'An operator adds it with NODE_EXTRA_CA_CERTS.',
    );
  } finally {
    untrusted.close();
  }
});

test('a redirect is not followed', async () => {
  server.play(respondsWith(302, { Location: `${server.url}/elsewhere` }));
  expect(await failureOf(createGuardedFetch({ targets: LOCAL })(server.url, REQUEST))).toBe('302');
  expect(server.received.map(({ url }) => url)).toEqual(['/']);
});

test.each([
  ['is silent', staysSilent, 0.2, 'No response within 0.2 seconds.'],
  ['stops midway', stallsMidway, 0.2, 'No response within 0.2 seconds.'],
  ['hangs up', hangsUp, 600, 'The connection was closed before the response.'],
])('a provider that %s is a failure', async (_, step, timeoutSeconds, words) => {
  server.play(step);
  const fetch = createGuardedFetch({ targets: LOCAL, timeoutSeconds });
  expect(await failureOf(fetch(server.url, REQUEST))).toBe(`ProviderUnreachableError: ${words}`);
});

test('a response of more than 256 KiB is not read, whether or not it says so', async () => {
  for (const headers of [{ 'Content-Length': '300000' }, {}]) {
    server.play((res) => {
      res.writeHead(200, headers);
      res.end(Buffer.alloc(300_000));
    });
    const failure = await failureOf(createGuardedFetch({ targets: LOCAL })(server.url, REQUEST));
    expect(failure).toBe('ProviderUnreachableError: The response is larger than 256 KiB.');
  }
});
