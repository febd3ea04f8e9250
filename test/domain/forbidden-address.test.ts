import { isForbiddenAddress, isNetwork } from '../../src/domain/forbidden-address.ts';

// The attack: a webhook URL that leads to a service which trusts everyone within the server's network.

test.each([
  ['"this network"', ['0.0.0.0', '0.0.0.1', '0.255.255.255']],
  ['private IPv4', ['10.0.0.0', '10.255.255.255', '172.16.0.1', '172.31.255.255', '192.168.0.1', '192.168.255.255']],
  ['shared IPv4', ['100.64.0.0', '100.127.255.255']],
  ['loopback', ['127.0.0.1', '127.255.255.255', '::1']],
  ['link-local', ['169.254.0.1', '169.254.255.255', 'fe80::1', 'febf:ffff::1', 'fe80::1%eth0', '2600::1%eth0']],
  ['metadata', ['169.254.169.254', '168.63.129.16', '100.100.100.200', '192.0.0.192', 'fd00:ec2::254', 'fd20:ce::254']],
  ['unspecified', ['0.0.0.0', '::']],
  ['multicast', ['224.0.0.1', '239.255.255.255', 'ff02::1', 'ff0e::1']],
  ['reserved and broadcast', ['240.0.0.1', '255.255.255.255', '192.88.99.1', '4000::1', 'fec0::1', '5f00::1']],
  ['documentation', ['192.0.2.1', '198.51.100.1', '203.0.113.1', '2001:db8::1', '3fff::1', '3fff:fff:ffff::1']],
  ['benchmarking', ['198.18.0.1', '198.19.255.255', '2001:2::1']],
  ['unique local', ['fc00::1', 'fdff:ffff::1']],
  ['IPv4 in IPv6', ['::ffff:127.0.0.1', '::ffff:7f00:1', '::127.0.0.1', '::ffff:0:127.0.0.1', '::ffff:93.184.215.14']],
  ['NAT64', ['64:ff9b::127.0.0.1', '64:ff9b:1::a00:1']],
  ['6to4', ['2002:7f00:1::1', '2002:a00:1::']],
  ['Teredo and ORCHID', ['2001::1', '2001:0:7f00:1::', '2001:10::1', '2001:20::1', '2001:1ff:ffff::1']],
  ['no IP address', ['', 'localhost', '127.1', '0x7f000001', '2130706433', '[::1]', '93.184.215.14/32']],
])('%s is forbidden', (_, addresses) => {
  expect(addresses.filter((address) => !isForbiddenAddress(address, []))).toEqual([]);
});

test('global unicast addresses are allowed, the neighbours of forbidden subnets included', () => {
  const ipv4 = ['1.1.1.1', '9.255.255.255', '11.0.0.0', '93.184.215.14', '100.63.255.255', '100.128.0.0', '126.0.0.1'];
  const more = ['128.0.0.1', '169.253.0.1', '169.255.0.1', '172.15.0.1', '172.32.0.0', '198.17.0.1', '198.20.0.0'];
  const last = ['168.63.129.15', '168.63.129.17', '192.167.0.1', '192.169.0.0', '223.255.255.255'];
  const ipv6 = [
    '2001:200::1',
    '2001:db7::1',
    '2001:db9::1',
    '2003::1',
    '2600::1',
    '2a00:1450::1',
    '3ffe::1',
    '3fff:1000::1',
  ];
  for (const address of [...ipv4, ...more, ...last, ...ipv6])
    expect({ address, isForbidden: isForbiddenAddress(address, []) }).toEqual({ address, isForbidden: false });
});

test('the networks that the operator allows are allowed, and nothing beside them', () => {
  const allowed = ['127.0.0.2', '10.1.0.0/16', 'fd00:1::/32', '::1'];
  for (const address of ['127.0.0.2', '10.1.0.0', '10.1.255.255', 'fd00:1::1', '::1', '::ffff:10.1.2.3', '1.1.1.1'])
    expect({ address, isForbidden: isForbiddenAddress(address, allowed) }).toEqual({ address, isForbidden: false });
  for (const address of ['127.0.0.1', '127.0.0.3', '10.0.255.255', '10.2.0.0', 'fd00:2::1', '::2', '::ffff:10.2.0.0'])
    expect({ address, isForbidden: isForbiddenAddress(address, allowed) }).toEqual({ address, isForbidden: true });
});

test('a network is an address, or an address with the number of its bits', () => {
  expect(
    ['10.0.0.0/8', '10.0.0.0/32', '0.0.0.0/0', '::1', 'fd00::/8', '::/128'].filter((text) => !isNetwork(text)),
  ).toEqual([]);
  const others = ['', '10.0.0.0/33', '::/129', '10.0.0', '10.0.0.0/', '10.0.0.0/-1', '10.0.0.0/8/8', 'loopback', 'a/8'];
  expect(others.filter(isNetwork)).toEqual([]);
});
