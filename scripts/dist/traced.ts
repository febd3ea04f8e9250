import { execFile } from 'node:child_process';
import { readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { root } from '../tool.ts';

export type Trace = {
  readonly files: readonly string[];
  /** Imports whose target does not exist. */
  readonly missing: readonly { readonly file: string; readonly specifier: string }[];
  /** Imports whose specifiers are computed at run time. */
  readonly computed: readonly { readonly file: string; readonly code: string }[];
};

const MODULES = realpathSync(join(root, 'node_modules'));

type Judged = { readonly in: string; readonly what: RegExp; readonly because: string };

/** Imports whose target may be missing, by the start of the importing file's path. */
const MISSING: readonly Judged[] = [
  {
    in: 'node_modules/@node-rs/argon2/',
    what: /^(\.\/argon2\.[\w-]+\.(node|cjs)|@node-rs\/argon2-[\w-]+(\/package\.json)?)$/,
    because: 'the binaries of other platforms are not installed',
  },
  { in: 'node_modules/pg/', what: /^(pg-native|pg-cloudflare)$/, because: 'they are optional' },
];

/** Computed imports that need no file in the artifact. */
const COMPUTED: readonly Judged[] = [
  {
    in: 'node_modules/@apidevtools/json-schema-ref-parser/',
    what: /ModuleName$/,
    because: 'they are modules of Node',
  },
  {
    in: 'node_modules/@node-rs/argon2/index.js',
    what: /NAPI_RS_NATIVE_LIBRARY_PATH|specifier|localArtifacts/,
    because: 'the package of this platform is also named as it is',
  },
  {
    in: 'node_modules/@redocly/cli/',
    what: /./,
    because: 'the workflows need no plug-ins, themes and generators of a configuration',
  },
  { in: 'node_modules/express/lib/view.js', what: /^mod$/, because: 'the server uses no template engine' },
  {
    in: 'node_modules/rate-limiter-flexible/lib/RateLimiterDrizzle',
    what: /./,
    because: 'the server limits sign-ins with pg',
  },
];

/**
 * Returns the files that the programs can load, as paths relative to the root. Throws if an import cannot be resolved and is not
 * in the lists above. Otherwise an artifact might lack a file.
 */
export async function filesLoadedBy(entries: readonly string[]): Promise<string[]> {
  const parameters = [
    '--disable-warning=ExperimentalWarning',
    '--experimental-import-meta-resolve',
    join(import.meta.dirname, 'trace.ts'),
    ...entries.map((entry) => realpathSync(join(root, entry))),
  ];
  const { stdout } = await promisify(execFile)(process.execPath, parameters, { maxBuffer: 64 * 1024 * 1024 });
  const found: Trace = JSON.parse(stdout);
  const missing = found.missing.map(({ file, specifier }) => ({ file: pathOf(file), what: specifier }));
  const computed = found.computed.map(({ file, code }) => ({ file: pathOf(file), what: code }));
  const unknown = [
    ...missing.filter((each) => !isJudged(each, MISSING)),
    ...computed.filter((each) => !isJudged(each, COMPUTED)),
  ];
  if (unknown.length > 0) {
    const lines = unknown.map(({ file, what }) => `  ${file}: ${what}`).join('\n');
    throw new Error(
      `These files load what cannot be followed:\n${lines}\nIf it needs no file, list it in scripts/dist/traced.ts.`,
    );
  }
  return found.files.map(pathOf);
}

function isJudged({ file, what }: { file: string; what: string }, judged: readonly Judged[]): boolean {
  return judged.some((each) => file.startsWith(each.in) && each.what.test(what));
}

/** Returns the path relative to the root. If node_modules is a symbolic link, the traced paths are in the link's target. */
function pathOf(file: string): string {
  for (const [folder, name] of [
    [MODULES, 'node_modules'],
    [realpathSync(root), ''],
  ] as const)
    if (file.startsWith(`${folder}/`)) return join(name, file.slice(folder.length + 1));
  throw new Error(`${file} is not in the checkout.`);
}

/** Returns the folder of the file's package, such as node_modules/@prisma/client; `null` for our own files. */
export function packageOf(file: string): string | null {
  return /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(file)?.[0] ?? null;
}

/** Returns the content of a JSON file such as package.json. The path is relative to the root of the checkout. */
export function readManifest(path: string): Readonly<Record<string, unknown>> {
  return JSON.parse(readFileSync(join(root, path), 'utf8'));
}
