import { checkPasswordStrength } from '../../../src/domain/people/password.ts';

const OWNER = {
  name: 'Adaeze Okafor',
  email: 'adaeze.okafor@northwind.example',
  organizationName: 'Northwind Learning Alliance',
  hasSecondFactor: false,
};
const problem = (password: string, change = {}) => checkPasswordStrength(password, { ...OWNER, ...change });

test.each([
  'violet marmot drums 41 kettles',
  'jP9#vLq2!xWz7$Kt',
  'żółta gęś śpiewa w maju',
  '雨の日に紫の傘を三本忘れた電車の話',
  'kettles and drums of northwind',
])('accepts %j', (password) => {
  expect(problem(password)).toBeNull();
});

test.each([
  // The attack: trying lists of common passwords and their usual variations.
  'passwordpassword',
  'P@ssw0rd12345678',
  'Welcome2024Welcome2024',
  'qwertyuiopasdfghjkl',
  '123456789012345',
  'aaaaaaaaaaaaaaaaaaaa',
  'abcdefghijklmnopqrst',
  'abcabcabcabcabcabc',
  'kdwpkdwpkdwpkdwpkdwp',
  'correct horse battery staple',
  'iloveyou-iloveyou-1',
  'Summer2026!Summer2026!',
  'charter-charter-charter',
])('refuses %j as too easy', (password) => {
  expect(problem(password)).toMatch(/^is too easy to guess: it is a common password/);
});

test.each(['Adaeze.Okafor.1985', 'northwind-learning-1', 'ADAEZE.OKAFOR@northwind.example'])(
  'refuses %j, which contains known data of its owner',
  (password) => {
    expect(problem(password)).toMatch(/^is too easy to guess: it consists of your name/);
  },
);

test('states the required length, counted in characters, not bytes', () => {
  expect(problem('mauve otters')).toBe('must be at least 15 characters long; it has 12.');
  expect(problem('mauve otters', { hasSecondFactor: true })).toBeNull();
  expect(problem('mauve otter', { hasSecondFactor: true })).toBe('must be at least 12 characters long; it has 11.');
  const long = Array.from({ length: 128 }, (_, i) => String.fromCodePoint(0x4e00 + ((i * 37) % 400))).join('');
  expect(problem(long)).toBeNull();
  expect(problem(`${long}y`)).toBe('must be at most 128 characters long; it has 129.');
  expect(problem('e\u0301'.repeat(14))).toBe('must be at least 15 characters long; it has 14.');
});
