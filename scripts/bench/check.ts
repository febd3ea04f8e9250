import { isDeepStrictEqual } from 'node:util';
import type { Case } from './cases.ts';
import type { Load } from './load.ts';

type Page = { readonly data: readonly { readonly id: string }[] };

/** Before a case is measured: that what will be measured is the right answer. Throws where it is not. */
export async function checkAnswers({ title, subject, base, firstId, sameRows }: Case): Promise<void> {
  const [ours, theirs] = [await fetchFirst(subject), await fetchFirst(base.load)];
  if (ours.data.length === 0) throw new Error(`${title}: no rows.`);
  if (firstId !== undefined && ours.data[0]?.id !== firstId) {
    throw new Error(`${title}: begins with ${ours.data[0]?.id} instead of ${firstId}.`);
  }
  if (sameRows && !isDeepStrictEqual(ours.data, theirs.data)) {
    throw new Error(`${title}: its rows are not those of ${base.title}.`);
  }
}

async function fetchFirst({ origin, requests: [request] }: Load): Promise<Page> {
  const response = await fetch(origin + request?.path, { headers: request?.headers ?? {} });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${origin}${request?.path} answers ${response.status}: ${text}`);
  return JSON.parse(text);
}
