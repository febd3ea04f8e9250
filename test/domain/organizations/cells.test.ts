import { parseCells } from '../../../src/domain/organizations/cells.ts';

test('a cell is its name, its title and its address; the URL of its metrics may follow', () => {
  const text =
    'eu1 Europe https://eu1.charter.example.org, us1 United States https://us1.charter.example.org/ http://10.2.0.11:9464/metrics';
  expect(parseCells(text)).toEqual([
    { name: 'eu1', title: 'Europe', url: 'https://eu1.charter.example.org', metricsUrl: null },
    {
      name: 'us1',
      title: 'United States',
      url: 'https://us1.charter.example.org',
      metricsUrl: 'http://10.2.0.11:9464/metrics',
    },
  ]);
});

test.each([
  ['nothing', ''],
  ['a name that no key can contain', 'EU Europe https://eu1.example.org'],
  ['no title', 'eu1 https://eu1.example.org'],
  ['no address', 'eu1 Europe'],
  ['an address that is no origin', 'eu1 Europe https://eu1.example.org/sign-in'],
  ['an address with a password', 'eu1 Europe https://ada:secret@eu1.example.org'],
  ['another scheme', 'eu1 Europe ftp://eu1.example.org'],
  ['metrics that are no URL', 'eu1 Europe https://eu1.example.org http://['],
  ['metrics with a password', 'eu1 Europe https://eu1.example.org http://ada:secret@10.1.0.11:9464/metrics'],
  ['a comma at the end', 'eu1 Europe https://eu1.example.org,'],
  ['a name twice', 'eu1 Europe https://eu1.example.org,eu1 Europe https://eu2.example.org'],
  ['an address twice', 'eu1 Europe https://eu1.example.org,us1 America https://eu1.example.org'],
])('%s is refused', (_, text) => {
  expect(parseCells(text)).toBeNull();
});
