import { globSync } from 'node:fs';
import { root } from '../../tool.ts';
import type { Fault } from '../fault.ts';

/** The published contract. */
const [released = ''] = globSync('openapi/released/*.yaml', { cwd: root });

/** The dashboard, logs and health checks, and what derives from the contract. */
export const PEOPLE_FAULTS: readonly Fault[] = [
  {
    title: 'a foreign page can submit a form',
    file: 'src/dashboard/http/forms.ts',
    find: "if (!isOurs) throw new RequestError('foreign');",
    replace: "if (!isOurs && site === '') throw new RequestError('foreign');",
    caughtBy: 'test/dashboard/http/forged-forms.test.ts',
  },
  {
    title: 'scripts can read the session cookie',
    file: 'src/dashboard/http/cookies.ts',
    find: 'httpOnly: true',
    replace: 'httpOnly: false',
    caughtBy: 'test/dashboard/sign-in/session.test.ts',
  },
  {
    title: 'a page can be framed',
    file: 'src/security-headers.ts',
    find: '        frameAncestors: ["\'none\'"],\n',
    replace: '',
    caughtBy: 'test/dashboard/http/headers.test.ts',
  },
  {
    title: 'an idle session does not end',
    file: 'src/domain/session.ts',
    find: 'idle < SESSION_IDLE_MINUTES && age',
    replace: 'idle < SESSION_IDLE_MINUTES * 60 && age',
    caughtBy: 'test/dashboard/sign-in/session.test.ts',
  },
  {
    title: 'signing out does not end the session on the server',
    file: 'src/store/sessions.ts',
    find: 'const { count } = await tx.session.deleteMany({',
    replace: 'const { count } = await tx.session.updateMany({\n    data: {},',
    caughtBy: 'test/dashboard/sign-in/session.test.ts',
  },
  {
    title: 'a session without the second factor counts as signed in',
    file: 'src/domain/session.ts',
    find: "return age < HALF_SESSION_MINUTES ? 'second-factor' : 'ended';",
    replace: "return age < HALF_SESSION_MINUTES ? 'signed-in' : 'ended';",
    caughtBy: 'test/service/accounts/second-factor.test.ts',
  },
  {
    title: 'a form that shows a key can be submitted twice',
    file: 'src/service/form-claim.ts',
    find: ".kind === 'claimed'",
    replace: '.kind.length > 0',
    caughtBy: 'test/dashboard/keys/issued-key.test.ts',
  },
  {
    title: 'a page does not check the role',
    file: 'src/dashboard/http/page-routes.ts',
    find: "if (!('kind' in entered) && !gate.isAllowed(entered)) {",
    replace: "if (!('kind' in entered) && !gate.isAllowed(entered) && req.method === 'PUT') {",
    caughtBy: 'test/dashboard/roles.test.ts',
  },
  {
    title: 'signing in redirects to a foreign address',
    file: 'src/dashboard/sign-in/next.ts',
    find: "url.origin !== 'http://ours.invalid' || !SECTIONS.test(url.pathname)) return PROFILE;\n  const path = url.pathname + url.search;",
    replace: 'text === null || !SECTIONS.test(url.pathname)) return PROFILE;\n  const path = text;',
    caughtBy: 'test/dashboard/sign-in/next.test.ts',
  },
  {
    title: 'a manager may change webhook endpoints',
    file: 'src/service/webhooks/authority.ts',
    find: 'if (!mayGovern(current.role))',
    replace: 'if (!mayGovern(current.role) && !maySeeWebhooks(current.role))',
    caughtBy: 'test/service/webhooks/actions.test.ts',
  },
  {
    title: 'the log contains the query',
    file: 'src/observability/logs.ts',
    find: 'path: pathOf(url),',
    replace: "path: pathOf(url.replace('?', '/')),",
    caughtBy: 'test/observability/logs.test.ts',
  },
  {
    title: 'a server without a database reports that it is ready',
    file: 'src/observability/health.ts',
    find: "((await isReachable(db)) ? null : 'the database does not answer')",
    replace: '((await isReachable(db)) ? null : null)',
    caughtBy: 'test/observability/health.test.ts',
  },
  {
    title: 'a published version is edited',
    file: released,
    find: 'operationId: getKey',
    replace: 'operationId: getCallingKey',
    caughtBy: 'release',
  },
  {
    title: 'an example has a value of another type',
    file: 'openapi/components/examples/ParentProgramMinimal.yaml',
    find: 'metadata: {}',
    replace: 'metadata: []',
    caughtBy: 'lint',
  },
  {
    title: 'a bound of the contract changes without new generated files',
    file: 'openapi/components/parameters/Limit.yaml',
    find: 'maximum: 100',
    replace: 'maximum: 200',
    caughtBy: 'generated',
  },
];
