import { Agent, type IncomingMessage, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { until } from '../wait.ts';
import { isLoadRefusal } from './load-refusal.ts';

const CLIENTS = 8;
const RETRY_MS = 50;
export const LOAD_REFUSAL = Symbol('a refusal under load');

export type Requests = {
  /** Resolves after so many more successes, or a failure. */
  readonly afterMore: (count: number) => Promise<void>;
  /** Every response that was neither a success nor a refusal under load, and every connection that was lost. */
  readonly end: () => Promise<{ readonly failures: readonly string[] }>;
};

/** Clients with a connection each, which send one request after the other: half of them read, half create parent programs. */
export function startRequests(url: string, key: string): Requests {
  const failures: string[] = [];
  let [responses, isEnding] = [0, false];
  const runClient = async (client: number) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const name = client % 2 === 0 ? `Client ${client}` : undefined;
    while (!isEnding) {
      const outcome = await send(url, { agent, key, name });
      if (outcome === 200 || outcome === 201) responses += 1;
      else if (outcome === LOAD_REFUSAL) await delay(RETRY_MS);
      else failures.push(`${name === undefined ? 'GET' : 'POST'}: ${outcome}`);
    }
    agent.destroy();
  };
  const clients = Array.from({ length: CLIENTS }, (_, i) => runClient(i));
  return {
    async afterMore(count) {
      const enough = responses + count;
      await until(`${count} more responses`, () => responses >= enough || failures.length > 0);
    },
    async end() {
      isEnding = true;
      await Promise.all(clients);
      return { failures };
    },
  };
}

type Sending = { readonly agent: Agent; readonly key: string; readonly name: string | undefined };

/**
 * Lists parent programs, or creates one with this name. Resolves with the status of a success, LOAD_REFUSAL, the status and the
 * text of any other response, or the code of the error.
 */
export function send(url: string, { agent, key, name }: Sending): Promise<number | string | typeof LOAD_REFUSAL> {
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
  const list = `${url}/api/parent_programs`;
  const [method, target] = name === undefined ? ['GET', `${list}?limit=5`] : ['POST', list];
  return new Promise((resolve) => {
    const fail = (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message);
    const sent = request(target, { agent, method, headers });
    sent.on('error', fail);
    sent.on('response', (response: IncomingMessage) => {
      response.on('error', fail);
      let text = '';
      response.on('data', (chunk) => {
        text += chunk;
      });
      response.on('end', () => {
        const { statusCode: status = 0 } = response;
        if (isLoadRefusal({ status, retryAfter: response.headers['retry-after'] })) resolve(LOAD_REFUSAL);
        else resolve(status < 300 ? status : `${status} ${text.slice(0, 100)}`);
      });
    });
    sent.end(name === undefined ? undefined : JSON.stringify({ name }));
  });
}
