import type { Fault } from '../fault.ts';

const APP = 'src/app.ts';
const METRICS = 'test/operations/metrics.test.ts';

/** Faults in what operators see. */
export const OPERATING_FAULTS: readonly Fault[] = [
  {
    title: 'the metrics have the path of a request as a label',
    edits: [{ file: APP, find: 'calledBy(req) ?? NOTHING', replace: 'req.url ?? NOTHING' }],
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
      { file: 'src/service/request-limiter.ts', find: 'this.#refused[closest] += 1;', replace: 'void this.#refused;' },
    ],
    caughtBy: METRICS,
  },
  {
    title: 'the metrics leave out the start of the process',
    edits: [{ file: 'src/operations/metrics/metrics.ts', find: ", aggregator: 'first' }", replace: ' }' }],
    caughtBy: METRICS,
  },
  {
    title: 'a worker that has ended is not replaced',
    edits: [
      {
        file: 'src/workers/workers.ts',
        find: 'end = this.#spawn(slot, { greets: false }).ended;',
        replace: 'end = Promise.withResolvers<Ended>().promise;',
      },
    ],
    caughtBy: 'test/process/workers.test.ts',
  },
  {
    title: 'the path of a request moves the cursor of the terminal',
    edits: [{ file: 'src/operations/logs.ts', find: '/\\p{Cc}/gu', replace: '/\\p{Cs}/gu' }],
    caughtBy: 'test/operations/terminal-log.test.ts',
  },
];
