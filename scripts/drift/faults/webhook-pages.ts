import type { Fault } from '../fault.ts';

const STORE = 'src/store/webhook-endpoints.ts';
const HISTORY = 'src/store/webhook-history.ts';
const ACTIONS_TEST = 'test/service/webhooks/actions.test.ts';
const READING_TEST = 'test/service/webhooks/reading.test.ts';
const ISOLATION_TEST = 'test/store/isolation.test.ts';

/** Faults in the pages of webhooks and in the actions behind them. */
export const WEBHOOK_PAGE_FAULTS: readonly Fault[] = [
  {
    title: 'a webhook secret is shown again when its form is sent twice',
    edits: [
      {
        file: 'src/service/webhooks/secret.ts',
        find: 'if (!(await claimForm(tx, scope, { formId }))) return ALREADY_SENT;',
        replace: "if (!(await claimForm(tx, scope, { formId })) && endpointId === '') return ALREADY_SENT;",
      },
    ],
    caughtBy: 'test/dashboard/webhooks/endpoints.test.ts',
  },
  {
    title: 'a manager may change webhook endpoints',
    edits: [
      {
        file: 'src/service/webhooks/authority.ts',
        find: 'if (!mayGovern(current.role))',
        replace: 'if (!mayGovern(current.role) && !maySeeWebhooks(current.role))',
      },
    ],
    caughtBy: ACTIONS_TEST,
  },
  {
    title: 'a manager gets what a receiver responded',
    edits: [
      {
        file: 'src/service/webhooks/webhooks.ts',
        find: 'mayGovern(actor.role)',
        replace: "mayGovern(actor.role) || actor.role === 'manager'",
      },
    ],
    caughtBy: READING_TEST,
  },
  {
    title: 'a member may see webhook endpoints',
    edits: [
      {
        file: 'src/domain/role.ts',
        find: 'export function maySeeWebhooks(role: Role): boolean {\n  return RANK[role] >= RANK.manager;',
        replace: 'export function maySeeWebhooks(role: Role): boolean {\n  return RANK[role] >= RANK.member;',
      },
    ],
    caughtBy: READING_TEST,
  },
  {
    title: "another organization's webhook endpoint can be read",
    edits: [
      {
        file: STORE,
        find: '${SELECT_DETAILS} and w.id = $2`',
        replace:
          "${SELECT_DETAILS.replace('where w.organization_id = $1', 'where $1::uuid is not null')} and w.id = $2`",
      },
    ],
    caughtBy: ISOLATION_TEST,
  },
  {
    title: "another organization's webhook endpoint can be disabled",
    edits: [
      {
        file: STORE,
        find: 'where: { organizationId: scope.organizationId, id, disabledAt: null,',
        replace: 'where: { id, disabledAt: null,',
      },
    ],
    caughtBy: ISOLATION_TEST,
  },
  {
    title: "another organization's delivery can be resent",
    edits: [
      {
        file: HISTORY,
        find: 'next_attempt_at = now()\n    where organization_id = ${scope.organizationId}::uuid and endpoint_id',
        replace: 'next_attempt_at = now()\n    where ${scope.organizationId}::uuid is not null and endpoint_id',
      },
    ],
    caughtBy: ISOLATION_TEST,
  },
  {
    title: 'the event of a resend is not in the audit log',
    edits: [
      {
        file: 'src/service/webhooks/sending.ts',
        find: "    await recordAudit(tx, scope, {\n      action: 'webhook.resent',",
        replace: "    if (delivery.isTest) await recordAudit(tx, scope, {\n      action: 'webhook.resent',",
      },
    ],
    caughtBy: ACTIONS_TEST,
  },
  {
    title: 'an eleventh webhook endpoint is accepted',
    edits: [{ file: 'src/service/webhooks/creation.ts', find: '>= MAX_ENDPOINTS)', replace: '> MAX_ENDPOINTS)' }],
    caughtBy: ACTIONS_TEST,
  },
  {
    title: 'concurrent additions exceed the limit of webhook endpoints',
    edits: [
      {
        file: 'src/service/webhooks/creation.ts',
        find: 'await lockOrganization(tx, scope);',
        replace: "if (url === '') await lockOrganization(tx, scope);",
      },
    ],
    caughtBy: ACTIONS_TEST,
  },
  {
    title: 'a webhook URL may contain a forbidden address',
    edits: [
      {
        file: 'src/domain/webhook-endpoint.ts',
        find: 'if (address !== null && isForbiddenAddress',
        replace: 'if (address === url.href && isForbiddenAddress',
      },
    ],
    caughtBy: 'test/domain/webhook-endpoint.test.ts',
  },
  {
    title: 'the previous webhook secret is not encrypted anew',
    edits: [
      {
        file: 'src/store/secrets.ts',
        find: "  { table: 'webhook_endpoints', column: 'previous_secret', ids: ['organization_id', 'id'], plainBytes: SECRET_BYTES },\n",
        replace: '',
      },
    ],
    caughtBy: 'test/postgres/encryption.test.ts',
  },
  {
    title: 'administrators are not told of a disabled webhook endpoint',
    edits: [
      {
        file: 'src/store/unscoped.ts',
        find: "w.disabled_reason <> 'user'",
        replace: "w.disabled_reason = 'gone'",
      },
    ],
    caughtBy: 'test/dashboard/webhooks/endpoints.test.ts',
  },
  {
    title: 'control characters of a response reach the page',
    edits: [
      {
        file: 'src/dashboard/webhooks/delivery.ts',
        find: 'replaceAll(/(?![\\n\\t])\\p{C}/gu',
        replace: 'replaceAll(/(?![\\n\\t])\\p{Co}/gu',
      },
    ],
    caughtBy: 'test/dashboard/webhooks/deliveries.test.ts',
  },
];
