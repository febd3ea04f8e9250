import { DomainError } from '../../../src/domain/errors.ts';
import {
  isInList,
  MAX_ALLOWED_ADDRESSES,
  networksOutside,
  parseAddressList,
} from '../../../src/domain/keys/address-list.ts';

function mistakesIn(text: string): readonly string[] {
  try {
    parseAddressList(text, 'addresses');
    return [];
  } catch (error) {
    if (error instanceof DomainError) return error.fields?.['addresses'] ?? [];
    throw error;
  }
}

test('lines, blanks and commas separate entries, which are kept in order, in canonical form and once', () => {
  const text = ' 203.0.113.7, 203.0.113.99/24\r\n\n2001:DB8::1\t::ffff:203.0.113.7;203.0.113.7/32\r10.0.0.0/8 ';
  expect(parseAddressList(text, 'addresses')).toEqual(['203.0.113.7', '203.0.113.0/24', '2001:db8::1', '10.0.0.0/8']);
  expect(parseAddressList(' \n ', 'addresses')).toEqual([]);
});

test('each mistake names its line and the remedy', () => {
  expect(mistakesIn('203.0.113.7\n\nexample.org 203.0.113.0/33\nfe80::1%eth0\n2001:db8::/x')).toEqual([
    'has a mistake in line 3: “example.org” is no IP address or subnet. Write one such as 203.0.113.7, 203.0.113.0/24 or 2001:db8::/32.',
    'has a mistake in line 3: “203.0.113.0/33” has no valid prefix length. Write a number from 0 to 32 after the slash.',
    'has a mistake in line 4: “fe80::1%eth0” has a zone. Leave out the part from “%” on.',
    'has a mistake in line 5: “2001:db8::/x” has no valid prefix length. Write a number from 0 to 128 after the slash.',
  ]);
});

test('of many mistakes, or a long one, only a part is repeated', () => {
  const mistakes = mistakesIn('x\n'.repeat(1005));
  expect([mistakes.length, mistakes.at(-1)]).toEqual([6, 'has 1,000 more mistakes.']);
  expect(mistakesIn('x\n'.repeat(6)).at(-1)).toBe('has 1 more mistake.');
  expect(mistakesIn('x\n'.repeat(5))).toHaveLength(5);
  expect(mistakesIn('x'.repeat(10_000)).join('').length).toBeLessThan(300);
});

test('50 entries are allowed, and 51 are not', () => {
  const entries = Array.from({ length: MAX_ALLOWED_ADDRESSES }, (_, i) => `192.0.2.${i}`);
  expect(parseAddressList(entries.join('\n'), 'addresses')).toHaveLength(50);
  // A repeated entry does not count.
  expect(parseAddressList([...entries, '192.0.2.0'].join('\n'), 'addresses')).toHaveLength(50);
  expect(mistakesIn([...entries, '192.0.2.200'].join('\n'))).toEqual([
    'must have at most 50 entries, not 51. Combine neighbouring addresses into a subnet.',
  ]);
});

test.each([
  ['203.0.113.0/24', '203.0.113.0', true],
  ['203.0.113.0/24', '203.0.113.255', true],
  ['203.0.113.0/24', '203.0.112.255', false],
  ['203.0.113.0/24', '203.0.114.0', false],
  ['203.0.113.7', '203.0.113.7', true],
  ['203.0.113.7', '203.0.113.8', false],
  ['2001:db8::/33', '2001:db8:7fff:ffff:ffff:ffff:ffff:ffff', true],
  ['2001:db8::/33', '2001:db8:8000::', false],
  ['0.0.0.0/0', '203.0.113.7', true],
  ['0.0.0.0/0', '2001:db8::1', false],
  ['::/0', '2001:db8::1', true],
  // Node's BlockList would match this address.
  ['::/0', '203.0.113.7', false],
  ['10.0.0.0/8 2001:db8::/32 203.0.113.7', '203.0.113.7', true],
  ['203.0.113.7', null, false],
])('in the list %s, %s: %s', (list, address, isIn) => {
  expect(isInList(list, address)).toBe(isIn);
});

test('a network is in a list if an entry contains it as a whole', () => {
  const list = ['203.0.113.0/24', '2001:db8:1::/48', '2001:db8:2:3::1'];
  const inside = ['203.0.113.7', '203.0.113.0/24', '2001:db8:1:2::/64'];
  const outside = ['203.0.112.7', '203.0.112.0/23', '2001:db8:2:3::/64', '2001:db8::/32'];
  expect(networksOutside(list, [...inside, ...outside])).toEqual(outside);
  expect(networksOutside([], outside)).toEqual([]);
});
