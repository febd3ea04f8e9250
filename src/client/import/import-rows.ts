import type { CharterClient } from '../charter-client.ts';
import { PATH, type Upsert } from './columns.ts';

/** What happened to the rows of a batch. */
export type Handled = {
  /** The rows that were not refused. */
  readonly accepted: number;
  /** Of these, the rows that became new parent programs. The others replaced one, or left it as it was. */
  readonly created: number;
  readonly refusals: readonly {
    readonly change: object;
    readonly status: number | undefined;
    readonly message: string;
  }[];
};

export async function* importRows(
  charter: CharterClient,
  changes: AsyncIterable<Upsert>,
  signal: AbortSignal,
): AsyncGenerator<Handled, void, void> {
  for await (const { outcomes } of charter.batch(PATH, changes, { signal })) {
    yield {
      accepted: outcomes.filter(({ exception }) => exception === null).length,
      created: outcomes.filter(({ status }) => status === 201).length,
      refusals: outcomes.flatMap(({ change, status, exception }) =>
        exception === null ? [] : [{ change, status, message: exception.message }],
      ),
    };
  }
}
