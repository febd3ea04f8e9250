// Measures the cases of the table, and what a first page costs each server.
import { isDeepStrictEqual } from 'node:util';
import type pg from 'pg';
import type { Case, Servers } from './compare.ts';
import { alternate, compare, type Pair, summaryOf, wake, warmUp } from './compare.ts';
import { type Data, vacuum } from './data.ts';
import type { Drive, Load, Sample } from './load.ts';
import type { Pace } from './options.ts';
import type { Cost, Result } from './report.ts';
import { each } from './requests.ts';
import type { RunningServer } from './servers.ts';

type Measuring = { readonly pace: Pace; readonly client: pg.Client; readonly report: (text: string) => void };

export async function measureCases(cases: readonly Case[], { pace, client, report }: Measuring): Promise<Result[]> {
  const begun = new Map<Case, Pair<Drive>>();
  const passes = new Map(cases.map((measured): [Case, Pair<Sample>[]] => [measured, []]));
  for (let pass = 1; pass <= pace.passes; pass += 1) {
    await vacuum(client);
    for (const [measured, samples] of passes) {
      report(`pass ${pass} of ${pace.passes}: ${measured.title}`);
      const pair = begun.get(measured) ?? (await begin(measured, pace));
      begun.set(measured, pair);
      const { floor, subject, idleSeconds } = measured;
      const rounds = floor < 1 ? pace.closeRounds : pace.rounds;
      samples.push(await (idleSeconds === undefined ? alternate(pair, rounds) : wake(subject, idleSeconds)));
    }
  }
  return [...passes].map(([measured, samples]) => ({ measured, comparison: compare(samples) }));
}

async function begin(measured: Case, pace: Pace): Promise<Pair<Drive>> {
  await checkResponses(measured);
  return { subject: await warmUp(measured.subject, pace), base: await warmUp(measured.base.load, pace) };
}

/** Throws if a case would measure wrong responses. */
async function checkResponses({ title, subject, base, firstId, sameRows }: Case): Promise<void> {
  const [ours, expected] = [await fetchFirst(subject), await fetchFirst(base.load)];
  if (Array.isArray(ours.data) && ours.data.length === 0) throw new Error(`${title}: no rows.`);
  if (firstId !== undefined && ours.data[0]?.id !== firstId)
    throw new Error(`${title}: the first row is ${ours.data[0]?.id} instead of ${firstId}.`);
  if (sameRows === true && !isDeepStrictEqual(ours.data ?? ours, expected.data ?? expected))
    throw new Error(`${title}: the rows differ from those of ${base.title}.`);
}

/** The response to the first request, sent without `If-None-Match` to get a body. */
async function fetchFirst({ server, requests }: Load) {
  const [{ method = 'GET', path = '', headers = {}, body } = {}] = requests(0, 1);
  const { 'if-none-match': _, ...unconditional } = headers;
  const response = await fetch(server.origin + path, {
    method,
    headers: unconditional,
    ...(body !== undefined && { body }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${server.origin}${path} responds with ${response.status}: ${text}`);
  return JSON.parse(text);
}

export type Peers = { readonly constant: RunningServer; readonly fastify: RunningServer | null };

/** The servers take turns, so that other activity of the machine affects all alike. */
export async function measureCosts(
  { charter, uncached, raw }: Servers,
  { constant, fastify }: Peers,
  { small, pace }: Data & { readonly pace: Pace },
): Promise<Cost[]> {
  const servers = [
    { title: "`node:http`, the same bytes each time: the runtime's limit", server: constant },
    { title: 'Charter', server: charter },
    { title: 'Charter without its response cache', server: uncached },
    { title: 'Fastify + pg, with a compiled serializer', server: fastify },
    { title: 'raw', server: raw },
  ];
  const measured: { title: string; drive: Drive; samples: Sample[] }[] = [];
  for (const { title, server } of servers)
    if (server !== null) measured.push({ title, drive: await warmUp(each(server, small), pace), samples: [] });
  for (let round = 0; round < pace.passes * pace.rounds.count; round += 1)
    for (const { drive, samples } of measured) samples.push(await drive(pace.rounds.seconds));
  return measured.map(({ title, samples }) => ({ title, summary: summaryOf(samples) }));
}

const STARTS = 3;

/** The median time from the start of `node src/main.ts` to its first response. */
export async function measureStart(startServer: () => Promise<RunningServer>): Promise<string> {
  const seconds: number[] = [];
  for (let i = 0; i < STARTS; i += 1) {
    const startedAt = performance.now();
    const server = await startServer();
    seconds.push((performance.now() - startedAt) / 1000);
    await server.stop();
  }
  const median = seconds.sort((a, b) => a - b)[1] ?? Number.NaN;
  return `Start of \`node src/main.ts\` to its first response: ${median.toFixed(2)} s.\n`;
}
