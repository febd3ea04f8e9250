import { prove } from '../../../src/service/sign-in/prove.ts';
import { giveSecondFactor, signIn } from '../../../src/service/sign-in/sign-in.ts';
import {
  addSecondFactor,
  codeAt,
  createAccount,
  newAuditSource,
  PASSWORD,
  signInAs,
} from '../../support/data/accounts.ts';
import { outcomeOf, times } from '../../support/data/actors.ts';
import { useSharedDatabase } from '../../support/postgres/store.ts';

const { db } = await useSharedDatabase();

const ATTEMPTS = 10;
const kindsOf = (results: readonly { kind: string }[], kind: string) => results.filter((each) => each.kind === kind);

test('of 60 concurrent wrong passwords ten are checked, and then the right one is rate-limited too', async () => {
  // The attack: sending guesses in parallel, so that all are checked before the first failure is counted.
  const { email } = await createAccount(db);
  const auditSource = newAuditSource();
  const results = await times(60, (i) => signIn(db, { email, password: `wrong ${i}`, auditSource }));
  expect(kindsOf(results, 'wrong')).toHaveLength(ATTEMPTS);
  expect(kindsOf(results, 'rate-limited')).toHaveLength(60 - ATTEMPTS);
  const limited = await signIn(db, { email, password: PASSWORD, auditSource });
  expect(limited).toEqual({ kind: 'rate-limited', retryAfterSeconds: expect.any(Number) });
  expect(limited.kind === 'rate-limited' && limited.retryAfterSeconds).toBeGreaterThan(0);
  expect(limited.kind === 'rate-limited' && limited.retryAfterSeconds).toBeLessThanOrEqual(900);
});

test('an unknown e-mail is rate-limited exactly as a known one', async () => {
  // The attack: learning which accounts exist, if only existing accounts are slowed.
  const auditSource = newAuditSource();
  const email = `${crypto.randomUUID()}@example.test`;
  const results = await times(ATTEMPTS + 1, () => signIn(db, { email, password: 'wrong', auditSource }));
  expect(kindsOf(results, 'rate-limited')).toHaveLength(1);
});

test('during guesses at an account, its owner can sign in from elsewhere, and others from the attacker’s address', async () => {
  // The attack: failing on purpose to lock out the owner or the whole office.
  const victim = await createAccount(db);
  const colleague = await createAccount(db, { scope: victim.scope });
  const auditSource = newAuditSource();
  await times(60, () => signIn(db, { email: victim.email, password: 'wrong', auditSource }));
  const attempts = [
    { email: victim.email, auditSource: newAuditSource() },
    { email: colleague.email, auditSource },
  ];
  for (const attempt of attempts) {
    expect(await signIn(db, { ...attempt, password: PASSWORD })).toMatchObject({ kind: 'signed-in' });
  }
});

test('an address that guesses at many accounts is rate-limited, except for people who signed in from there before', async () => {
  // The attack: trying one password for a thousand accounts, one guess each.
  const [regular, stranger] = [await createAccount(db), await createAccount(db)];
  const auditSource = newAuditSource();
  await signIn(db, { email: regular.email, password: PASSWORD, auditSource });
  const guess = (i: number) =>
    signIn(db, { email: `${i}-${crypto.randomUUID()}@example.test`, password: PASSWORD, auditSource });
  await guess(0);
  // Writes the state after 90 guesses directly, because each guess takes as long as a real verification.
  const counted = await db.prisma.signInFailure.updateMany({
    where: { key: { startsWith: 'password-network:', endsWith: auditSource.ip } },
    data: { points: 90 },
  });
  expect(counted.count).toBe(1);
  await times(40, guess);
  expect(await signIn(db, { email: stranger.email, password: PASSWORD, auditSource })).toMatchObject({
    kind: 'rate-limited',
  });
  expect(await signIn(db, { email: regular.email, password: PASSWORD, auditSource })).toMatchObject({
    kind: 'signed-in',
  });
});

