// The attack: guessing. Every use of randomness in the source is looked at here, so a new one cannot be weak unnoticed.
// test/api/strength.test.ts observes the secrets themselves.
import ts from 'typescript';
import { evaluate, sourceOf, sourcesIn } from './support/contract/constants.ts';

const BITS = 128;

type Use = {
  readonly file: string;
  /** The call, such as "randomBytes(32)". */
  readonly call: string;
  /** Null: the call alone does not tell. */
  readonly bits: number | null;
  /** What is done with the result at once, such as "toString"; empty: nothing. */
  readonly then: string;
};

const SOURCES = /^(random\w*|getRandomValues|generateKey\w*|generatePrime\w*|webcrypto|nanoid|v[1-9])$/;

const uses = sourcesIn('src').flatMap((file) => usesIn(file));

function usesIn(file: string): Use[] {
  const found: Use[] = [];
  const visit = (node: ts.Node) => {
    const isSecret = ts.isNewExpression(node) && node.expression.getText() === 'Secret';
    if ((ts.isCallExpression(node) && SOURCES.test(nameOf(node.expression))) || isSecret) {
      const then = ts.isPropertyAccessExpression(node.parent) ? node.parent.name.text : '';
      found.push({ file, call: node.getText().replace(/\s+/g, ' '), bits: bitsOf(file, node), then });
    }
    node.forEachChild(visit);
  };
  visit(sourceOf(file));
  return found;
}

/** "randomBytes" of `crypto.randomBytes`. */
function nameOf(node: ts.Expression): string {
  return ts.isPropertyAccessExpression(node) ? node.name.text : node.getText();
}

function bitsOf(file: string, { expression, arguments: given }: ts.CallExpression | ts.NewExpression): number | null {
  const [first] = given ?? [];
  const name = nameOf(expression);
  if (first === undefined) return null;
  if (name === 'randomBytes') return 8 * evaluate(file, first);
  if (name === 'getRandomValues' && ts.isNewExpression(first) && first.getText().startsWith('new Uint8Array('))
    return bitsOfBytes(file, first.arguments?.[0]);
  if (name !== 'Secret' || !ts.isObjectLiteralExpression(first)) return null;
  const size = first.properties.find((member) => member.name?.getText() === 'size');
  return size !== undefined && ts.isPropertyAssignment(size) ? bitsOfBytes(file, size.initializer) : null;
}

function bitsOfBytes(file: string, count: ts.Expression | undefined): number | null {
  return count === undefined ? null : 8 * evaluate(file, count);
}

/** The uses whose call alone does not prove 128 bits, and why they need not or what else proves it. */
const OTHERS: Readonly<Record<string, string>> = {
  'src/api/response-check.ts Math.random()': 'which responses are validated',
  'src/api/unreadable-request.ts randomUUID()': 'the id of a request',
  'src/app.ts randomUUID()': 'the id of a request',
  'src/client/clock.ts Math.random()': 'the length of a wait',
  'src/client/parameters.ts randomKey()': 'made of random bytes in the same file',
  'src/client/sending.ts clock.random()': 'the length of a wait',
  'src/delivery/deliveries.ts Math.random()': 'the length of a wait',
  'src/domain/api-key.ts randomInt(ALPHABET.length)': 'an API key, which strength.test.ts observes',
  'src/domain/keyring.ts randomBytes(NONCE_BYTES)':
    'the nonce of AES-GCM, which is no secret, and has 96 bits (NIST SP 800-38D)',
  'src/domain/recovery-code.ts randomInt(ALPHABET.length)': 'a recovery code, which strength.test.ts observes',
  'src/observability/tracing/open-telemetry.ts randomUUID()': 'the name of a process in its traces',
  'src/postgres/embedded-cluster.ts randomUUID()': 'the name of a draft in a folder that others cannot write',
  'src/postgres/encryption-key-file.ts randomUUID()': 'the name of a draft in a folder that others cannot write',
  'src/postgres/pooler.ts randomUUID()': 'the name of a prepared statement',
  'src/service/accounts/second-factor-code.ts new Secret({ buffer: Uint8Array.from(keyring.decrypt(totpSecret, placeOfTotpSecret(user))).buffer })':
    'the stored secret, not a new one',
};

const isStrong = ({ bits }: Use) => bits !== null && bits >= BITS;

test('every secret has at least 128 random bits, and all of them are used', () => {
  const strong = uses.filter(isStrong);
  // The tokens of sessions and forms, keys and secrets of the database, webhooks and second factors, and of the client.
  expect(strong.length).toBeGreaterThanOrEqual(9);
  // Not "slice", which would leave fewer.
  expect(strong.filter(({ then }) => then !== '' && then !== 'toString')).toEqual([]);
});

test('every other use of randomness makes nothing that must not be guessed, or is observed elsewhere', () => {
  const others = uses.filter((use) => !isStrong(use)).map(({ file, call }) => `${file} ${call}`);
  expect([...new Set(others)].toSorted()).toEqual(Object.keys(OTHERS).toSorted());
});

test('ids of rows are UUIDs of version 7, and no secrets are made with the package', () => {
  for (const file of sourcesIn('src')) {
    const [, names = ''] = /import \{([^}]*)\} from 'uuid'/.exec(sourceOf(file).text) ?? [];
    expect({ file, names: names.trim() }).toEqual({ file, names: expect.stringMatching(/^(|NIL|v7 as newId)$/) });
  }
});
