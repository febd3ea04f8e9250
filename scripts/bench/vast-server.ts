// Runs Charter with a contract of 1,000 operations: the existing operations, and copies of them under other paths.
import { readFile } from 'node:fs/promises';
import { handlers } from '../../src/api/handlers/index.ts';
import { createApp } from '../../src/app.ts';
import { readConfig } from '../../src/config.ts';
import { tuneGarbageCollection } from '../../src/heap.ts';
import { createLogger } from '../../src/observability/logs.ts';
import { listen } from '../../src/server.ts';
import { openDatabase } from '../../src/store/sql/database.ts';
import { KEYRING } from './data.ts';

const OPERATIONS = 1000;

tuneGarbageCollection();
const config = readConfig(process.env);
const logger = createLogger(config.logLevel);
const url = config.databaseUrl ?? '';
const db = openDatabase({ url, keyring: KEYRING, poolSize: config.databasePoolSize, onIdleError: () => undefined });
const { listener } = await createApp({
  config: { ...config, contract: await multiply() },
  db,
  observers: { logger, tracing: null },
});
await listen(listener, config);
process.once('disconnect', () => process.exit());
process.once('SIGTERM', () => process.exit());

async function multiply() {
  const text = await readFile(new URL('../../generated/openapi.json', import.meta.url), 'utf8');
  const definition = JSON.parse(text);
  const paths = Object.entries<Record<string, { operationId?: string }>>(definition.paths);
  const all: Record<string, (typeof handlers)[keyof typeof handlers]> = { ...handlers };
  for (let copy = 1; Object.keys(all).length < OPERATIONS; copy += 1) {
    for (const [path, item] of paths) {
      const twin = structuredClone(item);
      for (const operation of Object.values(twin)) {
        const original = Object.entries(handlers).find(([id]) => id === operation.operationId)?.[1];
        if (original === undefined) continue;
        operation.operationId = `${operation.operationId}${copy}`;
        all[operation.operationId] = original;
      }
      definition.paths[path.replace('/api/', `/api/copy_${copy}_`)] = twin;
    }
  }
  return { definition, handlers: { ...handlers, ...all } };
}
