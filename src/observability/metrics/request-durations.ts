import { Distribution } from '../instruments/distribution.ts';

/** Upper bounds in seconds: from a cached response to the time limit of a statement. */
const BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15];

/** "aborted": the client closed the connection before the end of the response. */
export type StatusClass = '1xx' | '2xx' | '3xx' | '4xx' | '5xx' | 'aborted';

const CLASSES: readonly StatusClass[] = ['1xx', '2xx', '3xx', '4xx', '5xx'];

/** Durations of requests in seconds, by operation and class of the status. Recording one allocates nothing. */
export class RequestDurations {
  readonly #byOperation = new Map<string, Map<StatusClass, Distribution>>();

  /** `operation`: one of few names, which no request chooses. */
  record(operation: string, status: number | 'aborted', seconds: number): void {
    const statusClass = status === 'aborted' ? status : (CLASSES[Math.floor(status / 100) - 1] ?? '5xx');
    this.#distributionOf(operation, statusClass).record(seconds);
  }

  *entries(): Generator<{ operation: string; status: StatusClass; durations: Distribution }> {
    for (const [operation, byStatus] of this.#byOperation)
      for (const [status, durations] of byStatus) yield { operation, status, durations };
  }

  #distributionOf(operation: string, status: StatusClass): Distribution {
    let byStatus = this.#byOperation.get(operation);
    if (byStatus === undefined) {
      byStatus = new Map();
      this.#byOperation.set(operation, byStatus);
    }
    let durations = byStatus.get(status);
    if (durations === undefined) {
      durations = new Distribution(BOUNDS);
      byStatus.set(status, durations);
    }
    return durations;
  }
}
