// The commands that one of two organizations runs, and the responses it must get.
import { isDeepStrictEqual } from 'node:util';
import type fc from 'fast-check';
import type { Json } from '../../src/contract/document.ts';
import { type References, withReferences } from '../support/contract/resources.ts';
import { nextOf } from '../support/data/programs.ts';
import type { Outgoing } from './outgoing.ts';
import type { Content, Feed, Filters, Row, Rows } from './resource-model.ts';
import type { TimedReply } from './world.ts';

/** Two organizations: the model of each, and the key of the caller. */
type Model = readonly [Rows, Rows];
type Real = {
  readonly send: Send;
  /** Of each organization: the ids of the rows to which the fields of a creation refer. */
  readonly references: readonly [References, References];
};
type Call = Pick<Outgoing, 'method' | 'url'> & { headers?: Record<string, string>; body?: unknown };
export type Send = (who: Who, call: Call) => Promise<TimedReply>;
export type Who = 0 | 1;
export type Command = fc.AsyncCommand<Model, Real>;

/** Selects one of the created rows, of the caller's organization or of the other. */
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

function mustBe(rows: Rows, row: Row, content: Content): void {
  must(rows.isSame(row, content), `it must be ${JSON.stringify(content)}, and is ${JSON.stringify(row)}`);
}

export type Creation = {
  readonly body: Json;
  /** The organization to whose rows the fields of the body refer. */
  readonly refersTo: Who;
  readonly key: string | undefined;
};

export class Create implements Command {
  readonly who: Who;
  readonly creation: Creation;

  constructor(who: Who, creation: Creation) {
    this.who = who;
    this.creation = creation;
  }

  check = () => true;

  async run(model: Model, { send, references }: Real): Promise<void> {
    const { who, creation } = this;
    const ours = model[who];
    const { path } = ours.resource;
    const body = { ...creation.body, ...references[creation.refersTo] };
    const content = ours.contentOf(body);
    const headers = creation.key === undefined ? {} : { 'Idempotency-Key': creation.key };
    const response = await send(who, { method: 'POST', url: path, headers, body });
    const before = ours.responses.get(creation.key ?? '');
    if (before !== undefined && !ours.isSame(before.content, content)) {
      return mustName(response, 'Idempotency-Key', 'the key came with another body before');
    }
    if (before !== undefined) {
      mustGet(response, 201, 'the same key and body came before');
      return must(isDeepStrictEqual(response.body, before.row), 'it must be the first response again.');
    }
    const [reference] = Object.keys(references[creation.refersTo]);
    if (reference !== undefined && creation.refersTo !== who) {
      return mustName(response, reference, 'it refers to a row of another organization');
    }
    if (ours.isTaken(content)) return mustGet(response, 409, 'a value is taken that must be unique');
    mustGet(response, 201, 'nothing is in the way');
    const row: Row = response.body;
    mustBe(ours, row, content);
    must(!model.some(({ ids }) => ids.includes(row.id)), 'the id must be new.');
    must(response.headers['location'] === `${path}/${row.id}`, 'the Location must lead to it.');
    ours.keep({ row, entityTag: response.headers['etag'] ?? '' });
    ours.unread.push({ kind: 'created', row });
    if (creation.key !== undefined) ours.responses.set(creation.key, { content, row });
  }

  toString = () => 'create';
}

/** The selected row, if visible to the caller. Undefined: no row has been created. */
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
    const { path } = model[this.chosen.who].resource;
    const response = await send(this.chosen.who, { method: 'GET', url: `${path}/${id}`, headers });
    if (kept === undefined) return mustGet(response, 404, 'the organization has no such row');
    must(response.headers['etag'] === kept.entityTag, 'the ETag must be that of the last write.');
    if (this.tag !== 'none' && this.tag !== 'other') return mustGet(response, 304, 'nothing has changed');
    mustGet(response, 200, 'it is there');
    must(isDeepStrictEqual(response.body, kept.row), `it must be as it was written: ${response.text}`);
  }

  toString = () => 'get';
}

export class Write implements Command {
  readonly chosen: Chosen;
  readonly tag: Tag;
  /** `null` if the row is deleted. */
  readonly patch: Json | null;

  constructor(chosen: Chosen, tag: Tag, patch: Json | null) {
    this.chosen = chosen;
    this.tag = tag;
    this.patch = patch;
  }

  check = (model: Readonly<Model>) => find(model, this.chosen) !== undefined;

