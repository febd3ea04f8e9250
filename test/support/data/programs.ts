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

/** Inserts rows directly, with the times that a test wants. Returns their ids. */
export async function insertPrograms(
  server: TestServer,
  { id: organizationId }: TestOrganization,
  rows: readonly Row[],
) {
  const data = rows.map((row) => ({ ...row, organizationId, id: crypto.randomUUID() }));
  await server.db.prisma.parentProgram.createMany({ data });
  return data.map(({ id }) => id);
}

/** Every list page from this URL on, by following the Link header, which must match `next_cursor`. */
export async function walk(client: Client, firstUrl: string): Promise<Reply[]> {
  const pages: Reply[] = [];
  for (let next: string | undefined = firstUrl; next !== undefined; ) {
    const url: string = next;
    // A busy server may refuse a request, as any server may.
    const page = await untilAdmitted(() => client.get(url));
    pages.push(page);
    next = nextOf(page);
  }
  return pages;
}

/** The URL of the next list page; undefined on the last one. */
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
