import type { Lie } from '../lie.ts';

/** The dashboard, and what the operator sees. */
export const PEOPLE_LIES: readonly Lie[] = [
  {
    title: 'a foreign page may send a form',
    edits: [
      {
        file: 'src/dashboard/http/forms.ts',
        find: "if (!isOurs) throw new RequestError('foreign');",
        replace: "if (!isOurs && site === '') throw new RequestError('foreign');",
      },
    ],
    caughtBy: 'test/dashboard/forged-forms.test.ts',
  },
  {
    title: "a form's token is not compared",
    edits: [
      {
        file: 'src/dashboard/http/forms.ts',
        find: "if (!isSameText(sent.get(TOKEN_FIELD) ?? '', context.formToken)) throw",
        replace: 'if (!sent.has(TOKEN_FIELD)) throw',
      },
    ],
    caughtBy: 'test/dashboard/forged-forms.test.ts',
  },
  {
    title: 'a form takes a field that it does not have',
    edits: [
      {
        file: 'src/dashboard/http/forms.ts',
        find: "    if (!isKnown) throw new RequestError('unexpected-field');\n",
        replace: "    if (!isKnown && name === '') throw new RequestError('unexpected-field');\n",
      },
    ],
    caughtBy: 'test/dashboard/mass-assignment.test.ts',
  },
  {
    title: "the session's cookie is shown to scripts",
    edits: [
      {
        file: 'src/dashboard/http/cookies.ts',
        find: 'httpOnly: true',
        replace: 'httpOnly: false',
      },
    ],
    caughtBy: 'test/dashboard/session.test.ts',
  },
  {
    title: 'a page may be framed',
    edits: [{ file: 'src/security-headers.ts', find: '        frameAncestors: ["\'none\'"],\n', replace: '' }],
    caughtBy: 'test/dashboard/headers.test.ts',
  },
  {
    title: 'a session does not end when it is left alone',
    edits: [
      {
        file: 'src/domain/session.ts',
        find: 'idle < SESSION_IDLE_MINUTES && age',
        replace: 'idle < SESSION_IDLE_MINUTES * 60 && age',
      },
    ],
    caughtBy: 'test/dashboard/session.test.ts',
  },
  {
    title: 'signing out ends nothing on the server',
    edits: [
      {
        file: 'src/store/sessions.ts',
        find: 'const { count } = await tx.session.deleteMany({',
        replace: 'const { count } = await tx.session.updateMany({\n    data: {},',
      },
    ],
    caughtBy: 'test/dashboard/session.test.ts',
  },
  {
    title: 'a half session is a whole one',
    edits: [
      {
        file: 'src/domain/session.ts',
        find: "return age < HALF_SESSION_MINUTES ? 'second-factor' : 'ended';",
        replace: "return age < HALF_SESSION_MINUTES ? 'signed-in' : 'ended';",
      },
    ],
    caughtBy: 'test/service/second-factor.test.ts',
  },
  {
    title: 'a form that shows a key can be sent twice',
    edits: [
      {
        file: 'src/service/form-claim.ts',
        find: ".kind === 'claimed'",
        replace: '.kind.length > 0',
      },
    ],
    caughtBy: 'test/dashboard/reveal.test.ts',
  },
  {
    title: 'a room lets everybody in',
    edits: [
      {
        file: 'src/dashboard/http/page-routes.ts',
        find: "if (!gate.isAllowed(context)) throw new RequestError('not-allowed');",
        replace: "if (!gate.isAllowed(context) && req.method === 'PUT') throw new RequestError('not-allowed');",
      },
    ],
    caughtBy: 'test/dashboard/roles.test.ts',
  },
  {
    title: 'after signing in a foreign address is followed',
    edits: [
      {
        file: 'src/dashboard/sign-in/next.ts',
        find: "return origin === 'http://ours.invalid' && SECTIONS.test(pathname) ? pathname + search : '/profile';",
        replace: "return SECTIONS.test(pathname) ? text : origin.slice(0, 0) + search.slice(0, 0) + '/profile';",
      },
    ],
    caughtBy: 'test/dashboard/next.test.ts',
  },
  {
    title: 'an event has no name in words',
    edits: [{ file: 'src/store/audit.ts', find: "  'key.renamed',\n", replace: "  'key.renamed',\n  'key.copied',\n" }],
    caughtBy: 'types',
  },
  {
    title: 'an audit log holds the events of others',
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
    title: 'the log holds the query',
    edits: [
      { file: 'src/operations/logs.ts', find: 'path: pathOf(url),', replace: "path: pathOf(url.replace('?', '/'))," },
    ],
    caughtBy: 'test/operations/logs.test.ts',
  },
  {
    title: 'the log holds a key that stands in a path',
    edits: [
      {
        file: 'src/operations/logs.ts',
        find: "(segment.length > ID_CHARACTERS ? '…' : segment)",
        replace: "(segment.length > 200 ? '…' : segment)",
      },
    ],
    caughtBy: 'test/operations/logs.test.ts',
  },
  {
    title: 'a server without its database is ready',
    edits: [
      {
        file: 'src/operations/health.ts',
        find: "((await isReachable(db)) ? null : 'the database does not answer')",
        replace: '((await isReachable(db)) ? null : null)',
      },
    ],
    caughtBy: 'test/operations/health.test.ts',
  },
  {
    title: 'a wrong port is taken',
    edits: [{ file: 'src/config.ts', find: '65535', replace: '655350' }],
    caughtBy: 'test/process/config.test.ts',
  },
];
