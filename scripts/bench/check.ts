import { isDeepStrictEqual } from 'node:util';
import type { Case } from './cases.ts';
import type { Load } from './load.ts';

/** Throws if a case would measure wrong responses. */
export async function checkResponses({ title, subject, base, firstId, sameRows }: Case): Promise<void> {
  const [ours, expected] = [await fetchFirst(subject), await fetchFirst(base.load)];
  if (Array.isArray(ours.data) && ours.data.length === 0) throw new Error(`${title}: no rows.`);
  if (firstId !== undefined && ours.data[0]?.id !== firstId) {
    throw new Error(`${title}: the first row is ${ours.data[0]?.id} instead of ${firstId}.`);
  }
  if (sameRows && !isDeepStrictEqual(ours.data ?? ours, expected.data ?? expected)) {
    throw new Error(`${title}: the rows differ from those of ${base.title}.`);
  }
}

/** The response to the first request, sent without `If-None-Match` to get a body. */
async function fetchFirst({ server, requests }: Load) {
  const [{ path = '', headers = {} } = {}] = requests(0, 1);
  const { 'if-none-match': _, ...unconditional } = headers;
  const response = await fetch(server.origin + path, { headers: unconditional });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${server.origin}${path} responds with ${response.status}: ${text}`);
  return JSON.parse(text);
}
