import { isDeepStrictEqual } from 'node:util';
import type { Case } from './cases.ts';
import type { Load } from './load.ts';

/** Before a case is measured: that what will be measured is the right answer. Throws where it is not. */
export async function checkAnswers({ title, subject, base, firstId, sameRows }: Case): Promise<void> {
  const [ours, theirs] = [await fetchFirst(subject), await fetchFirst(base.load)];
  if (Array.isArray(ours.data) && ours.data.length === 0) throw new Error(`${title}: no rows.`);
  if (firstId !== undefined && ours.data[0]?.id !== firstId) {
    throw new Error(`${title}: begins with ${ours.data[0]?.id} instead of ${firstId}.`);
  }
  if (sameRows && !isDeepStrictEqual(ours.data ?? ours, theirs.data ?? theirs)) {
    throw new Error(`${title}: its rows are not those of ${base.title}.`);
  }
}

/** What the first request is answered; without its condition, so that there is something to see. */
async function fetchFirst({ server, requests }: Load) {
  const [{ path = '', headers = {} } = {}] = requests(0, 1);
  const { 'if-none-match': _, ...asked } = headers;
  const response = await fetch(server.origin + path, { headers: asked });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${server.origin}${path} answers ${response.status}: ${text}`);
  return JSON.parse(text);
}
