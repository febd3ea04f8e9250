import type { Fault } from '../fault.ts';

const CONNECTIONS = 'src/connections.ts';
const CONNECTION_TESTS = 'test/connections.test.ts';
const ERROR = 'src/observability/unexpected-error.ts';
const ERROR_TESTS = 'test/process/unexpected-error.test.ts';

/** Faults in how connections end, and in how the process does. */
export const STOPPING_FAULTS: readonly Fault[] = [
  {
    title: 'responses of a shutdown do not say Connection: close',
    edits: [
      { file: CONNECTIONS, find: '    if (isDraining) this.#closeAfter(res);\n', replace: '    void isDraining;\n' },
    ],
    caughtBy: CONNECTION_TESTS,
  },
  {
    title: 'the first of several pipelined requests says Connection: close',
    edits: [{ file: CONNECTIONS, find: 'this.#pending().at(-1);', replace: 'this.#pending().at(0);' }],
    caughtBy: CONNECTION_TESTS,
  },
  {
    title: 'a request after the last one is processed',
    edits: [
      {
        file: CONNECTIONS,
        find: 'if (this.#isLastChosen) return void this.#ignore(req);',
        replace: 'if (this.#isLastChosen) this.#ignore(req);',
      },
    ],
    caughtBy: CONNECTION_TESTS,
  },
  {
    title: 'a connection is closed at once after its last response',
    edits: [{ file: CONNECTIONS, find: '    socket.destroySoon = () => this.#close();\n', replace: '' }],
    caughtBy: CONNECTION_TESTS,
  },
  {
    title: 'a connection that the server has ended is never freed',
    edits: [{ file: CONNECTIONS, find: '    this.#destroyAfter(LINGER_MS);\n', replace: '    void LINGER_MS;\n' }],
    caughtBy: CONNECTION_TESTS,
  },
  {
    title: 'a shutdown closes a connection on which a request is arriving',
    edits: [{ file: CONNECTIONS, find: 'else if (bytesRead === this.#knownBytes) this', replace: 'else this' }],
    caughtBy: CONNECTION_TESTS,
  },
  {
    title: 'a client that closes its sending side gets no response',
    edits: [{ file: CONNECTIONS, find: 'httpAllowHalfOpen: true', replace: 'httpAllowHalfOpen: false' }],
    caughtBy: CONNECTION_TESTS,
  },
  {
    title: 'a body that arrives after the 408 is read',
    edits: [{ file: CONNECTIONS, find: '    if (isBody) this.#socket.pause();\n', replace: '' }],
    caughtBy: CONNECTION_TESTS,
  },
  {
    title: 'a 408 follows the response to the same request',
    edits: [
      {
        file: CONNECTIONS,
        find: '    if (isBody && last?.headersSent) return void this.#close();\n',
        replace: '',
      },
    ],
    caughtBy: CONNECTION_TESTS,
  },
  {
    title: 'DRAIN_SECONDS has no effect',
    edits: [
      { file: 'src/run.ts', find: 'server.stop({ drainSeconds: config.drainSeconds, ', replace: 'server.stop({ ' },
    ],
    caughtBy: 'test/process/drain.test.ts',
  },
  {
    title: 'npm start does not pass SIGINT on',
    edits: [{ file: 'scripts/launch.mjs', find: "['SIGINT', 'SIGTERM', 'SIGHUP']", replace: "['SIGTERM', 'SIGHUP']" }],
    caughtBy: 'test/process/stop-under-load.test.ts',
  },
  {
    title: 'npm signals its shell and not the server',
    edits: [
      {
        file: 'package.json',
        find: '"exec node scripts/run.mjs start"',
        replace: '"node scripts/run.mjs start"',
      },
    ],
    caughtBy: 'test/process/stop-under-load.test.ts',
  },
  {
    title: 'an unexpected error ends the process with status 0',
    edits: [{ file: ERROR, find: '    process.exitCode = 1;\n', replace: '' }],
    caughtBy: ERROR_TESTS,
  },
  {
    title: 'the log of an unexpected error shows a password',
    edits: [{ file: 'src/observability/describe-error.ts', find: ".replace(URL_PASSWORD, '://…@')", replace: '' }],
    caughtBy: ERROR_TESTS,
  },
  {
    title: 'a stopped npm test leaves its checks running',
    edits: [{ file: 'scripts/child.ts', find: '  void stop.reason.then(endAll);\n', replace: '  void endAll;\n' }],
    caughtBy: 'test/process/stop-commands.test.ts',
  },
  {
    title: 'a stopped run of tests leaves its PostgreSQL running',
    edits: [{ file: 'test/support/runner/set-up.ts', find: '      await services.end();\n', replace: '' }],
    caughtBy: 'test/process/stop-commands.test.ts',
  },
];
