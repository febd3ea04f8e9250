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

/** Runs `work` with Prisma's migration engine, a WebAssembly module from npm. `datamodel` is the content of schema.prisma. */
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
    // If the adapter throws an exception, the engine's error contains only the number of that exception.
    const id = error instanceof Error ? /^External error id#(\d+)/.exec(error.message)?.[1] : undefined;
    throw (id === undefined ? undefined : adapter.errorRegistry.consumeError(Number(id))?.error) ?? error;
  } finally {
    await pool.end();
  }
}

/** Returns an adapter for the migration engine: PrismaPg, which is made for Prisma's client, with some changes. */
function adapterFor(pool: pg.Pool): SqlMigrationAwareDriverAdapterFactory {
  const charColumns = retypeCharColumns(pool);
  const factory = new PrismaPg(pool);
  const connect = async () => {
    const adapter = await factory.connect();
    const queryAsIs = adapter.queryRaw.bind(adapter);
    const queryRaw = async (query: SqlQuery) => {
      const result = await queryAsIs(query);
      for (const column of charColumns.get(result.rows) ?? []) result.columnTypes[column] = ColumnTypeEnum.Character;
      return result;
    };
    // PrismaPg would split a script at every semicolon, even in comments and strings, and run the parts one by one. As a whole, a
    // script runs in one transaction, so a migration that fails leaves nothing behind.
    const executeScript = async (sql: string) => {
      await adapter.executeRaw({ sql, args: [], argTypes: [] });
    };
    return Object.assign(adapter, { queryRaw, executeScript });
  };
  return { provider: factory.provider, adapterName: factory.adapterName, connect, connectToShadowDb: connect };
}

/**
 * Makes the pool return the type "char" of PostgreSQL's catalog as text, because the engine needs this type and PrismaPg refuses
 * it. Returns a map from the rows of a result to the indexes of the columns of this type.
 */
function retypeCharColumns(pool: pg.Pool): WeakMap<unknown[][], number[]> {
  const charColumns = new WeakMap<unknown[][], number[]>();
  const query = pool.query.bind(pool);
  const queryArrays = async (config: pg.QueryArrayConfig) => {
    const result = await query(config);
    // A script with several statements returns an array of results, which has no `fields`.
    for (const [column, field] of (result.fields ?? []).entries()) {
      if (field.dataTypeID !== pg.types.builtins.CHAR) continue;
      field.dataTypeID = pg.types.builtins.TEXT;
      charColumns.set(result.rows, [...(charColumns.get(result.rows) ?? []), column]);
    }
    return result;
  };
  Object.assign(pool, { query: queryArrays });
  return charColumns;
}

function openPool(url: string): pg.Pool {
  // The pool has only one connection, because the engine's advisory lock belongs to a connection.
  const pool = new pg.Pool({ connectionString: url, max: 1, application_name: 'charter-migrate' });
  pool.on('error', () => undefined);
  return pool;
}

/**
 * The part of WebAssembly that is used here. TypeScript declares it only in the browser's types, which this project does not use.
 */
declare const WebAssembly: {
  instantiate(bytes: Uint8Array, imports: object): Promise<{ instance: { exports: Record<string, unknown> } }>;
};

let loaded: Promise<void> | undefined;

function load(): Promise<void> {
  loaded ??= instantiate();
  return loaded;
}

/** Loads the WebAssembly module without the package's `import ... from './x.wasm'`, which prints a warning in Node. */
async function instantiate(): Promise<void> {
  // The engine calls this function before it aborts. Without the function, the reason would be lost.
  Object.assign(globalThis, { PRISMA_WASM_PANIC_REGISTRY: { set_message: abort } });
  const dir = dirname(createRequire(import.meta.url).resolve('@prisma/schema-engine-wasm'));
  const bytes = await readFile(join(dir, 'schema_engine_bg.wasm'));
  const { instance } = await WebAssembly.instantiate(bytes, { './schema_engine_bg.js': { ...glue, ...timers() } });
  glue.__wbg_set_wasm(instance.exports);
  const start = instance.exports.__wbindgen_start;
  if (typeof start === 'function') start();
}

/**
 * Returns versions of the engine's timers that do not keep the process alive. The engine never clears the timer of its lock, and
 * this timer would delay the end of the process by 10 seconds.
 */
function timers(): Record<string, unknown> {
  const names = Object.keys(glue).filter((name) => name.startsWith('__wbg_setTimeout_'));
  const start = (callback: () => void, ms: number) => setTimeout(callback, ms).unref();
  return Object.fromEntries(names.map((name) => [name, start]));
}

function abort(message: string): never {
  throw new Error(`Prisma's migration engine aborted: ${message}`);
}
