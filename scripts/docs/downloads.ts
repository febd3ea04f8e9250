/** The files that both pages link to, beside them and on the server. */
export const DOWNLOADS = [
  { file: 'openapi.json', name: 'openapi.json' },
  { file: 'openapi.yaml', name: 'openapi.yaml' },
  { file: 'postman.json', name: 'Postman collection' },
  { file: 'charter-client.tgz', name: 'TypeScript client' },
  { file: 'charter-mock.tgz', name: 'Mock for test suites' },
];
