import { cut, MAX_CHANGES } from '../batching.ts';
import { type CharterClient, ResponseError, type Result, type Schemas } from '../charter-client.ts';
import { realClock } from '../clock.ts';
import { Pace } from '../pace.ts';
import { PATH, type Upsert } from './columns.ts';
import type { Handled } from './import-rows.ts';

/** No parent program has this id, so an atomic batch with this change changes nothing, whatever else it contains. */
const IMPOSSIBLE = { action: 'delete', id: '00000000-0000-0000-0000-000000000000' } as const;

/** Has the server judge every change, as it would when it makes it, and makes none. */
export async function* checkRows(
  charter: CharterClient,
  changes: AsyncIterable<Upsert>,
  signal: AbortSignal,
): AsyncGenerator<Handled, void, void> {
  const pace = new Pace(realClock);
  for await (const batch of cut(changes, { maxChanges: MAX_CHANGES - 1 }))
    yield* check(charter, batch, { pace, signal });
}

async function* check(
  charter: CharterClient,
  batch: readonly Upsert[],
  sending: { readonly pace: Pace; readonly signal: AbortSignal },
): AsyncGenerator<Handled, void, void> {
  const { pace, signal } = sending;
  const body: Schemas['ParentProgramBatch'] = { atomic: true, changes: [...batch, IMPOSSIBLE] };
  await pace.ready(signal);
  const result = await charter.POST(`${PATH}/batch`, { body, signal });
  pace.sent(result.headers);
  const refused = refusedBy(result, batch.length);
  if (refused !== null) yield handled(batch, refused);
  else {
    const half = Math.ceil(batch.length / 2);
    yield* check(charter, batch.slice(0, half), sending);
    yield* check(charter, batch.slice(half), sending);
  }
}

type Refused = ReadonlyMap<number, { readonly status: number; readonly message: string }>;

/** The changes that are refused, by their place. Null if the batch must be checked in smaller parts. */
function refusedBy(result: Result<`${typeof PATH}/batch`, 'post'>, count: number): Refused | null {
  switch (result.status) {
    case 413:
      return count > 1 ? null : new Map([[0, { status: result.status, message: result.error.message }]]);
    case 409:
    case 412:
    case 422: {
      const refused = byPlace(result.error.errors ?? {}, result.status);
      // A response has only so many errors. Without that of the last change, those of others may be missing, too.
      return refused.has(count) || count === 1 ? refused : null;
    }
    case 200:
      throw new Error('Charter made a change that is impossible.');
    default:
      throw new ResponseError(`POST ${PATH}/batch`, result);
  }
}

/** The errors of the fourth change are named `changes.3`, or `changes.3.name`. */
function byPlace(errors: Readonly<Record<string, readonly string[]>>, status: number): Refused {
  const found = new Map<number, { status: number; message: string }>();
  for (const [name, messages] of Object.entries(errors)) {
    const [, place = '', field = ''] = /^changes\.(\d+)\.?(.*)$/s.exec(name) ?? [];
    const known = found.get(Number(place))?.message ?? '';
    const said = messages.map((message) => `${field} ${message}`.trim());
    found.set(Number(place), { status, message: [known, ...said].join(' ').trim() });
  }
  return found;
}

function handled(batch: readonly Upsert[], refused: Refused): Handled {
  const refusals = batch.flatMap((change, place) => {
    const found = refused.get(place);
    return found === undefined ? [] : [{ change, ...found }];
  });
  return { accepted: batch.length - refusals.length, created: 0, refusals };
}
