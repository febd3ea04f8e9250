import { Agent, type IncomingMessage, request } from 'node:http';
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import { until } from '../wait.ts';

/**
 * Returns whether a server refused a request because too many requests wait for the database. A busy machine can cause this, too.
 * In an outage, the response has the same body but a longer Retry-After.
 */
export function isLoadRefusal({ status, retryAfter }: Refusal): boolean {
  return status === 503 && retryAfter === '1';
}

/**
 * Repeats a request while the response is 503, which every server sends in an outage, and which a busy machine can cause at any
 * time.
 */
export function untilAdmitted<T extends { readonly status: number }>(send: () => Promise<T>): Promise<T> {
  return until('a response other than 503', async () => {
    const reply = await send();
    return reply.status !== 503 && reply;
  });
}

type Refusal = { readonly status: number; readonly retryAfter: string | undefined };

const CLIENTS = 8;
const RETRY_MS = 50;
const LOAD_REFUSAL = Symbol('a refusal under load');

export type Requests = {
  /** Resolves after this number of further successes, or after a failure. */
  readonly afterMore: (count: number) => Promise<void>;
  /** Stops the clients. Returns every response that was neither a success nor a load refusal, and every lost connection. */
  readonly end: () => Promise<{ readonly failures: readonly string[] }>;
};

/**
 * Starts clients with one connection each that send one request after another. Half of the clients read, and half create parent
 * programs.
 */
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
 * Lists parent programs, or creates one with this name. Resolves to the status of a success, to LOAD_REFUSAL, to the status and
 * the text of any other response, or to the code of an error.
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

export type Load = {
  /** Returns whether each client has had some responses. Before that, the server may reset unused connections when it stops. */
  readonly isSteady: () => boolean;
  /** Resolves when no client can connect any more, to the names of the programs that were created, and to all problems. */
  readonly ended: Promise<{ created: string[]; problems: string[] }>;
};

/**
 * Starts clients that each send one request after another over their own connection, until connections are refused. After a
 * response with `Connection: close`, a client opens another connection. Half of the clients read, and half create programs. Each
 * client starts after the first response to the client before it. Clients repeat requests after a load refusal, which a busy
 * machine can cause. Until the load is steady, they repeat requests after any 503, because the first statements of a new process
 * can take too long.
 */
export function startLoad(url: string, { key, clients }: { key: string; clients: number }): Load {
  const [created, problems]: [string[], string[]] = [[], []];
  const responses = Array.from({ length: clients }, () => 0);
  const isSteady = () => Math.min(...responses) > 2;
  const runClient = async (client: number, onFirstResponse: () => void) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (let i = 0; ; i += 1) {
      const name = `Client ${client}, ${i}`;
      const isWrite = client % 2 === 0;
      const sending = { agent, key, name: isWrite ? name : undefined };
      let outcome = await send(url, sending);
      while (outcome === LOAD_REFUSAL || (!isSteady() && String(outcome).startsWith('503 '))) {
        await pause(RETRY_MS);
        outcome = await send(url, sending);
      }
      onFirstResponse();
      if (outcome === 'ECONNREFUSED') return agent.destroy();
      if (outcome === 201) created.push(name);
      if (outcome === 200 || outcome === 201) responses[client] = i + 1;
      else problems.push(`${name}: ${String(outcome)}`);
      // Some clients pause for a moment, so that the shutdown meets busy and idle connections.
      if (client % 4 === 3) await pause(20);
    }
  };
  let turn = Promise.resolve();
  const runs = responses.map(async (_, client) => {
    const [own, next] = [turn, Promise.withResolvers<void>()];
    turn = next.promise;
    await own;
    await runClient(client, next.resolve);
  });
  const ended = Promise.all(runs);
  return { isSteady, ended: ended.then(() => ({ created, problems })) };
}

/** Waits, and then lets Node handle the connections that the server has closed while this process was suspended. */
async function pause(ms: number): Promise<void> {
  await delay(ms);
  await nextTurn();
}
