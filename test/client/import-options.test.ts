import { inspect } from 'node:util';
import { readOptions } from '../../src/client/import/options.ts';
import { proxyAdvice } from '../../src/client/import/progress.ts';
import { columnsOf } from '../../src/client/import/source-rows.ts';

const envOf = ({ key }: { key: string }) => ({ CHARTER_URL: 'http://127.0.0.1:3000', CHARTER_API_KEY: key });

function failureOf(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}

test.each<[title: string, parameters: string[], message: string, env?: object]>([
  ['no file', [], 'Name one CSV file.'],
  ['two files', ['a.csv', 'b.csv'], 'Name one CSV file.'],
  ['the standard input', ['-'], 'The command does not read its standard input.'],
  ['a key', ['a.csv', '--key', 'charter_live_secret'], "Unknown option '--key'."],
  ['a map without a field', ['a.csv', '--map', 'Code'], '--map must be COLUMN=FIELD'],
  [
    'two fields for a column',
    ['a.csv', '--map', 'x=name', '--map', ' x =description'],
    'names the column "x" more than',
  ],
  ['two characters', ['a.csv', '--delimiter', ';;'], '--delimiter must be one character'],
  ['a quotation mark', ['a.csv', '--delimiter', '"'], '--delimiter must be one character, or "tab", and no quotation'],
  ['a bound without deletions', ['a.csv', '--delete-at-most', '5'], '--delete-at-most needs --delete-missing.'],
  ['a bound in percent', ['a.csv', '--delete-missing', '--delete-at-most', '5%'], '--delete-at-most must be a whole'],
  ['an unknown encoding', ['a.csv', '--encoding', 'x'], '--encoding is not the name of an encoding'],
  ['the file as the report', ['a.csv', '--refused', './a.csv'], '--refused must not be the file itself'],
  ['no address', ['a.csv'], 'Set CHARTER_URL to the address of Charter, or use --url.', { CHARTER_URL: '' }],
  ['half an address', ['a.csv'], 'The address of Charter must begin with http', { CHARTER_URL: 'localhost:3000' }],
  ['no key in the environment', ['a.csv'], 'Set the environment variable CHARTER_API_KEY', { CHARTER_API_KEY: ' \n' }],
  [
    '"Bearer" before the key',
    ['a.csv'],
    'CHARTER_API_KEY must be the API key alone',
    { CHARTER_API_KEY: 'Bearer secret' },
  ],
  [
    'two keys',
    ['a.csv'],
    'CHARTER_API_KEY is not an API key',
    { CHARTER_API_KEY: 'charter_test_secret\ncharter_test_b' },
  ],
])('a command line is wrong with %s', (_title, parameters, message, env = {}) => {
  const given = { ...envOf({ key: 'charter_test_secret' }), ...env };
  const error = failureOf(() => readOptions(parameters, given));
  expect(error).toMatchObject({ message: expect.stringContaining(message), isMisuse: true });
  expect(inspect(error)).not.toContain('secret');
});

test.each([
  ['a.csv', 'a.refused.csv'],
  ['b/a.refused.csv', 'b/a.refused-2.csv'],
  ['a.refused-2.csv', 'a.refused-3.csv'],
  ['a.REFUSED-9.CSV', 'a.REFUSED-9.refused.csv'],
  ['.refused.csv', '.refused.refused.csv'],
])('the report of %s is %s, whose name does not grow from report to report', (file, refused) => {
  expect(readOptions([file], envOf({ key: 'charter_test_key' }))).toMatchObject({ refused });
});

test('blanks and line breaks around the key and the address are no part of them', () => {
  const env = { CHARTER_URL: ' https://charter.example.org\r', CHARTER_API_KEY: '\ncharter_test_key\r\n' };
  expect(readOptions(['a.csv'], env)).toMatchObject({ url: 'https://charter.example.org', apiKey: 'charter_test_key' });
});

test.each([
  ['https://charter.example.org', { HTTPS_PROXY: 'x' }, 'HTTPS_PROXY'],
  ['http://charter.example.org', { http_proxy: 'x', HTTPS_PROXY: 'x' }, 'HTTP_PROXY'],
  ['https://charter.example.org', { HTTP_PROXY: 'x' }, undefined],
  ['https://charter.example.org', { HTTPS_PROXY: 'x', NODE_USE_ENV_PROXY: '1' }, undefined],
])('the proxy that Node does not use for %s with %j is %s', (url, env, name) => {
  expect(/^ (\w+) is set, but Node uses it only with NODE_USE_ENV_PROXY=1/.exec(proxyAdvice(url, env))?.[1]).toBe(name);
});

test.each<[title: string, header: string[], map: [string, string][], message: string]>([
  ['no column for the ID', ['name', 'Code'], [], 'No column is for the field "external_id".'],
  ['a column in other letters', ['External ID', 'name'], [], 'Did you mean --map "External ID=external_id"?'],
  ['another delimiter', ['external_id;name'], [], 'Did you mean --delimiter ";"? The columns of the file:'],
  ['another delimiter and a map', ['Code\tTitle'], [['Code', 'external_id']], 'Did you mean --delimiter tab?'],
  ['UTF-16', ['e\0x\0'], [], 'Is it UTF-16? Use --encoding utf-16le'],
  ['an unknown column', ['external_id', 'name'], [['Code', 'name']], '--map names the column "Code"'],
  ['an unknown field', ['external_id', 'name', 'x'], [['x', 'colour']], '--map names the field "colour"'],
  ['two columns for a field', ['external_id', 'name', ' name'], [], 'Several columns are for the field "name"'],
])('column names are refused with %s', (_title, header, map, message) => {
  expect(() => columnsOf(header, new Map(map))).toThrow(message);
});
