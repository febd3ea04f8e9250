// Our code judges an address when it looks up the key, and PostgreSQL judges it in a write. The two judgements must agree on
// every notation.
import { isInList, parseAddressList } from '../../src/domain/keys/address-list.ts';
import { addressIn } from '../../src/domain/network.ts';
import { randomNumbers } from '../support/data/random-numbers.ts';
import { useDatabase } from '../support/postgres/store.ts';

const { db } = await useDatabase();
const ADDRESSES = 10_000;
const LISTS = 50;

const random = randomNumbers(36);
const integer = (below: number) => Math.floor(random() * below);
const pick = <T>(values: readonly T[]): T => {
  const value = values[integer(values.length)];
  if (value === undefined) throw new Error('There is nothing to pick from.');
  return value;
};

type Address = { readonly family: 4 | 6; readonly bytes: readonly number[] };

/** Returns an address made of few different bytes, so that many addresses are in a subnet or at its edge. */
function someAddress(): Address {
  const family = pick([4, 6] as const);
  const length = family === 4 ? 4 : 16;
  return { family, bytes: Array.from({ length }, () => pick([0, 0, 1, 127, 128, 254, 255])) };
}

const hex = (byte: number) => byte.toString(16).padStart(2, '0');
const groupsOf = ({ bytes }: Address) =>
  Array.from({ length: bytes.length / 2 }, (_, i) => `${hex(bytes[2 * i] ?? 0)}${hex(bytes[2 * i + 1] ?? 0)}`);

/** Returns the address in the simplest notation, which PostgreSQL reads. */
const plain = (address: Address) => (address.family === 4 ? address.bytes.join('.') : groupsOf(address).join(':'));

/** Returns the address in one of the notations that clients, proxies and people use. */
function written(address: Address): string {
  if (address.family === 4) {
    const [text, low] = [plain(address), groupsOf(address).join(':')];
    return pick([text, `::ffff:${text}`, `::FFFF:${text}`, `::ffff:${low}`, `0:0:0:0:0:ffff:${low}`]);
  }
  const groups = groupsOf(address);
  const short = groups.map((group) => group.replace(/^0{1,3}/, ''));
  const shortened = short.join(':').replace(/(^|:)0(:0)+(:|$)/, '::');
  return pick([groups.join(':'), short.join(':'), shortened, shortened.toUpperCase()]);
}

function subnet(): { readonly written: string; readonly plain: string } {
  const address = someAddress();
  const size = 8 * address.bytes.length;
  const bits = pick([0, 1, 8, size - 9, size - 8, size - 1, size, integer(size + 1)]);
  const text = written(address);
  const isMapped = address.family === 4 && text.includes(':');
  return { written: `${text}/${bits + (isMapped ? 96 : 0)}`, plain: `${plain(address)}/${bits}` };
}

test('no address of many, in any notation, is judged otherwise than by PostgreSQL', async () => {
  let accepted = 0;
  for (let i = 0; i < LISTS; i += 1) {
    const subnets = Array.from({ length: 1 + integer(8) }, subnet);
    const list = parseAddressList(subnets.map((each) => each.written).join('\n'), 'addresses');
    const addresses = Array.from({ length: ADDRESSES / LISTS }, someAddress);
    const { rows } = await db.pool.query<{ isIn: boolean; isInOurs: boolean }>(
      `select address::inet <<= any($2::inet[]) as "isIn", address::inet <<= any($3::inet[]) as "isInOurs"
       from unnest($1::text[]) with ordinality as given (address, i) order by i`,
      [addresses.map(plain), subnets.map((each) => each.plain), list],
    );
    for (const [at, { isIn, isInOurs }] of rows.entries()) {
      const text = written(addresses[at] ?? someAddress());
      const judged = isInList(list.join(' '), addressIn(text));
      expect([list, text, judged, isInOurs]).toEqual([list, text, isIn, isIn]);
      accepted += Number(judged);
    }
  }
  // Enough addresses were accepted, and enough were refused.
  expect(accepted).toBeGreaterThan(ADDRESSES / 20);
  expect(accepted).toBeLessThan((19 * ADDRESSES) / 20);
});
