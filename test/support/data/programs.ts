import type { Client, Reply } from '../clients/client.ts';
import type { TestOrganization, TestServer } from '../servers/server.ts';
import { untilAdmitted } from '../traffic/load.ts';

type Row = {
  name: string;
  description?: string;
  externalId?: string;
  metadata?: Record<string, string>;
  createdAt?: Date;
  updatedAt?: Date;
};

/** Inserts rows directly, with given times. Returns their ids. */
export async function insertPrograms(
  server: TestServer,
  { id: organizationId }: TestOrganization,
  rows: readonly Row[],
) {
  const data = rows.map((row) => ({ ...row, organizationId, id: crypto.randomUUID() }));
  await server.db.prisma.parentProgram.createMany({ data });
  return data.map(({ id }) => id);
}

/** Returns all pages of a list, from this URL on. Follows the Link header, which must match `next_cursor`. */
export async function walk(client: Client, firstUrl: string): Promise<Reply[]> {
  const pages: Reply[] = [];
  for (let next: string | undefined = firstUrl; next !== undefined; ) {
    const url: string = next;
    // Any server may refuse a request while it is busy.
    const page = await untilAdmitted(() => client.get(url));
    pages.push(page);
    next = nextOf(page);
  }
  return pages;
}

/** Returns the URL of the next page; `undefined` on the last page. */
export function nextOf({ status, headers, body, text }: Reply): string | undefined {
  if (status !== 200) throw new Error(`A list page has the status ${status}: ${text}`);
  const link = /^<([^>]+)>; rel="next"$/.exec(headers['link'] ?? '')?.[1];
  const cursor = link === undefined ? null : new URLSearchParams(link.slice(link.indexOf('?'))).get('cursor');
  if (cursor !== body.page.next_cursor) throw new Error(`The Link ${link} is not the cursor ${body.page.next_cursor}.`);
  return link;
}

export function idsOf(pages: readonly Reply[]): string[] {
  return pages.flatMap(({ body }) => body.data.map(({ id }: { id: string }) => id));
}
