// The commands that one of two organizations runs, and the responses it must get.
import { isDeepStrictEqual } from 'node:util';
import type fc from 'fast-check';
import { nextOf } from '../support/programs.ts';
import type { Outgoing } from './outgoing.ts';
import {
  type Content,
  type Creation,
  contentOf,
  type Filters,
  isSame,
  type Patch,
  type Program,
  type Programs,
  patched,
} from './parent-program-model.ts';
import type { TimedReply } from './world.ts';

export const LIST = '/api/parent_programs';

/** Two organizations: the model of each, and the key of the caller. */
type Model = readonly [Programs, Programs];
type Real = { readonly send: Send };
type Call = Pick<Outgoing, 'method' | 'url'> & { headers?: Record<string, string>; body?: unknown };
export type Send = (who: Who, call: Call) => Promise<TimedReply>;
export type Who = 0 | 1;
export type Command = fc.AsyncCommand<Model, Real>;

/** Selects one of the created programs, of the caller's organization or of the other. */
export type Chosen = { readonly who: Who; readonly of: Who; readonly at: number };
export type Tag = 'none' | 'current' | 'other' | 'weak' | 'any';

export function must(isTrue: boolean, words: string): asserts isTrue {
  if (!isTrue) throw new Error(words);
}

function mustGet(response: TimedReply, status: number, why: string): void {
  must(response.status === status, `${why}: it must get ${status}, and got ${response.status} ${response.text}`);
}

function mustName(response: TimedReply, field: string, why: string): void {
  mustGet(response, 422, why);
  must(isDeepStrictEqual(Object.keys(response.body.errors), [field]), `${why}: the 422 must name ${field}.`);
}

function mustBe(program: Program, content: Content): void {
  must(isSame(program, content), `it must be ${JSON.stringify(content)}, and is ${JSON.stringify(program)}`);
}

export class Create implements Command {
  readonly who: Who;
  readonly body: Creation;
  readonly key: string | undefined;

  constructor(who: Who, body: Creation, key: string | undefined) {
    this.who = who;
    this.body = body;
    this.key = key;
  }

  check = () => true;

  async run(model: Model, { send }: Real): Promise<void> {
    const [ours, content, { key = '' }] = [model[this.who], contentOf(this.body), this];
    const headers = this.key === undefined ? {} : { 'Idempotency-Key': this.key };
    const response = await send(this.who, { method: 'POST', url: LIST, headers, body: this.body });
    const before = ours.responses.get(key);
    if (before !== undefined && !isSame(before.content, content)) {
      return mustName(response, 'Idempotency-Key', 'the key came with another body before');
    }
    if (before !== undefined) {
      mustGet(response, 201, 'the same key and body came before');
      return must(isDeepStrictEqual(response.body, before.program), 'it must be the first response again.');
    }
    if (ours.isTaken(content.external_id)) return mustGet(response, 409, 'the external_id is taken');
    mustGet(response, 201, 'nothing is in the way');
    const program: Program = response.body;
    mustBe(program, content);
    must(!model.some(({ ids }) => ids.includes(program.id)), 'the id must be new.');
    must(response.headers['location'] === `${LIST}/${program.id}`, 'the Location must lead to it.');
    ours.keep({ program, entityTag: response.headers['etag'] ?? '' });
    if (this.key !== undefined) ours.responses.set(this.key, { content, program });
  }

  toString = () => 'create';
}

/** The selected program, if visible to the caller. Undefined: no program has been created. */
function find(model: Model, { who, of, at }: Chosen) {
  const { ids } = model[of];
  const id = ids[at % ids.length];
  return id === undefined ? undefined : { id, kept: model[who].kept.get(id) };
}

function tagOf(tag: Tag, current: string | undefined): string | undefined {
  if (tag === 'none') return undefined;
  if (tag === 'any') return '*';
  const value = current ?? '"gone"';
  return tag === 'current' ? `"x", ${value}` : tag === 'weak' ? `W/${value}` : '"other"';
}

export class Get implements Command {
  readonly chosen: Chosen;
  readonly tag: Tag;

  constructor(chosen: Chosen, tag: Tag) {
    this.chosen = chosen;
    this.tag = tag;
  }

  check = (model: Readonly<Model>) => find(model, this.chosen) !== undefined;

