import { clientAddressIn, trustedAddressIn } from '../src/app.ts';
import { Client } from './support/clients/client.ts';
import { browserOf, useDashboard } from './support/dashboard/dashboard-server.ts';
import { createPeople, giveKey } from './support/data/actors.ts';

const dashboard = await useDashboard({ trustedProxies: ['loopback', '10.0.0.0/8', 'fd00::/8', 'fe80::/10'] });
const { administrator } = await createPeople(dashboard.db);
const { id, key } = await giveKey(dashboard.db, administrator);

test.each([
  ['203.0.113.7', '203.0.113.7'],
  ['203.0.113.7:1111, 10.0.0.5:2222', '203.0.113.7'],
  ['203.0.113.7, 10.0.0.5:2222, 10.0.0.6', '203.0.113.7'],
  ['203.0.113.7:1111,::ffff:10.0.0.5', '203.0.113.7'],
  ['203.0.113.7, ::ffff:10.0.0.5:2222', '203.0.113.7'],
  ['::FFFF:203.0.113.7, [::ffff:a00:5]:2222', '203.0.113.7'],
  ['[2001:DB8::7]:1111, [fd00::5]:2222', '2001:db8::7'],
  ['2001:db8:0:0:0:0:0:7, fd00:0::5', '2001:db8::7'],
  ['203.0.113.7, [fe80::5%eth0]:2222', '203.0.113.7'],
  ['203.0.113.7, fe80::5%eth0', '203.0.113.7'],
  ['10.0.0.7:1111, 10.0.0.5:2222', '10.0.0.7'],
  // The attack: a client claims another address, and the proxy appends the client's real address.
  ['203.0.113.7, 198.51.100.9:1111, 10.0.0.5:2222', '198.51.100.9'],
  ['203.0.113.7, 10.0.0.5x:1, 10.0.0.5:2222', null],
  ['203.0.113.7, unknown, 10.0.0.5:2222', null],
])(
  'X-Forwarded-For: %s is the address %s for keys, pages, sessions and the audit log',
  async (forwardedFor, address) => {
    const { prisma } = dashboard.db;
    const headers = { 'X-Forwarded-For': forwardedFor };
    const browser = await browserOf(dashboard, administrator, headers);
    // A session records the address at most once a minute.
    dashboard.passMinutes(2);
    const { headers: sent } = await browser.submit(`/profile/api-keys/${id}/rename`, { name: `From ${forwardedFor}` });
    const event = await prisma.auditEvent.findFirstOrThrow({ where: { requestId: sent['x-request-id'] ?? '' } });
    const session = await prisma.session.findFirstOrThrow({ orderBy: { createdAt: 'desc' } });
    expect([event.ip, session.ip]).toEqual(
      address === null ? [expect.stringMatching(/unknown|5x/), event.ip] : [address, address],
    );

    const client = new Client(dashboard.url, key);
    const where = { organizationId_id: { organizationId: administrator.scope.organizationId, id } };
    await prisma.apiKey.update({ where, data: { allowedAddresses: ['192.0.2.1'] } });
    const refused = await client.get('/api/key', { headers });
    expect([refused.status, refused.body.message]).toEqual([
      403,
      expect.stringContaining(address === null ? 'from an unknown address.' : `from your address, ${address}.`),
    ]);
    if (address === null) return;
    await prisma.apiKey.update({ where, data: { allowedAddresses: [address] } });
    expect((await client.get('/api/key', { headers })).status).toBe(200);
  },
);

test('a client that has closed the connection has no address, whatever it has claimed', () => {
  // The attack: a client sends a write with a stolen key and an allowed address, and disconnects before the server reads its
  // address.
  const request = { socket: { remoteAddress: undefined }, headers: { 'x-forwarded-for': '203.0.113.7' } };
  const isTrusted = trustedAddressIn(() => true);
  const clientAddressOf = clientAddressIn(isTrusted);
  // The function reads only these two properties of the request.
  expect(clientAddressOf(request as unknown as Parameters<typeof clientAddressOf>[0])).toBe('');
  // The bug: Express asks about the address of a closed connection, too, and the request failed with an error in the log.
  expect(isTrusted(undefined, 0)).toBe(false);
});
