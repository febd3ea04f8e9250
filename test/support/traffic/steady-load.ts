import { Agent } from 'node:http';
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import { LOAD_REFUSAL, send } from './requests.ts';

const RETRY_MS = 100;

export type Load = {
  /** True when each client has had some responses. A connection that no client has used yet may be reset when the server ends. */
  readonly isSteady: () => boolean;
  /** Resolves when no client can connect any more: the names of the programs that were created, and every other problem. */
  readonly ended: Promise<{ created: string[]; problems: string[] }>;
};

/**
 * Clients that each send one request after another over a connection of their own, and open another one after a response with
 * `Connection: close`, until connections are refused. Half of them read, half create programs. Each begins after the first
 * response of the one before it. A client repeats a request that was refused under load, as a busy machine may do, and until the
 * load is steady any that got a 503: in processes that have just started, the first statements can take too long.
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
      // Some are idle for a moment, so that the shutdown meets both kinds.
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

/** Also sees the end of a connection that arrived meanwhile: if this process was stopped for long, the server has closed it. */
async function pause(ms: number): Promise<void> {
  await delay(ms);
  await nextTurn();
}
