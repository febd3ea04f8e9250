import { Agent, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { Actor } from '../../../src/domain/audit/actor.ts';
import { type IssuedKey, issueKey } from '../../../src/service/keys/issue-key.ts';
import { revokeKey } from '../../../src/service/keys/revoke-key.ts';
import { rotateKey } from '../../../src/service/keys/rotate-key.ts';
import { orThrow } from '../../../src/service/outcome.ts';
import type { Database } from '../../../src/store/sql/database.ts';
import { isOutage } from '../../../src/store/sql/database-errors.ts';
import { requireConformity } from '../contract/contract.ts';
import { createActor, createScope, READ_WRITE } from '../data/actors.ts';
import { randomNumbers } from '../data/random-numbers.ts';
import type { Access, KeyUse, Span } from './linearizability.ts';

export type History = {
  /** The accesses to each program, by its id. */
  readonly registers: Map<string, Access[]>;
  readonly keyUses: KeyUse[];
  readonly keyEnds: Map<string, Span>;
  /** The writes whose response says that they were carried out, in the order of the responses. */
  readonly acknowledged: (Span & { readonly value: string })[];
  /** The errors of requests that were sent again, because the server may have closed the idle connection. */
  readonly lostConnections: string[];
};

export function emptyHistory(): History {
  return { registers: new Map(), keyUses: [], keyEnds: new Map(), acknowledged: [], lostConnections: [] };
}

const ORGANIZATIONS = 4;
const PROGRAMS_EACH = 3;
/** The maximum number of temporary programs in a place. The temporary and the permanent programs fit on one list page. */
const MAX_GUESTS = 10;
const LAST_GUESTS = 10;
const LIST = '/api/parent_programs';

/** The value of a deleted program. */
const GONE = 'gone';

const ASK_EVERY_MS = 200;
/** How long all clients wait after a 503, in multiples of `pauseMs`. */
const PAUSES_AFTER_503 = 10;
/** The pause between two attempts to replace a key that may have ended. */
const RETRY_MS = 50;
/** The end of a write with an unknown outcome. Such a write may take effect at any later time. */
const NEVER = Number.POSITIVE_INFINITY;

type Traffic = {
  readonly urls: readonly string[];
  readonly clients: number;
  readonly seconds: number;
  readonly seed: number;
  /** The pause of each client after a request. Default: 0. */
  readonly pauseMs?: number;
  readonly history?: History;
  readonly isEnough?: (history: History) => boolean;
};

type Held = IssuedKey & { readonly name: string };
type Place = {
  actor: Actor;
  /** The ids of programs that are never deleted. */
  readonly ids: readonly string[];
  /** The ids of temporary programs that exist at the moment. */
  guests: string[];
  /** The ids of the last temporary programs, deleted or not. */
  lastGuests: string[];
  /** Creations with an unknown outcome, by their value. */
  readonly uncertain: Map<string, Span>;
  key: Held;
  former: Held[];
  isEnding: boolean;
};

/**
 * Starts clients that each send one random request after another to any of the servers: lists, reads by id, changes, creations
 * and deletions. Now and then, a client rotates or revokes a key that other clients use, through the service in this process.
 * With the same seed, each client makes the same choices. The traffic ends after `seconds`, or later on a busy machine, when the
 * history `isEnough`.
 */
export async function sendRandomTraffic(
  db: Database,
  { urls, clients, seconds, seed, pauseMs = 0, history = emptyHistory(), isEnough = () => true }: Traffic,
): Promise<History> {
  // Uses the connections in turn, so that none is idle for long.
  const agent = new Agent({ keepAlive: true, maxSockets: clients, scheduling: 'fifo' });
  const places = await Promise.all(Array.from({ length: ORGANIZATIONS }, () => createPlace(db, history)));
  const endAt = performance.now() + seconds * 1000;
  let written = 0;
  const nextValue = () => {
    written += 1;
    return `write ${written}`;
  };

  async function send(method: string, url: string, { key, body }: { key: Held; body?: object }) {
    const sent = performance.now();
    const onLost = (error: Error) => history.lostConnections.push(error.message);
    const response = await exchange({ agent, method, url, key: key.key, body, onLost });
    const span = { sent, received: performance.now() };
    requireConformity({ method, url: new URL(url).pathname }, response);
    history.keyUses.push({ ...span, key: key.id, status: response.status });
    if (response.status === 503) pausedUntil = span.received + PAUSES_AFTER_503 * pauseMs;
    return { ...span, ...response };
  }

  async function act(place: Place, random: () => number): Promise<void> {
    const pick = <T>(list: readonly T[], otherwise: T) => list[Math.floor(random() * list.length)] ?? otherwise;
    const list = `${pick(urls, '')}${LIST}`;
    const [dice, id] = [random(), pick(place.ids, '')];
    const key = random() < 0.2 ? pick(place.former, place.key) : place.key;
    if (dice < 0.5) await readList(place, list, key);
    else if (dice < 0.7) await readOne(list, pick([id, ...place.lastGuests], id), key);
    else if (dice < 0.94) await change(list, id, key);
    else if (dice < 0.96) await create(place, list, key);
    else if (dice < 0.98) await remove(place, list, key);
    else await endKey(db, place, history, { isRotation: random() < 0.5, isOver });
    const pause = Math.max(pauseMs, pausedUntil - performance.now());
    if (pause > 0) await delay(pause);
  }

  async function readList(place: Place, list: string, key: Held): Promise<void> {
    const known = place.lastGuests;
    const { status, text, ...span } = await send('GET', list, { key });
    if (status !== 200) return;
    const rows: { id: string; description: string }[] = JSON.parse(text).data;
    for (const { id, description } of rows) {
      const creation = place.uncertain.get(description);
      if (creation !== undefined) {
        place.uncertain.delete(description);
        note(history, id, creation, 'write', description);
        place.guests = [...place.guests, id];
      }
      note(history, id, span, 'read', description);
    }
    // A program that existed before the request for the list, and is not in the list, must have been deleted.
    const missing = known.filter((guest) => rows.every(({ id }) => id !== guest));
    for (const guest of missing) note(history, guest, span, 'read', GONE);
  }

  async function readOne(list: string, id: string, key: Held): Promise<void> {
    const { status, text, ...span } = await send('GET', `${list}/${id}`, { key });
    if (status === 200) note(history, id, span, 'read', JSON.parse(text).description);
    if (status === 404) note(history, id, span, 'read', GONE);
  }

  async function change(list: string, id: string, key: Held): Promise<void> {
    const description = nextValue();
    const { status, ...span } = await send('PATCH', `${list}/${id}`, { key, body: { description } });
    noteWrite(id, { span, status, success: 200 }, description);
  }

  /** Records a write. After a 503, it is unknown whether the write was carried out. */
  function noteWrite(
    id: string,
    { span, status, success }: { span: Span; status: number; success: number },
    value: string,
  ): void {
    if (status === success) {
      note(history, id, span, 'write', value);
      if (value !== GONE) history.acknowledged.push({ ...span, value });
    } else if (status === 503) note(history, id, { ...span, received: NEVER }, 'write', value);
  }

  async function create(place: Place, list: string, key: Held): Promise<void> {
    if (place.guests.length >= MAX_GUESTS) return;
    const description = nextValue();
    const { status, text, ...span } = await send('POST', list, { key, body: { name: 'Guest', description } });
    if (status === 503) place.uncertain.set(description, { ...span, received: NEVER });
    if (status !== 201) return;
    const { id } = JSON.parse(text);
    noteWrite(id, { span, status, success: 201 }, description);
    place.guests = [...place.guests, id];
    place.lastGuests = [...place.lastGuests, id].slice(-LAST_GUESTS);
  }

  async function remove(place: Place, list: string, key: Held): Promise<void> {
    const [guest, ...others] = place.guests;
    if (guest === undefined) return;
    place.guests = others;
    const { status, ...span } = await send('DELETE', `${list}/${guest}`, { key });
    noteWrite(guest, { span, status, success: 204 }, GONE);
    if (status !== 204 && status !== 404) place.guests = [...place.guests, guest];
  }

  async function client(number: number): Promise<void> {
    const random = randomNumbers(seed * 1000 + number);
    const place = places[number % places.length];
    if (place === undefined) return;
    while (!isOver()) await act(place, random);
  }

  let pausedUntil = 0;
  let hasEnded = false;
  let askedAt = 0;
  const isOver = (): boolean => {
    const now = performance.now();
    if (hasEnded || now < endAt || now - askedAt < ASK_EVERY_MS) return hasEnded;
    askedAt = now;
    hasEnded = isEnough(history);
    return hasEnded;
  };

  try {
    await Promise.all(Array.from({ length: clients }, (_, number) => client(number)));
  } finally {
    agent.destroy();
  }
  return history;
}

async function createPlace(db: Database, history: History): Promise<Place> {
  const actor = await createActor(db, await createScope(db), 'administrator');
  const key = await newKey(db, actor);
  const ids = Array.from({ length: PROGRAMS_EACH }, () => crypto.randomUUID());
  for (const id of ids) {
    const description = `first of ${id}`;
    const sent = performance.now();
    await db.prisma.parentProgram.create({
      data: { organizationId: actor.scope.organizationId, id, name: 'Register', description },
    });
    note(history, id, { sent, received: performance.now() }, 'write', description);
  }
  return { actor, ids, guests: [], lastGuests: [], uncertain: new Map(), key, former: [], isEnding: false };
}

async function newKey(db: Database, actor: Actor): Promise<Held> {
  const request = { userId: actor.userId, name: crypto.randomUUID(), permissions: READ_WRITE, lifeDays: 30 };
  return orThrow(await issueKey(db, actor, { ...request, environment: 'live' }));
}

type Ending = { readonly isRotation: boolean; readonly isOver: () => boolean };

/** Ends the key of a place. Only one client does this at a time; the other clients continue to use the key. */
async function endKey(db: Database, place: Place, { keyEnds }: History, { isRotation, isOver }: Ending): Promise<void> {
  if (place.isEnding) return;
  place.isEnding = true;
  const { actor, key: old } = place;
  try {
    const next = isRotation ? null : await newKey(db, actor);
    const which = { keyId: old.id, userId: actor.userId };
    const sent = performance.now();
    // A key can be refused from the start of the change, before the change is acknowledged.
    keyEnds.set(old.id, { sent, received: NEVER });
    if (next === null) place.key = orThrow(await rotateKey(db, actor, { ...which, environment: 'live' }));
    else {
      orThrow(await revokeKey(db, actor, which));
      place.key = next;
    }
    keyEnds.set(old.id, { sent, received: performance.now() });
  } catch (error) {
    if (!isOutage(error)) throw error;
    // It is unknown whether the key has ended.
    await replaceActor(db, place, isOver);
  }
  place.former = [...place.former.slice(-3), old];
  place.isEnding = false;
}

/** Replaces the user, because it is unknown how many keys the previous user has, and their number is limited. */
async function replaceActor(db: Database, place: Place, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    try {
      place.actor = await createActor(db, place.actor.scope, 'administrator');
      place.key = await newKey(db, place.actor);
      return;
    } catch (error) {
      if (!isOutage(error)) throw error;
      await delay(RETRY_MS);
    }
  }
}

