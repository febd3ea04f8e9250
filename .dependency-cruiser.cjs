/** Imports point one way: api | dashboard | delivery | observability -> service -> traffic -> store -> domain. */
const room = (name) => `^src/${name}/`;
/** The rooms of a floor, one for each subject. */
const ROOM = '^src/(domain|store|service|dashboard)/[^/]+$';
/** Counters, distributions and spans: what every room may measure with. They import nothing. */
const INSTRUMENTS = '^src/observability/instruments/';
const OPEN_TELEMETRY = '^src/observability/open-telemetry\\.ts$';
/** The folders and files of single sign-on, and of its tests. */
const SINGLE_SIGN_ON = '/single-sign-on(/|[-.a-z]*\\.ts$)|^test/support/providers/';

module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'no-cycles-between-rooms',
      severity: 'error',
      scope: 'folder',
      from: { path: ROOM },
      to: { path: ROOM, circular: true },
    },
    {
      name: 'domain-is-pure',
      comment: 'The domain uses only Node itself, and the types of the contract.',
      severity: 'error',
      from: { path: room('domain') },
      to: { pathNot: [room('domain'), '^generated/openapi\\.d\\.ts$'], dependencyTypesNot: ['core'] },
    },
    {
      name: 'instruments-stand-alone',
      severity: 'error',
      from: { path: INSTRUMENTS },
      to: { pathNot: [INSTRUMENTS], dependencyTypesNot: ['core'] },
    },
    {
      name: 'store-knows-the-domain-only',
      severity: 'error',
      from: { path: room('store') },
      to: { path: '^(src|prisma)/', pathNot: [room('store'), room('domain'), INSTRUMENTS] },
    },
    {
      name: 'postgres-knows-store-and-domain',
      comment: 'It finds, starts and migrates PostgreSQL. Statements belong in the store.',
      severity: 'error',
      from: { path: room('postgres') },
      to: { path: '^(src|prisma)/', pathNot: [room('postgres'), room('store'), room('domain')] },
    },
    {
      name: 'traffic-knows-store-and-domain',
      comment: 'Limits, queues and grouped look-ups know nothing of what is looked up or limited.',
      severity: 'error',
      from: { path: room('traffic') },
      to: { path: '^(src|prisma)/', pathNot: [room('traffic'), room('store'), room('domain'), INSTRUMENTS] },
    },
    {
      name: 'service-knows-traffic-store-and-domain',
      severity: 'error',
      from: { path: room('service') },
      to: {
        path: '^(src|prisma)/',
        pathNot: [room('service'), room('traffic'), room('store'), room('domain'), INSTRUMENTS],
      },
    },
    {
      name: 'contract-knows-the-domain-only',
      comment: 'The reader of the contract also serves the mock, the lint, the comparison of versions and the tests.',
      severity: 'error',
      from: { path: room('contract') },
      to: { path: '^(src|prisma)/', pathNot: [room('contract'), room('domain')] },
    },
    {
      name: 'html-stands-alone',
      severity: 'error',
      from: { path: room('html') },
      to: { path: '^(src|prisma)/', pathNot: [room('html')] },
    },
    {
      name: 'entry-points-do-not-know-each-other',
      comment: 'api, dashboard, delivery and observability are entry points. None uses another.',
      severity: 'error',
      from: { path: '^src/(api|dashboard|delivery|observability)/', pathNot: [INSTRUMENTS] },
      to: {
        path: '^(src|prisma)/',
        pathNot: ['^src/$1/', ...['service', 'traffic', 'store', 'domain', 'contract', 'html'].map(room), INSTRUMENTS],
      },
    },
    {
      name: 'handlers-call-services',
      comment: 'A handler names the table of its resource, and calls services only. The statements are theirs.',
      severity: 'error',
      from: { path: '^src/api/handlers/' },
      to: {
        path: room('(traffic|store)'),
        pathNot: ['^src/store/resources/tables/'],
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'publication-stands-alone',
      comment: 'It serves files, and knows nothing of organizations.',
      severity: 'error',
      from: { path: room('publication') },
      to: { path: '^(src|prisma)/', pathNot: [room('publication')] },
    },
    {
      name: 'workers-know-no-requests',
      comment: 'The supervisor starts and watches processes. What they serve is not its concern.',
      severity: 'error',
      from: { path: room('workers') },
      to: {
        path: '^(src|prisma)/',
        pathNot: [
          room('workers'),
          room('observability'),
          room('postgres'),
          '^src/[^/]+\\.ts$',
          '^src/domain/release\\.ts$',
        ],
      },
    },
    {
      name: 'prisma-in-store-and-postgres-only',
      severity: 'error',
      from: { path: '^src/', pathNot: [room('store'), room('postgres')] },
      to: { path: ['^generated/prisma/', 'node_modules/(@prisma|pg)/'] },
    },
    {
      name: 'open-id-connect-in-one-room',
      comment: "The libraries' types stay there, so that they can be replaced.",
      severity: 'error',
      from: { path: '^src/', pathNot: [room('service/sign-in/single-sign-on')] },
      to: { path: ['node_modules/(openid-client|oauth4webapi|jose)/'] },
    },
    {
      name: 'open-telemetry-in-one-file',
      severity: 'error',
      from: { path: '^src/', pathNot: [OPEN_TELEMETRY] },
      to: { path: ['node_modules/@opentelemetry/'] },
    },
    {
      name: 'open-telemetry-on-demand',
      comment: 'A server that exports no traces does not load it.',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: OPEN_TELEMETRY, dynamic: false, dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'webauthn-in-one-file',
      severity: 'error',
      from: { path: '^src/', pathNot: ['^src/service/sign-in/passkeys/ceremony\\.ts$'] },
      to: { path: ['node_modules/@simplewebauthn/'] },
    },
    {
      name: 'scopes-are-granted-in-few-places',
      comment:
        "Only authentication, the operator's commands, the delivery of webhooks, and a verified domain that takes back invitations establish the organization of an action.",
      severity: 'error',
      from: {
        path: '^src/',
        pathNot: [
          '^src/service/(authenticate|operator/[a-z]+|sign-in/sign-in|people/access-links|sign-in/passkeys/sign-in|sign-in/verified-domains|sign-in/single-sign-on/connection)\\.ts$',
          '^src/delivery/deliveries\\.ts$',
        ],
      },
      to: { path: '^src/domain/organizations/organization-scope\\.ts$', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'single-sign-on-can-be-taken-out',
      comment: 'Only its places of registration know it: CONTRIBUTING, "To take a subject out".',
      severity: 'error',
      from: {
        path: '^(src|scripts|prisma|test)/',
        pathNot: [SINGLE_SIGN_ON, '^src/(service|dashboard)/sign-in/ways\\.ts$', '^scripts/admin/commands\\.ts$'],
      },
      to: { path: SINGLE_SIGN_ON },
    },
    {
      name: 'src-runs-without-tests-and-scripts',
      severity: 'error',
      from: { path: '^(src|prisma)/' },
      to: { path: '^(test|scripts)/' },
    },
    {
      name: 'client-stands-alone',
      comment: 'The client is published on its own, and also runs outside Node.',
      severity: 'error',
      from: { path: room('client'), pathNot: [room('client/import')] },
      to: {
        pathNot: ['^src/client/[^/]+$', '^generated/openapi\\.d\\.ts$', 'node_modules/openapi-fetch/'],
      },
    },
    {
      name: 'import-command-knows-the-client',
      comment: 'charter-import is published with the client, and runs in Node.',
      severity: 'error',
      from: { path: room('client/import') },
      to: { pathNot: [room('client'), 'node_modules/csv-parse/'], dependencyTypesNot: ['core'] },
    },
    {
      name: 'mcp-knows-client-and-contract',
      comment: 'charter-mcp is published on its own, with all that it imports in its bundle.',
      severity: 'error',
      from: { path: room('mcp') },
      to: {
        pathNot: [
          room('mcp'),
          '^src/client/[^/]+$',
          '^src/contract/document\\.ts$',
          '^generated/openapi\\.json$',
          'node_modules/@modelcontextprotocol/sdk/',
        ],
        dependencyTypesNot: ['core'],
      },
    },
    {
      name: 'nothing-runs-on-the-client',
      severity: 'error',
      from: { path: '^(src|prisma)/', pathNot: [room('client'), room('mcp')] },
      to: { path: room('(client|mcp)') },
    },
    {
      name: 'no-development-dependencies',
      severity: 'error',
      comment: '`npm start` in an empty checkout installs the dependencies only. The client has its own package.json.',
      from: {
        path: '^(src|prisma)/|^openapi/lint/(plugin|compose|contract/|workflows/)|^scripts/(generate|docs)/|^scripts/(bundle|tool)\\.ts$',
        pathNot: [room('client')],
      },
      to: { dependencyTypes: ['npm-dev'] },
    },
    { name: 'not-resolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
  ],
  options: {
    doNotFollow: { path: ['node_modules', '^generated/'] },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
      extensions: ['.ts', '.mjs', '.js'],
    },
  },
};