  async run(model: Model, { send }: Real): Promise<void> {
    const { id, kept } = find(model, this.chosen) ?? { id: '' };
    const tag = tagOf(this.tag, kept?.entityTag);
    const headers = tag === undefined ? {} : { 'If-None-Match': tag };
    const response = await send(this.chosen.who, { method: 'GET', url: `${LIST}/${id}`, headers });
    if (kept === undefined) return mustGet(response, 404, 'the organization has no such program');
    must(response.headers['etag'] === kept.entityTag, 'the ETag must be that of the last write.');
    if (this.tag !== 'none' && this.tag !== 'other') return mustGet(response, 304, 'nothing has changed');
    mustGet(response, 200, 'it is there');
    must(isDeepStrictEqual(response.body, kept.program), `it must be as it was written: ${response.text}`);
  }

  toString = () => 'get';
}

export class Write implements Command {
  readonly chosen: Chosen;
  readonly tag: Tag;
  /** Null: the program is deleted. */
  readonly patch: Patch | null;

  constructor(chosen: Chosen, tag: Tag, patch: Patch | null) {
    this.chosen = chosen;
    this.tag = tag;
    this.patch = patch;
  }

  check = (model: Readonly<Model>) => find(model, this.chosen) !== undefined;

  async run(model: Model, { send }: Real): Promise<void> {
    const { id, kept } = find(model, this.chosen) ?? { id: '' };
    const ours = model[this.chosen.who];
    const tag = tagOf(this.tag, kept?.entityTag);
    const headers = tag === undefined ? {} : { 'If-Match': tag };
    const method = this.patch === null ? 'DELETE' : 'PATCH';
    const body = this.patch ?? undefined;
    const response = await send(this.chosen.who, { method, url: `${LIST}/${id}`, headers, body });
    if (kept === undefined) return mustGet(response, 404, 'the organization has no such program');
    if (this.tag === 'other' || this.tag === 'weak') return mustGet(response, 412, 'no strong tag is the current one');
    if (this.patch === null) {
      mustGet(response, 204, 'it was there');
      return void ours.kept.delete(id);
    }
    const content = patched(kept.program, this.patch);
    if (content === null) return mustName(response, 'metadata', 'too many entries would remain');
    if (ours.isTaken(content.external_id, id)) return mustGet(response, 409, 'the external_id is taken');
    mustGet(response, 200, 'nothing is in the way');
    const program: Program = response.body;
    mustBe(program, content);
    const before = kept.program;
    must(program.id === id && program.created_at === before.created_at, 'id and created_at must stay.');
    const isTouched = program.updated_at > before.updated_at;
    must(isTouched !== isSame(before, content), 'updated_at must grow with a change, and with nothing else.');
    must((response.headers['etag'] === kept.entityTag) !== isTouched, 'the ETag must be new with a change only.');
    ours.keep({ program, entityTag: response.headers['etag'] ?? '' });
  }

  toString = () => (this.patch === null ? 'delete' : 'update');
}

type Listing = {
  readonly sort: string;
  readonly limit: number;
  readonly filters: Filters;
  readonly since: number | null;
};

export class List implements Command {
  readonly who: Who;
  readonly listing: Listing;

  constructor(who: Who, listing: Listing) {
    this.who = who;
    this.listing = listing;
  }

  check = () => true;

  /** Reads to the last list page, then the first one again, which must not have changed. */
  async run(model: Model, { send }: Real): Promise<void> {
    const { sort, limit, since } = this.listing;
    const times = [...model[this.who].kept.values()].map(({ program }) => program.updated_at);
    const moment = since === null ? undefined : times[since % times.length];
    const filters = { ...this.listing.filters, ...(moment !== undefined && { updated_since: moment }) };
    const first = `${LIST}?${new URLSearchParams({ sort, limit: String(limit), ...filters })}`;
    const expected = model[this.who].listed(sort, filters);
    const found: Program[] = [];
    let entityTag = '';
    for (let url: string | undefined = first; url !== undefined; ) {
      const page: TimedReply = await send(this.who, { method: 'GET', url });
      mustGet(page, 200, 'it is a page');
      must(page.body.data.length === limit || page.body.page.next_cursor === null, 'only the last page may be short.');
      found.push(...page.body.data);
      must(found.length <= expected.length, `there are only ${expected.length} to list.`);
      if (url === first) entityTag = page.headers['etag'] ?? '';
      url = nextOf(page);
    }
    const ids = (programs: readonly Program[]) => programs.map(({ id }) => id).join();
    must(isDeepStrictEqual(found, expected), `it must list ${ids(expected)}, and lists ${ids(found)}.`);
    const again = await send(this.who, { method: 'GET', url: first, headers: { 'If-None-Match': entityTag } });
    mustGet(again, 304, 'nothing has changed');
  }

  toString = () => 'list';
}