  async run(model: Model, { send, references }: Real): Promise<void> {
    const { id, kept } = find(model, this.chosen) ?? { id: '' };
    const ours = model[this.chosen.who];
    const tag = tagOf(this.tag, kept?.entityTag);
    const headers = tag === undefined ? {} : { 'If-Match': tag };
    const method = this.patch === null ? 'DELETE' : 'PATCH';
    const patch = this.patch === null ? null : Object(withReferences(this.patch, references[this.chosen.who]));
    const body = patch ?? undefined;
    const response = await send(this.chosen.who, { method, url: `${ours.resource.path}/${id}`, headers, body });
    if (kept === undefined) return mustGet(response, 404, 'the organization has no such row');
    if (this.tag === 'other' || this.tag === 'weak') return mustGet(response, 412, 'no strong tag is the current one');
    if (patch === null) {
      mustGet(response, 204, 'it was there');
      ours.unread.push({ kind: 'deleted', row: kept.row });
      return void ours.kept.delete(id);
    }
    const before = kept.row;
    const { content, tooMany } = ours.patched(before, patch);
    if (tooMany !== undefined) return mustName(response, tooMany, 'too many entries would remain');
    if (ours.isTaken(content, id)) return mustGet(response, 409, 'a value is taken that must be unique');
    mustGet(response, 200, 'nothing is in the way');
    const row: Row = response.body;
    mustBe(ours, row, content);
    must(row.id === id && row.created_at === before.created_at, 'id and created_at must stay.');
    const isTouched = row.updated_at > before.updated_at;
    must(isTouched !== ours.isSame(before, content), 'updated_at must grow with a change, and with nothing else.');
    must((response.headers['etag'] === kept.entityTag) !== isTouched, 'the ETag must be new with a change only.');
    ours.keep({ row, entityTag: response.headers['etag'] ?? '' });
    if (isTouched) ours.unread.push({ kind: 'updated', row });
  }

  toString = () => (this.patch === null ? 'delete' : 'update');
}

export type Listing = {
  readonly sort: string;
  readonly limit: number;
  readonly filters: Filters;
  /** Selects the row since whose last change rows are listed; null: all are. */
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
    const rows = model[this.who];
    const times = [...rows.kept.values()].map(({ row }) => row.updated_at);
    const moment = since === null ? undefined : times[since % times.length];
    const filters = { ...this.listing.filters, ...(moment !== undefined && { updated_since: moment }) };
    const first = `${rows.resource.path}?${new URLSearchParams({ sort, limit: String(limit), ...filters })}`;
    const expected = rows.listed(sort, filters);
    const found: Row[] = [];
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
    const ids = (those: readonly Row[]) => those.map(({ id }) => id).join();
    must(isDeepStrictEqual(found, expected), `it must list ${ids(expected)}, and lists ${ids(found)}.`);
    const again = await send(this.who, { method: 'GET', url: first, headers: { 'If-None-Match': entityTag } });
    mustGet(again, 304, 'nothing has changed');
  }

  toString = () => 'list';
}

export class Follow implements Command {
  readonly who: Who;
  readonly feed: Feed;
  readonly limit: number;

  constructor(who: Who, feed: Feed, limit: number) {
    this.who = who;
    this.feed = feed;
    this.limit = limit;
  }

  check = () => true;

  /** Reads the feed from the last cursor: the changes since then, in their order, and no others. */
  async run(model: Model, { send }: Real): Promise<void> {
    const ours = model[this.who];
    const expected = ours.unread.splice(0).map(({ kind, row }) => ({ type: `${this.feed.noun}.${kind}`, data: row }));
    const found: unknown[] = [];
    for (let hasMore = true; hasMore; ) {
      const cursor = ours.cursor === undefined ? '' : `&cursor=${ours.cursor}`;
      const page = await send(this.who, { method: 'GET', url: `${this.feed.path}?limit=${this.limit}${cursor}` });
      mustGet(page, 200, 'it is a page');
      const events: { type: string; data: Row }[] = page.body.data;
      // A row to which this one refers has events, too.
      const own = events.filter(({ type }) => type.startsWith(`${this.feed.noun}.`));
      found.push(...own.map(({ type, data }) => ({ type, data })));
      must(found.length <= expected.length, `there are only ${expected.length} changes.`);
      ours.cursor = page.body.page.next_cursor;
      hasMore = page.body.page.has_more;
    }
    const words = `it must have ${JSON.stringify(expected)}, and has ${JSON.stringify(found)}.`;
    must(isDeepStrictEqual(found, expected), words);
  }

  toString = () => 'follow';
}
