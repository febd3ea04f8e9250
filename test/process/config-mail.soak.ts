import { readConfig } from '../../src/config.ts';

const MAIL = {
  SMTP_URL: 'smtps://charter:hunter2@mail.example.org',
  MAIL_FROM: 'Charter <charter@example.org>',
  PUBLIC_URL: 'https://charter.example.org',
};

test('the public URL and the mail settings are read, and both are optional', () => {
  expect(readConfig({})).toMatchObject({ publicUrl: undefined, mail: null });
  const mail = { smtpUrl: MAIL.SMTP_URL, mailFrom: MAIL.MAIL_FROM };
  expect(readConfig(MAIL)).toMatchObject({ publicUrl: 'https://charter.example.org', mail });
  expect(readConfig({ PUBLIC_URL: 'http://localhost:3000/' })).toMatchObject({ publicUrl: 'http://localhost:3000' });
});

test.each([
  [{ PUBLIC_URL: 'charter.example.org' }, 'PUBLIC_URL is not an origin.'],
  [{ PUBLIC_URL: 'https://charter.example.org/app' }, 'PUBLIC_URL is not an origin.'],
  [{ PUBLIC_URL: 'javascript:alert(1)' }, 'PUBLIC_URL is not an origin.'],
  [{ PUBLIC_URL: 'https://user:password@example.org' }, 'PUBLIC_URL is not an origin.'],
  [{ ...MAIL, MAIL_FROM: '' }, 'The mail configuration is incomplete: MAIL_FROM is missing.'],
  [{ ...MAIL, SMTP_URL: '' }, 'The mail configuration is incomplete: SMTP_URL is missing.'],
  [{ ...MAIL, PUBLIC_URL: '' }, 'Mail is configured, but PUBLIC_URL is missing.'],
  [{ ...MAIL, SMTP_URL: 'https://mail.example.org' }, 'SMTP_URL is not an SMTP URL.'],
  [{ ...MAIL, MAIL_FROM: 'a@b.org\nBcc: c@d.org' }, 'MAIL_FROM is'],
])('%j is refused', (env, message) => {
  expect(() => readConfig(env)).toThrow(message);
});

test('a refusal never repeats a password', () => {
  // The attack: a mistyped URL puts its password into the log.
  for (const name of ['SMTP_URL', 'PUBLIC_URL']) {
    const refusal = () => readConfig({ ...MAIL, [name]: 'ftp://charter:hunter2@mail.example.org' });
    expect(refusal).toThrow(name);
    expect(refusal).toThrow(expect.not.objectContaining({ message: expect.stringContaining('hunter2') }));
  }
});
