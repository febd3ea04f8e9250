// Integrations that use several servers throughout a test. They report what must never happen: an acknowledged write is lost or
// not visible, an event is missing, repeated or out of order, or an entity tag stands for two contents.
import { setTimeout as delay } from 'node:timers/promises';
import type { Client, Reply, Sending } from '../clients/client.ts';
import { until } from '../wait.ts';
import { applyEvents, type FeedEvent, feedUrl, type Program } from './feed.ts';
import { isLoadRefusal } from './load.ts';

const LIST = '/api/parent_programs';
const WRITERS = 4;
const RETRY_MS = 50;
/** The overlap that the guide "Pages, filters and sorting" recommends. */
const OVERLAP_MS = 60_000;

type Integrations = {
  /** Resolves after this number of further acknowledged writes. Rejects after a violation. */
  readonly afterMore: (writes: number) => Promise<void>;
  /** Stops the writers, lets the readers read the rest, and compares the results. */
  readonly end: () => Promise<Observed>;
};

type Observed = {
  readonly violations: readonly string[];
  /** The responses with 503. Their requests were sent again. */
  readonly unavailable: readonly string[];
  /** The responses among `unavailable` that were not load refusals. */
  readonly outages: readonly string[];
  /** The longest time between a request and its response. */
  readonly longestMs: number;
  readonly events: readonly FeedEvent[];
};

/**
 * Starts the integrations. Each writer writes through one of the clients, and reads its writes through the other client.
 * `programs` are the programs that the organization already has.
 */
export function startIntegrations(clients: readonly [Client, Client], programs: readonly Program[] = []): Integrations {
  const run = new Run(clients, programs);
  const writers = Array.from({ length: WRITERS }, (_, i) => run.untilFailure(run.write(i)));
  const readers = [run.follow(), run.poll()].map((reader) => run.untilFailure(reader));
  return {
    async afterMore(writes) {
      const enough = run.writes + writes;
      await until(`${writes} more writes`, () => run.writes >= enough || run.violations.length > 0);
      if (run.violations.length > 0) throw new Error(run.violations.join('\n'));
    },
    async end() {
      run.isEnding = true;
      await Promise.all(writers);
      run.hasEnded = true;
      await Promise.all(readers);
      await run.compare();
      return run;
    },
  };
}

class Run implements Observed {
  readonly violations: string[] = [];
  readonly events: FeedEvent[] = [];
  readonly unavailable: string[] = [];
  readonly outages: string[] = [];
  longestMs = 0;
  writes = 0;
  isEnding = false;
  hasEnded = false;
  readonly #clients: readonly [Client, Client];
  /** Each program as of its last acknowledged write. */
  readonly #programs = new Map<string, Program>();
  readonly #polled = new Map<string, Program>();
  /** The responses by URL and entity tag. */
  readonly #contents = new Map<string, string>();

  constructor(clients: readonly [Client, Client], programs: readonly Program[]) {
    this.#clients = clients;
    for (const program of programs) this.#programs.set(program.id, program);
  }

  async untilFailure(work: Promise<void>): Promise<void> {
    try {
      await work;
    } catch (error) {
      this.violations.push(String(error));
      this.isEnding = true;
    }
  }

  async write(writer: number): Promise<void> {
    const [first, second] = this.#clients;
    const [own, other] = writer % 2 === 0 ? [first, second] : [second, first];
    for (let i = 0; !this.isEnding; i += 1) {
      const headers = { 'Idempotency-Key': `${writer}-${i}` };
      const created = await this.#send(own, 'POST', LIST, { headers, body: { name: `Program ${writer} ${i}` } });
      await this.#acknowledge(created, 201, other);
      const body = { description: `Changed ${i}` };
      await this.#acknowledge(await this.#send(own, 'PATCH', `${LIST}/${created.body.id}`, { body }), 200, other);
      await this.#send(other, 'GET', `${LIST}?limit=3&sort=-updated_at`);
    }
  }

