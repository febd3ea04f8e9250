import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { PrismaPg } from '@prisma/adapter-pg';
import {
  bindMigrationAwareSqlAdapterFactory,
  ColumnTypeEnum,
  type SqlMigrationAwareDriverAdapterFactory,
  type SqlQuery,
} from '@prisma/driver-adapter-utils';
import type { SchemaEngine } from '@prisma/schema-engine-wasm';
import * as glue from '@prisma/schema-engine-wasm/schema_engine_bg';
import pg from 'pg';

/**
 * Prisma's own engine for migrations, as WebAssembly: nothing to download. `datamodel` is the text of schema.prisma.
 */
export async function withSchemaEngine<T>(
  { url, datamodel }: { url: string; datamodel?: string },
  work: (engine: SchemaEngine) => Promise<T>,
): Promise<T> {
  await load();
  const pool = openPool(url);
  const datamodels: [string, string][] | undefined =
    datamodel === undefined ? undefined : [['schema.prisma', datamodel]];
  const adapter = bindMigrationAwareSqlAdapterFactory(adapterFor(pool));
  try {
    const engine = await glue.SchemaEngine.new({ datamodels }, () => undefined, adapter);
    try {
      return await work(engine);
    } finally {
      engine.free();
    }
  } catch (error) {
    // The engine knows an exception of the adapter by its number alone.
    const id = error instanceof Error ? /^External error id#(\d+)/.exec(error.message)?.[1] : undefined;
    throw (id === undefined ? undefined : adapter.errorRegistry.consumeError(Number(id))?.error) ?? error;
  } finally {
    await pool.end();
  }
}

/** PrismaPg as it is for the client, mended where it falls short of what the engine for migrations needs. */
function adapterFor(pool: pg.Pool): SqlMigrationAwareDriverAdapterFactory {
  const letters = lettersOf(pool);
  const factory = new PrismaPg(pool);
  const connect = async () => {
    const adapter = await factory.connect();
    const ask = adapter.queryRaw.bind(adapter);
    const queryRaw = async (query: SqlQuery) => {
      const result = await ask(query);
      for (const column of letters.get(result.rows) ?? []) result.columnTypes[column] = ColumnTypeEnum.Character;
      return result;
    };
    // PrismaPg cuts a script at every semicolon, in comments and strings too, and runs the pieces one by one. Sent
    // whole, PostgreSQL runs it as one transaction: a migration that fails leaves nothing behind.
    const executeScript = async (sql: string) => {
      await adapter.executeRaw({ sql, args: [], argTypes: [] });
    };
    return Object.assign(adapter, { queryRaw, executeScript });
  };
  return { provider: factory.provider, adapterName: factory.adapterName, connect, connectToShadowDb: connect };
}

const LETTER_TYPE = 18;
const TEXT_TYPE = 25;

/**
 * Makes the catalog's one-letter type "char", which the engine reads and PrismaPg refuses, pass as text. Returned is
 * what will then say, for the rows of an answer, which of their columns those were.
 */
function lettersOf(pool: pg.Pool): WeakMap<unknown[][], number[]> {
  const letters = new WeakMap<unknown[][], number[]>();
  const query = pool.query.bind(pool);
  const retyped = async (config: pg.QueryArrayConfig) => {
    const result = await query(config);
    // A script of several statements has as many results, in an array, and no fields that anybody reads.
    for (const [column, field] of (result.fields ?? []).entries()) {
      if (field.dataTypeID !== LETTER_TYPE) continue;
      field.dataTypeID = TEXT_TYPE;
      letters.set(result.rows, [...(letters.get(result.rows) ?? []), column]);
    }
    return result;
  };
  Object.assign(pool, { query: retyped });
  return letters;
}

function openPool(url: string): pg.Pool {
  // One connection, because the engine's advisory lock belongs to the connection that took it.
  const pool = new pg.Pool({ connectionString: url, max: 1, application_name: 'charter-migrate' });
  pool.on('error', () => undefined);
  return pool;
}

/**
 * What is used of it here: the compiler knows the whole only with the browser's types, which this project leaves out.
 */
declare const WebAssembly: {
  instantiate(bytes: Uint8Array, imports: object): Promise<{ instance: { exports: Record<string, unknown> } }>;
};

let loaded: Promise<void> | undefined;

function load(): Promise<void> {
  loaded ??= instantiate();
  return loaded;
}

/**
 * By hand, not by the package's `import ... from './x.wasm'`: that prints a warning in Node, and Jest has its own
 * ideas.
 */
async function instantiate(): Promise<void> {
  // What the engine calls before it aborts; without it, the abort would hide why.
  Object.assign(globalThis, { PRISMA_WASM_PANIC_REGISTRY: { set_message: abort } });
  const dir = dirname(createRequire(import.meta.url).resolve('@prisma/schema-engine-wasm'));
  const bytes = await readFile(join(dir, 'schema_engine_bg.wasm'));
  const { instance } = await WebAssembly.instantiate(bytes, { './schema_engine_bg.js': { ...glue, ...timers() } });
  glue.__wbg_set_wasm(instance.exports);
  const start = instance.exports.__wbindgen_start;
  if (typeof start === 'function') start();
}

/** The engine never clears the timer of its lock, which would keep every process that has migrated alive for 10 s. */
function timers(): Record<string, unknown> {
  const names = Object.keys(glue).filter((name) => name.startsWith('__wbg_setTimeout_'));
  const start = (act: () => void, ms: number) => setTimeout(act, ms).unref();
  return Object.fromEntries(names.map((name) => [name, start]));
}

function abort(message: string): never {
  throw new Error(`Prisma's engine for migrations has aborted: ${message}`);
}
