import type pg from 'pg';
import type { Case, Servers } from './case.ts';
import type { Data } from './data.ts';
import { distinctPages, listsOfLarge, syncCases } from './list-cases.ts';
import type { Load } from './load.ts';
import { creations, each, PATH, someIds, writes } from './requests.ts';
import { addEndpoint, type Receiver } from './webhooks.ts';

export type Sources = { readonly client: pg.Client; readonly receiver: Receiver };

/** All cases, in the order of the table. */
export async function listCases(servers: Servers, data: Data, { client, receiver }: Sources): Promise<Case[]> {
  const { charter, uncached, sampling, vast, raw } = servers;
  const { small } = data;
  const [one, without = one, withWebhook = one] = small;
  await addEndpoint(client, withWebhook, receiver.url);
  const [id] = await someIds(client, one, 1);
  const distinct = await distinctPages(servers, data, client);
  const beside = (load: Load) => ({ title: 'raw', load });
  const [ours, raws] = [creations(charter, one), creations(raw, one)];
  const later = { idleSeconds: 60, base: { title: 'the rate under load', load: each(charter, small) } };
  return [
    {
      title: 'first page, one key',
      floor: 5,
      sameRows: true,
      subject: each(charter, [one]),
      base: beside(each(raw, [one])),
    },
    {
      title: 'first page, 100 keys of 100 organizations in turn',
      floor: 4.5,
      sameRows: true,
      subject: each(charter, small),
      base: beside(each(raw, small)),
    },
    {
      title: 'If-None-Match -> 304',
      floor: 5,
      subject: each(charter, [one], PATH, { 'if-none-match': await tagOf(each(charter, [one])) }),
      base: beside(each(raw, [one])),
    },
    {
      title: 'uncached pages (a different cursor each time)',
      floor: 1.1,
      sameRows: true,
      subject: distinct(uncached),
      base: beside(distinct(raw)),
    },
    ...(await syncCases(servers, data, client)),
    ...(await listsOfLarge(uncached, data, client)),
    {
      title: '10% writes (create, update)',
      floor: 1.5,
      subject: await writes(charter, one, client),
      base: { title: 'raw doing the same', load: await writes(raw, one, client) },
    },
    {
      title: '10% writes, each of them sent to a webhook endpoint',
      floor: 0.6,
      subject: await writes(charter, withWebhook, client),
      base: { title: 'without an endpoint', load: await writes(charter, without, client) },
    },
    {
      title: 'rows by batches of 100 creations, one connection',
      floor: 15,
      subject: ours.batches,
      base: { title: 'single creations', load: ours.single },
    },
    {
      title: 'rows by batches of 100 creations, one connection, events included',
      floor: 0.5,
      subject: ours.batches,
      base: { title: "raw's multi-row insert without events", load: raws.batches },
    },
    {
      title: 'one parent program by id',
      floor: 2.2,
      sameRows: true,
      subject: each(charter, [one], `${PATH}/${id}`),
      base: beside(each(raw, [one], `${PATH}/${id}`)),
    },
    {
      ...later,
      title: 'first 5 seconds after an idle minute, 100 keys',
      floor: 0.8,
      subject: each(charter, small),
    },
    {
      title: 'contract with 1,000 operations',
      floor: 0.85,
      sameRows: true,
      subject: each(vast, [one]),
      base: { title: "today's contract", load: each(charter, [one]) },
    },
    {
      title: 'response check: report at 1%',
      floor: 0.85,
      sameRows: true,
      subject: each(sampling, [one]),
      base: { title: 'off', load: each(charter, [one]) },
    },
  ];
}

async function tagOf({ server, requests }: Load): Promise<string> {
  const [request] = requests(0, 1);
  return (await fetch(server.origin + PATH, { headers: { ...request?.headers } })).headers.get('etag') ?? '';
}
