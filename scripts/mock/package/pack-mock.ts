import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { build, type Plugin } from 'esbuild';
import ts from 'typescript';
import { root } from '../../tool.ts';
import { readPageStyle } from '../assets.ts';

/** Writes exactly the files of the package `charter-mock` into the folder. It has no dependencies: they are in its bundle. */
export async function buildMockPackage(folder: string): Promise<void> {
  const code = join(folder, CODE);
  await Promise.all([mkdir(code, { recursive: true }), mkdir(join(folder, 'generated'), { recursive: true })]);
  const manifest = await readManifest();
  const page = await readPageStyle();
  const readme = await readFile(join(import.meta.dirname, 'README.md'), 'utf8');
  const declarations = await declarationsOf(['types.ts', 'charter-mock.ts']);
  await bundle(join(code, 'bundle.cjs'));
  const texts = {
    'package.json': `${JSON.stringify(manifest, null, 2)}\n`,
    'README.md': readme.replaceAll('<version>', manifest.version),
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
    copyFile(join(root, 'LICENSE'), join(folder, 'LICENSE')),
    ...['openapi.json', 'openapi.yaml'].map((name) =>
      copyFile(join(root, 'generated', name), join(folder, 'generated', name)),
    ),
    ...['openapi.d.ts', 'openapi.d.cts'].map((name) =>
      copyFile(join(root, 'generated/openapi.d.ts'), join(code, name)),
    ),
  ]);
}

/** The folder is as deep as those of `src`, because the bundled code finds `generated` from there. */
const CODE = 'dist/mock';

async function bundle(outfile: string): Promise<void> {
  const { warnings } = await build({
    entryPoints: [join(import.meta.dirname, 'bundle.ts')],
    outfile,
    absWorkingDir: root,
    bundle: true,
    minify: true,
    // Names that messages and "instanceof" in logs show.
    keepNames: true,
    platform: 'node',
    target: `node${OLDEST_NODE}`,
    // Jest loads the package with require unless it is told otherwise, and cannot require an ES module.
    format: 'cjs',
    // Optional, and not installed where only the server is.
    external: ['supports-color'],
    // The ES module of the package contains a CommonJS module, which would take the exports of the bundle for its own.
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

/** Promise.withResolvers, which came with Node 22. */
const WITH_RESOLVERS = `function withResolvers() {
  const all = {};
  all.promise = new Promise((resolve, reject) => Object.assign(all, { resolve, reject }));
  return all;
}`;

/**
 * The timers that Node has when the package is loaded, because test suites replace them with fake ones, on which the mock would
 * wait forever. They hide the global ones from all code of the bundle; Express's router takes `setImmediate` at each request.
 * Jest replaces only the global ones. The clock is not among them: the times of items follow a fake `Date`.
 */
const REAL_TIMERS = `const { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate } = { ...require('node:timers') };
const timersPromises = { ...require('node:timers/promises') };
const nextTick = process.nextTick.bind(process);
const queueMicrotask = (work) => void Promise.resolve().then(work);
const performance = { now: globalThis.performance.now.bind(globalThis.performance) };`;

/** "node:timers/promises" is mocked by some libraries, too. */
const withRealTimers: Plugin = {
  name: 'with-real-timers',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^(node:)?timers(\/promises)?$/ }, ({ path }) => ({ path, namespace: 'real-timers' }));
    onLoad({ filter: /./, namespace: 'real-timers' }, ({ path }) => ({
      contents: `module.exports = ${path.endsWith('promises') ? 'timersPromises' : '{ setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate }'};`,
    }));
  },
};

/** None of our modules does anything when it is imported, so those that only the server uses are left out, with the database. */
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

/** The declarations of files of this folder, as one file. They import each other's types, and those of the contract. */
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
    // The version of the contract inside.
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
