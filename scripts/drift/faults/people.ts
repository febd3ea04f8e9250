import type { Fault } from '../fault.ts';

/** Faults in the dashboard, and in what the operator sees. */
export const PEOPLE_FAULTS: readonly Fault[] = [
  {
    title: 'a foreign page can submit a form',
    edits: [
      {
        file: 'src/dashboard/http/forms.ts',
        find: "if (!isOurs) throw new RequestError('foreign');",
        replace: "if (!isOurs && site === '') throw new RequestError('foreign');",
      },
    ],
    caughtBy: 'test/dashboard/http/forged-forms.test.ts',
  },
  {
    title: "a form's token is not checked",
    edits: [
      {
        file: 'src/dashboard/http/forms.ts',
        find: "if (!isSameText(sent.get(TOKEN_FIELD) ?? '', context.formToken)) throw",
        replace: 'if (!sent.has(TOKEN_FIELD)) throw',
      },
    ],
    caughtBy: 'test/dashboard/http/forged-forms.test.ts',
  },
  {
    title: 'a form accepts an unknown field',
    edits: [
      {
        file: 'src/dashboard/http/forms.ts',
        find: "    if (!isKnown) throw new RequestError('unexpected-field');\n",
        replace: "    if (!isKnown && name === '') throw new RequestError('unexpected-field');\n",
      },
    ],
    caughtBy: 'test/dashboard/http/mass-assignment.test.ts',
  },
  {
    title: 'scripts can read the session cookie',
    edits: [
      {
        file: 'src/dashboard/http/cookies.ts',
        find: 'httpOnly: true',
        replace: 'httpOnly: false',
      },
    ],
    caughtBy: 'test/dashboard/sign-in/session.test.ts',
  },
  {
    title: 'a page can be framed',
    edits: [{ file: 'src/security-headers.ts', find: '        frameAncestors: ["\'none\'"],\n', replace: '' }],
    caughtBy: 'test/dashboard/http/headers.test.ts',
  },
  {
    title: 'an idle session does not end',
    edits: [
      {
        file: 'src/domain/session.ts',
        find: 'idle < SESSION_IDLE_MINUTES && age',
        replace: 'idle < SESSION_IDLE_MINUTES * 60 && age',
      },
    ],
    caughtBy: 'test/dashboard/sign-in/session.test.ts',
  },
  {
    title: 'signing out does not end the session on the server',
    edits: [
      {
        file: 'src/store/sessions.ts',
        find: 'const { count } = await tx.session.deleteMany({',
        replace: 'const { count } = await tx.session.updateMany({\n    data: {},',
      },
    ],
    caughtBy: 'test/dashboard/sign-in/session.test.ts',
  },
  {
    title: 'a wrong code reveals the secret of a pending second factor',
    edits: [
      {
        file: 'src/service/accounts/second-factor-code.ts',
        find: 'return isSameText(sent, secret.base32) ? { secret: sent, uri',
        replace: 'return isSameText(sent, sent) ? { secret: secret.base32, uri',
      },
    ],
    caughtBy: 'test/dashboard/profile/second-factor.test.ts',
  },
  {
    title: 'a session of another person can be ended',
    edits: [
      {
        file: 'src/store/sessions.ts',
        find: 'and user_id = ${userId}::uuid and id = ${id}::uuid',
        replace: 'and ${userId}::uuid is not null and id = ${id}::uuid',
      },
    ],
    caughtBy: 'test/dashboard/profile/sessions.test.ts',
  },
  {
    title: 'a session that its owner ended is still accepted',
    edits: [
      {
        file: 'src/store/sessions.ts',
        find: '    delete from sessions\n    where organization_id = ${scope.organizationId}',
        replace:
          '    update sessions set is_complete = is_complete\n    where organization_id = ${scope.organizationId}',
      },
    ],
    caughtBy: 'test/dashboard/profile/sessions.test.ts',
  },
  {
    title: 'signing out everywhere leaves the other sessions',
    edits: [
      {
        file: 'src/store/sessions.ts',
        find: 'const ended = await tx.session.deleteMany({',
        replace: 'const ended = await tx.session.updateMany({\n    data: {},',
      },
    ],
    caughtBy: 'test/dashboard/profile/sessions.test.ts',
  },
  {
    title: 'a session that has ended meanwhile ends the others',
    edits: [{ file: 'src/store/sessions.ts', find: 'return found === 1;', replace: 'return found >= 0;' }],
    caughtBy: 'test/service/accounts/sessions.test.ts',
  },
  {
    title: 'a session without the second factor counts as signed in',
    edits: [
      {
        file: 'src/domain/session.ts',
        find: "return age < HALF_SESSION_MINUTES ? 'second-factor' : 'ended';",
        replace: "return age < HALF_SESSION_MINUTES ? 'signed-in' : 'ended';",
      },
    ],
    caughtBy: 'test/service/accounts/second-factor.test.ts',
  },
  {
    title: 'a form that shows a key can be submitted twice',
    edits: [
      {
        file: 'src/service/form-claim.ts',
        find: ".kind === 'claimed'",
        replace: '.kind.length > 0',
      },
    ],
    caughtBy: 'test/dashboard/keys/issued-key.test.ts',
  },
  {
    title: 'a page does not check the role',
    edits: [
      {
        file: 'src/dashboard/http/page-routes.ts',
        find: "if (!('kind' in entered) && !gate.isAllowed(entered)) {",
        replace: "if (!('kind' in entered) && !gate.isAllowed(entered) && req.method === 'PUT') {",
      },
    ],
    caughtBy: 'test/dashboard/roles.test.ts',
  },
  {
    title: 'a form is acted on after its session has ended',
    edits: [
      {
        file: 'src/dashboard/http/page-routes.ts',
        find: '    const current = await enter();\n',
        replace: '    const current: Context | View = context;\n',
      },
    ],
    caughtBy: 'test/dashboard/sign-in/session.test.ts',
  },
  {
    title: 'signing in redirects to a foreign address',
    edits: [
      {
        file: 'src/dashboard/sign-in/next.ts',
        find: "return origin === 'http://ours.invalid' && SECTIONS.test(pathname) ? pathname + search : '/profile';",
        replace: "return SECTIONS.test(pathname) ? text : origin.slice(0, 0) + search.slice(0, 0) + '/profile';",
      },
    ],
    caughtBy: 'test/dashboard/sign-in/next.test.ts',
  },
  {
    title: 'the form for signing in contains a foreign address',
    edits: [
      {
        file: 'src/dashboard/sign-in/sign-in.ts',
        find: "return signInPage(context, { email: '', next, problem: null });",
        replace: "return signInPage(context, { email: '', next: context.query.get('next') ?? next, problem: null });",
      },
    ],
    caughtBy: 'test/dashboard/sign-in/next.test.ts',
  },
  {
    title: 'the response to a forgotten password waits for the mail',
    edits: [
      {
        file: 'src/service/accounts/request-reset.ts',
        find: 'outbox.later(async () => {',
        replace: 'await (async () => {',
      },
      {
        file: 'src/service/accounts/request-reset.ts',
        find: '  });\n  return DONE;',
        replace: '  })();\n  return DONE;',
      },
    ],
    caughtBy: 'test/dashboard/sign-in/sign-in.test.ts',
  },
  {
    title: 'the page of a key counts the requests of its predecessors and successors',
    edits: [
      {
        file: 'src/store/key-rotations.ts',
        find: 'u.key_id = k.id and',
        replace: 'u.key_id in (select id from line) and',
      },
    ],
    caughtBy: 'test/dashboard/keys/requests.test.ts',
  },
  {
    title: 'an audit event has no description',
    edits: [{ file: 'src/store/audit.ts', find: "  'key.renamed',\n", replace: "  'key.renamed',\n  'key.copied',\n" }],
    caughtBy: 'types',
  },
  {
    title: 'a key that is pasted into the filters of the audit log gets into a URL',
    edits: [
      {
        file: 'src/dashboard/audit-log/filters.ts',
        find: 'withoutKey(searchText(read(name), MAX_CHARACTERS))',
        replace: "withoutKey('') + searchText(read(name), MAX_CHARACTERS)",
      },
    ],
    caughtBy: 'test/dashboard/audit-log/filters.test.ts',
  },
  {
    title: 'a search compares the bytes of a name with those that were typed',
    edits: [{ file: 'src/domain/name.ts', find: "'').normalize('NFC').trim()]", replace: "'').trim()]" }],
    caughtBy: 'test/dashboard/audit-log/filters.test.ts',
  },
  {
    title: 'a page confirms a deactivation that was undone',
    edits: [
      {
        file: 'src/dashboard/people/user.ts',
        find: 'deactivatedAt === null ? undefined :',
        replace: "deactivatedAt === null && name === '' ? undefined :",
      },
    ],
    caughtBy: 'test/dashboard/every-mistake.test.ts',
  },
  {
    title: 'every role can read the audit log',
    edits: [
      {
        file: 'src/service/audit-log.ts',
        find: '  refuseToGovern(actor.role);\n  return readPage(',
        replace: '  return readPage(',
      },
    ],
    caughtBy: 'test/service/audit-log.test.ts',
  },
  {
    title: 'the log contains the query',
    edits: [
      {
        file: 'src/observability/logs.ts',
        find: 'path: pathOf(url),',
        replace: "path: pathOf(url.replace('?', '/')),",
      },
    ],
    caughtBy: 'test/observability/logs.test.ts',
  },
  {
    title: 'the log contains a key from a path',
    edits: [
      {
        file: 'src/observability/logs.ts',
        find: "(segment.length > ID_CHARACTERS ? '…' : segment)",
        replace: "(segment.length > 200 ? '…' : segment)",
      },
    ],
    caughtBy: 'test/observability/logs.test.ts',
  },
  {
    title: 'a server without a database reports that it is ready',
    edits: [
      {
        file: 'src/observability/health.ts',
        find: "((await isReachable(db)) ? null : 'the database does not answer')",
        replace: '((await isReachable(db)) ? null : null)',
      },
    ],
    caughtBy: 'test/observability/health.test.ts',
  },
  {
    title: 'an invalid port is accepted',
    edits: [
      {
        file: 'src/config.ts',
        find: 'fallback: 3000, min: 0, max: 65535',
        replace: 'fallback: 3000, min: 0, max: 655350',
      },
    ],
    caughtBy: 'test/process/config.test.ts',
  },
];
