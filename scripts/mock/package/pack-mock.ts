import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { build, type Plugin } from 'esbuild';
import ts from 'typescript';
import { describePackage } from '../../client/package-files.ts';
import { root } from '../../tool.ts';
import { readPageStyle } from '../assets.ts';

/**
 * Writes exactly the files of the package `charter-mock` into the folder. The package has no dependencies, because its bundle
 * contains them.
 */
export async function buildMockPackage(folder: string): Promise<void> {
  const code = join(folder, CODE);
  await Promise.all([mkdir(code, { recursive: true }), mkdir(join(folder, 'generated'), { recursive: true })]);
  const manifest = await readManifest();
  const page = await readPageStyle();
  const declarations = await declarationsOf(['types.ts', 'charter-mock.ts']);
  await bundle(join(code, 'bundle.cjs'));
  const texts = {
    [`${CODE}/page.json`]: JSON.stringify(page),
    [`${CODE}/charter-mock.js`]: "import mock from './bundle.cjs';\n\nexport const { MockError, startMock } = mock;\n",
    [`${CODE}/charter-mock.cjs`]:
      "const { MockError, startMock } = require('./bundle.cjs');\n\nmodule.exports = { MockError, startMock };\n",
    [`${CODE}/cli.js`]: "#!/usr/bin/env node\nimport mock from './bundle.cjs';\n\nawait mock.runCommand();\n",
    [`${CODE}/charter-mock.d.ts`]: declarations,
    [`${CODE}/charter-mock.d.cts`]: declarations.replace('openapi.js', 'openapi.cjs'),
  };
  await Promise.all([
    ...Object.entries(texts).map(([name, text]) => writeFile(join(folder, name), text)),
    describePackage(folder, { manifest, readme: 'scripts/mock/package/README.md' }),
    ...['openapi.json', 'openapi.yaml'].map((name) =>
      copyFile(join(root, 'generated', name), join(folder, 'generated', name)),
    ),
    ...['openapi.d.ts', 'openapi.d.cts'].map((name) =>
      copyFile(join(root, 'generated/openapi.d.ts'), join(code, name)),
    ),
  ]);
}

/** The folder of the bundle is as deep as the folders in `src`, because the bundled code finds `generated` by a relative path. */
const CODE = 'dist/mock';

async function bundle(outfile: string): Promise<void> {
  const { warnings } = await build({
    entryPoints: [join(import.meta.dirname, 'bundle.ts')],
    outfile,
    absWorkingDir: root,
    bundle: true,
    minify: true,
    // Keeps the names of classes, which messages and logs show.
    keepNames: true,
    platform: 'node',
    target: `node${OLDEST_NODE}`,
    // By default, Jest loads the package with its own require(), which cannot load an ES module.
    format: 'cjs',
    // An optional dependency of a bundled package. It is not always installed.
    external: ['supports-color'],
    // json-schema-faker's ES module contains a CommonJS module, which would overwrite the exports of the bundle.
    alias: { 'json-schema-faker': createRequire(import.meta.url).resolve('json-schema-faker') },
    define: {
      'import.meta.url': 'MODULE_URL',
      'import.meta.dirname': '__dirname',
      'Promise.withResolvers': 'withResolvers',
      'process.nextTick': 'nextTick',
    },
    banner: {
      js: `const MODULE_URL = require('node:url').pathToFileURL(__filename).href;\n${WITH_RESOLVERS}\n${REAL_TIMERS}`,
    },
    legalComments: 'linked',
    plugins: [withoutSideEffects, withRealTimers],
    logLevel: 'silent',
  });
  if (warnings.length > 0)
    throw new Error(`The mock cannot be bundled:\n${warnings.map(({ text }) => text).join('\n')}`);
}

const OLDEST_NODE = 20;

/** A replacement for Promise.withResolvers, which Node has only since version 22. */
const WITH_RESOLVERS = `function withResolvers() {
  const all = {};
  all.promise = new Promise((resolve, reject) => Object.assign(all, { resolve, reject }));
  return all;
}`;

/**
 * Node's timers as they are when the package is loaded. A test suite may later replace the timers with fake timers, which would
 * make the mock wait forever. These names shadow the global timers in the whole bundle, including Express, which calls
 * `setImmediate` for each request. `Date` is not replaced, so that the times of items follow a fake clock.
 */
const REAL_TIMERS = `const { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate } = { ...require('node:timers') };
const timersPromises = { ...require('node:timers/promises') };
const nextTick = process.nextTick.bind(process);
const queueMicrotask = (work) => void Promise.resolve().then(work);
const performance = { now: globalThis.performance.now.bind(globalThis.performance) };`;

/** Replaces the imports of timers in the bundle, because some test libraries also replace "node:timers/promises". */
const withRealTimers: Plugin = {
  name: 'with-real-timers',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^(node:)?timers(\/promises)?$/ }, ({ path }) => ({ path, namespace: 'real-timers' }));
    onLoad({ filter: /./, namespace: 'real-timers' }, ({ path }) => ({
      contents: `module.exports = ${path.endsWith('promises') ? 'timersPromises' : '{ setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate }'};`,
    }));
  },
};

/**
 * Marks our own modules as free of side effects, so that the bundle leaves out modules that only the server uses, such as those
 * for the database.
 */
const withoutSideEffects: Plugin = {
  name: 'without-side-effects',
  setup({ onResolve, resolve }) {
    onResolve({ filter: /^\./ }, async ({ path, ...options }) => {
      if (options.pluginData === RESOLVING || options.resolveDir.includes('node_modules')) return undefined;
      return { ...(await resolve(path, { ...options, pluginData: RESOLVING })), sideEffects: false };
    });
  },
};

const RESOLVING = Symbol();

/**
 * Returns the type declarations of these files as one file. The files import only each other's types and those of the contract.
 */
async function declarationsOf(names: readonly string[]): Promise<string> {
  const texts = await Promise.all(
    names.map(async (fileName) => {
      const { outputText, diagnostics = [] } = ts.transpileDeclaration(
        await readFile(join(import.meta.dirname, fileName), 'utf8'),
        {
          fileName,
          reportDiagnostics: true,
          compilerOptions: { isolatedDeclarations: true, declaration: true, newLine: ts.NewLineKind.LineFeed },
        },
      );
      const [problem] = diagnostics;
      if (problem !== undefined) throw new Error(ts.flattenDiagnosticMessageText(problem.messageText, '\n'));
      return outputText.replaceAll(/^.* from '\.\/types\.ts';\n/gm, '');
    }),
  );
  return texts.join('').replace('../../../generated/openapi.d.ts', './openapi.js');
}

async function readManifest() {
  const { license } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  const { info } = JSON.parse(await readFile(join(root, 'generated/openapi.json'), 'utf8'));
  const conditions = (module: string, types: string) => ({
    types: `./${CODE}/${types}`,
    default: `./${CODE}/${module}`,
  });
  return {
    name: 'charter-mock',
    // The version of the contract in the package.
    version: info.version,
    description: "A mock of Charter's API for test suites",
    license,
    type: 'module',
    bin: { 'charter-mock': `./${CODE}/cli.js` },
    exports: {
      '.': {
        import: conditions('charter-mock.js', 'charter-mock.d.ts'),
        require: conditions('charter-mock.cjs', 'charter-mock.d.cts'),
      },
    },
    engines: { node: `>=${OLDEST_NODE}` },
  };
}
