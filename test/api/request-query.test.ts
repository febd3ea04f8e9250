import { readQuery } from '../../src/api/request-query.ts';

const TYPES = new Map([
  ['is_active', 'boolean'],
  ['limit', 'integer'],
  ['country', 'string'],
]);

test.each([
  ['is_active=true', { is_active: true }],
  ['is_active=false&limit=5', { is_active: false, limit: 5 }],
  ['is_active=True', { is_active: 'True' }],
  ['is_active=1', { is_active: '1' }],
  ['is_active=', { is_active: '' }],
  ['is_active=+true', { is_active: ' true' }],
  ['limit=true', { limit: 'true' }],
  ['country=true', { country: 'true' }],
])('%s is read by the types of the contract, and what is not of the type stays text', (text, values) => {
  expect(readQuery(text, TYPES)).toEqual({ values, repeated: [] });
});

test('a boolean that is given twice is repeated', () => {
  expect(readQuery('is_active=true&is_active=false', TYPES)).toEqual({
    values: { is_active: [true, false] },
    repeated: ['is_active'],
  });
});