test('a flood from many addresses slows strangers, but not the owner at a known address', async () => {
  // The attack: a botnet guesses the password of one account.
  const account = await createAccount(db);
  const home = newAuditSource();
  await signIn(db, { email: account.email, password: PASSWORD, auditSource: home });
  const bound = { points: 1000, expire: BigInt(Date.now() + 3_600_000) };
  await signIn(db, { email: account.email, password: 'wrong', auditSource: newAuditSource() });
  await db.prisma.signInFailure.updateMany({ where: { key: { startsWith: 'password-account:' } }, data: bound });
  const [stranger, owner] = [newAuditSource(), home];
  expect(await signIn(db, { email: account.email, password: PASSWORD, auditSource: stranger })).toMatchObject({
    kind: 'rate-limited',
  });
  expect(await signIn(db, { email: account.email, password: PASSWORD, auditSource: owner })).toMatchObject({
    kind: 'signed-in',
  });
  await db.prisma.signInFailure.deleteMany({ where: { key: { startsWith: 'password-account:' } } });
});

test('one IPv6 network counts as one address', async () => {
  // The attack: sending each guess from another of the 2^64 addresses that every customer has.
  const { email } = await createAccount(db);
  const results = await times(30, (i) =>
    signIn(db, { email, password: 'wrong', auditSource: newAuditSource(`2001:db8:7:9::${i.toString(16)}`) }),
  );
  expect(kindsOf(results, 'wrong')).toHaveLength(ATTEMPTS);
});

test('a successful sign-in resets the count', async () => {
  const { email } = await createAccount(db);
  const auditSource = newAuditSource();
  for (const round of ['first', 'second']) {
    const results = await times(ATTEMPTS - 1, () => signIn(db, { email, password: `${round} wrong`, auditSource }));
    expect(kindsOf(results, 'wrong')).toHaveLength(ATTEMPTS - 1);
    expect(await signIn(db, { email, password: PASSWORD, auditSource })).toMatchObject({ kind: 'signed-in' });
  }
});

test('second-factor codes are rate-limited across half-open sessions, even with the right password each time', async () => {
  // The attack: with a known password, trying a million codes, each in a new session that waits for the second factor.
  const now = new Date();
  const account = await createAccount(db);
  const { uri } = await addSecondFactor(db, account, now);
  const auditSource = newAuditSource();
  const half = async () => {
    const result = await signIn(db, { email: account.email, password: PASSWORD, auditSource: newAuditSource(), now });
    return result.kind === 'second-factor' ? result.token : '';
  };
  const right = codeAt(uri, now);
  const wrong = right === '000000' ? '000001' : '000000';
  const halves = await times(3, half);
  const results = await times(60, (i) =>
    giveSecondFactor(db, { token: halves[i % 3] ?? '', code: wrong, auditSource, now }),
  );
  expect(kindsOf(results, 'wrong')).toHaveLength(ATTEMPTS);
  const token = await half();
  expect(await giveSecondFactor(db, { token, code: right, auditSource, now })).toMatchObject({ kind: 'rate-limited' });
  expect(await giveSecondFactor(db, { token, code: right, auditSource: newAuditSource(), now })).toMatchObject({
    kind: 'signed-in',
  });
});

test('of the codes that come from many addresses for one account, at most 40 are checked within an hour', async () => {
  // The attack: with a known password, sending each code from another address.
  const now = new Date();
  const account = await createAccount(db);
  const { uri } = await addSecondFactor(db, account, now);
  const half = await signIn(db, { email: account.email, password: PASSWORD, auditSource: newAuditSource(), now });
  const token = half.kind === 'second-factor' ? half.token : '';
  const code = codeAt(uri, now) === '000000' ? '000001' : '000000';
  const results = await times(60, () => giveSecondFactor(db, { token, code, auditSource: newAuditSource(), now }));
  expect(kindsOf(results, 'wrong')).toHaveLength(40);
  expect(kindsOf(results, 'rate-limited')).toHaveLength(20);
});

test('a stolen session cannot be used to guess the password', async () => {
  // The attack: guessing on the page that asks for a proof, instead of on the sign-in page.
  const account = await createAccount(db);
  const token = await signInAs(db, account);
  const outcomes = await times(30, (i) =>
    outcomeOf(prove(db, account, { given: { kind: 'password', password: `${i}`, code: '' }, token, now: new Date() })),
  );
  expect(outcomes.filter((each) => each.startsWith('invalid: proof_password is not right'))).toHaveLength(ATTEMPTS);
  expect(outcomes.filter((each) => each === 'rate-limited')).toHaveLength(30 - ATTEMPTS);
});
