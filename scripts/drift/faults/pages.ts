import type { Fault } from '../fault.ts';

const START = 'openapi/guides/getting-started.md';
const RETRIES = 'openapi/guides/retries-and-idempotency.md';

/** Faults in what derives from the contract or describes it: guides, documentation, Postman collection and mock. */
export const PAGE_FAULTS: readonly Fault[] = [
  {
    title: 'a guide links to a missing page',
    edits: [
      { file: START, find: '[Authentication](authentication.md)', replace: '[Authentication](authorization.md)' },
    ],
    caughtBy: 'lint',
  },
  {
    title: 'a guide links to a missing operation',
    edits: [{ file: START, find: '(operation:getKey)', replace: '(operation:getKeys)' }],
    caughtBy: 'lint',
  },
  {
    title: 'a guide shows a response that is not in the contract',
    edits: [{ file: START, find: '"name": "Nightly sync",', replace: '"title": "Nightly sync",' }],
    caughtBy: 'test/contract/guides.test.ts',
  },
  {
    title: 'a code sample of a guide is broken',
    edits: [
      {
        file: START,
        find: `-d '{"name": "Alpine Teacher Residency"}'`,
        replace: `-d '{"title": "Alpine Teacher Residency"}'`,
      },
    ],
    caughtBy: 'test/contract/guides.test.ts',
  },
  {
    title: 'a guide promises another status',
    edits: [{ file: RETRIES, find: '```sh status=422', replace: '```sh status=409' }],
    caughtBy: 'test/contract/guides.test.ts',
  },
  {
    title: 'a workflow expects another status',
    edits: [
      {
        file: 'openapi/workflows/lost-update.arazzo.yaml',
        find: '- condition: $statusCode == 412',
        replace: '- condition: $statusCode == 409',
      },
    ],
    caughtBy: 'test/contract/workflows.test.ts',
  },
  {
    title: 'the samples in Python send no key',
    edits: [
      {
        file: 'scripts/docs/samples/python.ts',
        find: '"Authorization": "Bearer "',
        replace: '"X-Api-Key": "Bearer "',
      },
    ],
    caughtBy: 'test/docs/samples.test.ts',
  },
  {
    title: 'the page without scripts lacks an operation',
    edits: [
      {
        file: 'scripts/docs/plain/page.ts',
        find: 'operationsOf(contract, tag.name).map(operationSection)',
        replace: 'operationsOf(contract, tag.name).slice(1).map(operationSection)',
      },
    ],
    afterwards: 'build the docs',
    caughtBy: 'test/browser/docs-plain.test.ts',
  },
  {
    title: 'Tab cannot leave the search of the documentation',
    edits: [
      {
        file: 'scripts/docs/redoc/repairs.js',
        find: "if (event.key !== 'Enter' && event.key !== ' ') return;",
        replace: "if (event.key !== 'Enter' && event.key !== ' ') return event.preventDefault();",
      },
    ],
    afterwards: 'build the docs',
    caughtBy: 'test/browser/docs.test.ts',
  },
  {
    title: 'the Postman collection sends no key',
    edits: [{ file: 'scripts/generate/postman.ts', find: "value: '{{api_key}}'", replace: "value: ''" }],
    caughtBy: 'test/contract/derived-documents.test.ts',
  },
  {
    title: 'the Postman collection selects every parameter',
    edits: [
      {
        file: 'scripts/generate/postman.ts',
        find: 'enableOptionalParameters: false',
        replace: 'enableOptionalParameters: true',
      },
    ],
    caughtBy: 'test/contract/derived-documents.test.ts',
  },
  {
    title: 'the mock does not require a key',
    edits: [
      {
        file: 'scripts/mock/mock-api.ts',
        find: 'const caller = await authenticate(keyOf(req), options);',
        replace:
          'const caller = await authenticate(keyOf(req), options).catch(() => authenticate(mockKey(environmentOf(req)), options));',
      },
    ],
    caughtBy: 'test/mock/data.test.ts',
  },
  {
    title: 'the mock accepts longer strings than the server',
    edits: [
      {
        file: 'scripts/mock/mock-api.ts',
        find: '    definition,\n    handlers: Object',
        replace:
          "    definition: JSON.parse(JSON.stringify(definition).replaceAll('maxLength', 'x-length')),\n    handlers: Object",
      },
    ],
    caughtBy: 'test/contract/parity.test.ts',
  },
  {
    title: 'the mock accepts a stale ETag',
    edits: [
      {
        file: 'scripts/mock/operation-handler.ts',
        find: "    refuseStale(operation, input.headers['if-match'], (tag) => isTagFor(id, tag));\n",
        replace: '',
      },
    ],
    caughtBy: 'test/contract/parity-conditional.test.ts',
  },
  {
    title: 'the mock that keeps data accepts a taken external_id',
    edits: [{ file: 'scripts/mock/stateful-handler.ts', find: '  refuseTaken(content, kept);\n', replace: '' }],
    caughtBy: 'test/mock/stateful.test.ts',
  },
  {
    title: 'the mock ignores an unknown preference in silence',
    edits: [
      {
        file: 'scripts/mock/preference-notes.ts',
        find: "exchange.res.setHeader(WARNING_HEADER, warnings.join(' '));",
        replace: 'exchange.res.removeHeader(WARNING_HEADER);',
      },
    ],
    caughtBy: 'test/mock/prefer.test.ts',
  },
  {
    title: 'the Postman collection has the address that it was built for',
    edits: [
      {
        file: 'src/publication/published-file.ts',
        find: 'const collection = built.replaceAll(EXAMPLE_ORIGIN, () => origin);',
        replace: 'const collection = built.replaceAll(origin, () => origin);',
      },
    ],
    caughtBy: 'test/publication/publication.test.ts',
  },
  {
    title: 'a made-up host takes the place of the host that readers use',
    edits: [{ file: 'src/publication/routes.ts', find: '      reads.delete(origin);\n', replace: '' }],
    caughtBy: 'test/publication/publication.test.ts',
  },
  {
    title: 'the mock skips an item between two pages',
    edits: [
      {
        file: 'scripts/mock/list-page.ts',
        find: 'return start < 0 ? all.length : start;',
        replace: 'return start < 0 ? all.length : start + 1;',
      },
    ],
    caughtBy: 'test/mock/data.test.ts',
  },
  {
    title: "the proxy's check of requests accepts a wrong body",
    edits: [
      {
        file: 'scripts/mock/request-check.ts',
        find: 'const exception = exceptionOf(error);',
        replace: 'const exception = exceptionOf(error);\n      if (exception.status === 422) return null;',
      },
    ],
    caughtBy: 'test/mock/proxy.test.ts',
  },
  {
    title: 'the mock sends events with an old time',
    edits: [
      {
        file: 'scripts/mock/send-events.ts',
        find: 'timestamp: Math.floor(Date.now() / 1000), body',
        replace: 'timestamp: Math.floor(Date.now() / 1000) - 3600, body',
      },
    ],
    caughtBy: 'test/mock/send-events.test.ts',
  },
  {
    title: 'the mock sends events and hides refusals',
    edits: [
      {
        file: 'scripts/mock/send-events.ts',
        find: 'isFine &&= result.isReceived',
        replace: 'isFine ||= result.isReceived',
      },
    ],
    caughtBy: 'test/mock/send-events.test.ts',
  },
];
