import type { Fault } from '../fault.ts';

const APP = 'src/app.ts';
const METRICS = 'test/observability/metrics.test.ts';
const TRACES = 'src/observability/tracing/open-telemetry.ts';
const TRACES_TEST = 'test/observability/traces.test.ts';

/** Faults in what operators see. */
export const OPERATING_FAULTS: readonly Fault[] = [
  {
    title: 'the metrics have the path of a request as a label',
    edits: [{ file: APP, find: 'calledBy(req) ?? NOTHING,', replace: 'req.url ?? NOTHING,' }],
    caughtBy: METRICS,
  },
  {
    title: 'requests for pages count as requests for nothing',
    edits: [{ file: APP, find: "called('dashboard')", replace: 'called(NOTHING)' }],
    caughtBy: METRICS,
  },
  {
    title: 'requests that a rate limit refuses are not counted',
    edits: [
      { file: 'src/traffic/request-limiter.ts', find: 'this.#refused[closest] += 1;', replace: 'void this.#refused;' },
    ],
    caughtBy: METRICS,
  },
  {
    title: 'the metrics leave out the start of the process',
    edits: [{ file: 'src/observability/metrics/metrics.ts', find: ", aggregator: 'first' }", replace: ' }' }],
    caughtBy: METRICS,
  },
  {
    title: 'a request starts a trace although its caller has one',
    edits: [{ file: TRACES, find: 'parseTraceParent(traceparent)', replace: "parseTraceParent('')" }],
    caughtBy: TRACES_TEST,
  },
  {
    title: 'a span has the path of the request, which may contain a key',
    edits: [
      {
        file: 'src/observability/tracing/request-span.ts',
        find: "'charter.operation': operation,",
        replace: "'charter.operation': operation, 'url.path': Object(res).req.url,",
      },
    ],
    caughtBy: TRACES_TEST,
  },
  {
    title: 'the values of a statement are in its span',
    edits: [
      {
        file: 'src/store/trace-statements.ts',
        find: "'db.operation.name': operation, 'db.query.summary'",
        replace:
          "'db.operation.name': operation, 'db.query.parameter.0': JSON.stringify(statement), 'db.query.summary'",
      },
    ],
    caughtBy: TRACES_TEST,
  },
  {
    title: 'the receiver of a webhook gets the id of its trace',
    edits: [
      {
        file: 'src/delivery/deliveries.ts',
        find: "        'User-Agent': userAgent,\n",
        replace: "        'User-Agent': userAgent,\n        traceparent: `00-${span?.traceId}-${span?.spanId}-01`,\n",
      },
    ],
    caughtBy: TRACES_TEST,
  },
  {
    title: 'a statement that waited for a connection is a part of another request',
    edits: [
      {
        file: 'src/store/trace-statements.ts',
        find: '[AsyncLocalStorage.bind(callback)]',
        replace: '[callback]',
      },
    ],
    caughtBy: TRACES_TEST,
  },
  {
    title: 'OpenTelemetry is loaded although traces are off',
    edits: [
      {
        file: 'src/run.ts',
        find: "  if (traces === null) return null;\n  const { startTraces } = await import('./operations/tracing/open-telemetry.ts');\n",
        replace:
          "  const { startTraces } = await import('./operations/tracing/open-telemetry.ts');\n  if (traces === null) return null;\n",
      },
    ],
    caughtBy: 'test/process/traces.test.ts',
  },
  {
    title: 'the last spans are lost when the server stops',
    edits: [{ file: 'src/run.ts', find: '      await tracing?.close();\n', replace: '' }],
    caughtBy: 'test/process/traces.test.ts',
  },
  {
    title: 'a worker that has ended is not replaced',
    edits: [
      {
        file: 'src/workers/workers.ts',
        find: 'end = this.#start(slot, { isFirst: false }).ended;',
        replace: 'end = Promise.withResolvers<Awaited<typeof end>>().promise;',
      },
    ],
    caughtBy: 'test/process/workers.test.ts',
  },
  {
    title: 'a worker that takes no connection gets every second one',
    edits: [{ file: 'src/workers/worker-process.ts', find: ' && this.#untaken.size < MAX_UNTAKEN', replace: '' }],
    caughtBy: 'test/process/workers.test.ts',
  },
  {
    title: 'a worker gets connections as soon as its predecessor reports that it is ready',
    edits: [
      {
        file: 'src/workers/worker-process.ts',
        find: "message.kind === 'ready' && !this.#hasEnded",
        replace: "message.kind === 'ready'",
      },
    ],
    caughtBy: 'test/process/workers.test.ts',
  },
  {
    title: 'the path of a request moves the cursor of the terminal',
    edits: [{ file: 'src/observability/logs.ts', find: '/\\p{Cc}/gu', replace: '/\\p{Cs}/gu' }],
    caughtBy: 'test/observability/terminal-log.test.ts',
  },
];