  async #acknowledge({ status, body, text }: Reply, expected: number, other: Client): Promise<void> {
    if (status !== expected) throw new Error(`A write got ${status}: ${text}`);
    this.#programs.set(body.id, body);
    this.writes += 1;
    const read = await this.#send(other, 'GET', `${LIST}/${body.id}`);
    if (read.text !== text) this.reportViolation(`${text} was read as ${read.status} ${read.text}`);
  }

  /** Follows the feed as the guide "Following changes" says. */
  async follow(): Promise<void> {
    const [client] = this.#clients;
    for (let cursor: string | undefined; ; ) {
      const isLast = this.hasEnded;
      const { status, body, text } = await this.#send(client, 'GET', feedUrl(cursor));
      if (status !== 200) throw new Error(`The feed got ${status}: ${text}`);
      const events: readonly FeedEvent[] = body.data;
      for (const event of events) {
        const before = this.events.at(-1);
        if (before !== undefined && before.id >= event.id) this.reportViolation(`${event.id} came after ${before.id}`);
        this.events.push(event);
      }
      cursor = body.page.next_cursor;
      if (isLast && !body.page.has_more) return;
      if (!body.page.has_more) await delay(RETRY_MS);
    }
  }

  /** Polls the list as the guide "Pages, filters and sorting" says. */
  async poll(): Promise<void> {
    const [, client] = this.#clients;
    for (let latest = 0; ; ) {
      const isLast = this.hasEnded;
      const since = new Date(Math.max(latest - OVERLAP_MS, 0)).toISOString();
      for (const program of await this.#list(client, `&updated_since=${since}`)) {
        this.#polled.set(program.id, program);
        latest = Math.max(latest, Date.parse(program.updated_at));
      }
      if (isLast) return;
      await delay(RETRY_MS);
    }
  }

  async #list(client: Client, filter = ''): Promise<Program[]> {
    const programs: Program[] = [];
    for (let cursor = ''; ; ) {
      const { status, body, text } = await this.#send(client, 'GET', `${LIST}?limit=100${filter}${cursor}`);
      if (status !== 200) throw new Error(`A list got ${status}: ${text}`);
      programs.push(...body.data);
      if (body.page.next_cursor === null) return programs;
      cursor = `&cursor=${body.page.next_cursor}`;
    }
  }

  async compare(): Promise<void> {
    const copies: Record<string, ReadonlyMap<string, Program>> = {
      'the list': new Map((await this.#list(this.#clients[0])).map((program) => [program.id, program])),
      'the feed': applyEvents(this.events),
      updated_since: this.#polled,
    };
    for (const [source, copy] of Object.entries(copies)) {
      for (const [id, program] of this.#programs) {
        const found = JSON.stringify(copy.get(id));
        if (found !== JSON.stringify(program))
          this.reportViolation(`${JSON.stringify(program)} is ${found} in ${source}`);
      }
      if (copy.size !== this.#programs.size)
        this.reportViolation(`${copy.size} of ${this.#programs.size} are in ${source}`);
    }
  }

  /** Sends the request, and repeats it while the response is 503. */
  async #send(client: Client, method: string, url: string, sending: Sending = {}): Promise<Reply> {
    for (; ; await delay(RETRY_MS)) {
      const sentAt = performance.now();
      const reply = await client.send(method, url, sending);
      this.longestMs = Math.max(this.longestMs, performance.now() - sentAt);
      if (reply.status !== 503) {
        this.#noteTag(url, reply);
        return reply;
      }
      const what = `${method} ${url}: ${reply.text}`;
      this.unavailable.push(what);
      if (!isLoadRefusal({ status: reply.status, retryAfter: reply.headers['retry-after'] })) this.outages.push(what);
    }
  }

  #noteTag(url: string, { headers: { etag }, text, status }: Reply): void {
    if (etag === undefined) return;
    const path = status === 201 ? `${LIST}/${JSON.parse(text).id}` : url;
    const content = this.#contents.get(`${path} ${etag}`);
    if (content !== undefined && content !== text) this.reportViolation(`${etag} came again for ${path}`);
    this.#contents.set(`${path} ${etag}`, text);
  }

  reportViolation(what: string): void {
    this.violations.push(what);
    this.isEnding = true;
  }
}
