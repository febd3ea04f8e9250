import { readQuery } from '../../src/api/api-request.ts';

const PARAMETERS = new Map([
  ['is_active', { type: 'boolean', normalForm: undefined }],
  ['limit', { type: 'integer', normalForm: undefined }],
  ['country', { type: 'string', normalForm: undefined }],
  ['search', { type: 'string', normalForm: 'NFC' }],
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
  ['country=e%CC%81&search=e%CC%81', { country: 'e\u0301', search: '\u00e9' }],
])('%s is read by the types of the contract, and what is not of the type stays text', (text, values) => {
  expect(readQuery(text, PARAMETERS)).toEqual({ values, repeated: [] });
});

test('a boolean that is given twice is repeated', () => {
  expect(readQuery('is_active=true&is_active=false', PARAMETERS)).toEqual({
    values: { is_active: [true, false] },
    repeated: ['is_active'],
  });
});