function note({ registers }: History, id: string, span: Span, kind: Access['kind'], value: string): void {
  const accesses = registers.get(id) ?? [];
  accesses.push({ kind, value, sent: span.sent, received: span.received });
  registers.set(id, accesses);
}

type Sending = {
  agent: Agent;
  method: string;
  url: string;
  key: string;
  body: object | undefined;
  onLost: (error: Error) => void;
};
type RawResponse = { status: number; headers: Record<string, string | undefined>; text: string };

/** Sends a request. Uses node:http, not fetch, to send thousands of requests per second and to get every header unchanged. */
function exchange(sending: Sending): Promise<RawResponse> {
  const { agent, method, url, key, body } = sending;
  const payload = body === undefined ? undefined : JSON.stringify(body);
  const headers = {
    Authorization: `Bearer ${key}`,
    ...(payload !== undefined && {
      'Content-Type': 'application/json',
      'Content-Length': String(Buffer.byteLength(payload)),
    }),
  };
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent, method, headers }, (res) => {
      let text = '';
      res.setEncoding('utf8').on('data', (chunk) => {
        text += chunk;
      });
      res.on('end', () => {
        const names = Object.entries(res.headers).map(([name, value]) => [name, [value].flat().join(', ')]);
        resolve({ status: res.statusCode ?? 0, headers: Object.fromEntries(names), text });
      });
      res.on('error', reject);
    });
    // The server may have just closed the connection because it was idle. In this case, the server has not processed the request.
    sent.on('error', (error) => {
      if (!sent.reusedSocket) return reject(error);
      sending.onLost(error);
      resolve(exchange(sending));
    });
    sent.end(payload);
  });
}
