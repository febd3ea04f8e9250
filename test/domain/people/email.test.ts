import {
  normalDomain,
  normalEmail,
  parseDomain,
  shownEmail,
  withNormalDomain,
} from '../../../src/domain/people/email.ts';

test.each([
  ['grete@xn--bcher-kva.example', ['grete@bücher.example', 'Grete@BÜCHER.Example', 'grete@bu\u0308cher.example']],
  ['mei@example.org', ['mei@ｅｘａｍｐｌｅ.org', 'mei@example。org', 'mei@EXAMPLE.org.', ' mei@example.org ']],
  ['mei@xn--fa-hia.example', ['mei@faß.example', 'mei@XN--FA-HIA.example']],
  ['jos\u00e9@example.org', ['jose\u0301@example.org', 'JOS\u00c9@example.org']],
])('%s is one mailbox, however it is written', (email, spellings) => {
  // The attack: creating a second account for the same mailbox. Browsers send the domain in ASCII, and people type it in Unicode.
  expect(spellings.map(normalEmail)).toEqual(spellings.map(() => email));
  expect(normalEmail(email)).toBe(email);
  expect(normalEmail(shownEmail(email))).toBe(email);
  const domain = email.slice(email.indexOf('@') + 1);
  for (const each of spellings) expect(parseDomain(each.trim().slice(each.trim().indexOf('@')))).toBe(domain);
});

test.each([
  'mei@corp.example/elsewhere.example',
  'mei@corp.example?elsewhere.example',
  'mei@corp.example#elsewhere.example',
  'mei@corp%2Eexample',
  'mei@corp.example:25',
  'mei@corp..example',
  'mei@example',
  'mei@exa\u00admple.org',
  'mei@\u200b.example',
  `${'x'.repeat(60)}@${'ü'.repeat(60)}.${'ü'.repeat(60)}.${'ü'.repeat(60)}.example`,
])('%s is no e-mail', (text) => {
  // The attack: a domain that becomes another domain when it is converted to ASCII.
  expect(normalEmail(text)).toBeNull();
});

test.each([
  ['@bücher.example', '@xn--bcher-kva.example'],
  ['Grete@BÜCHER.example', 'Grete@xn--bcher-kva.example'],
  ['grete@bü', 'grete@bü'],
  ['Müller.Example', 'Müller.Example'],
])('a search for %s finds e-mails as they are stored', (text, search) => {
  expect(withNormalDomain(text)).toBe(search);
});

test('an e-mail is shown as people write it', () => {
  expect(shownEmail('grete@xn--bcher-kva.example')).toBe('grete@bücher.example');
  expect(normalDomain('BÜCHER.example')).toBe('xn--bcher-kva.example');
});
