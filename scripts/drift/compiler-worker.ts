// Checks the types of a folder on request, incrementally: it parses and checks only what changed since the last request.
import { join } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import ts from 'typescript';

const folder = String(workerData);
const format: ts.FormatDiagnosticsHost = {
  getCanonicalFileName: (name) => name,
  getCurrentDirectory: () => folder,
  getNewLine: () => '\n',
};
const { config } = ts.readConfigFile(join(folder, 'tsconfig.json'), ts.sys.readFile);
const { fileNames, options } = ts.parseJsonConfigFileContent(config, ts.sys, folder);
const host = cachingHost();
let builder: ts.SemanticDiagnosticsBuilderProgram | undefined;

parentPort?.on('message', () => {
  builder = ts.createSemanticDiagnosticsBuilderProgram(fileNames, options, host, builder);
  const diagnostics = [
    ...builder.getConfigFileParsingDiagnostics(),
    ...builder.getOptionsDiagnostics(),
    ...builder.getGlobalDiagnostics(),
    ...builder.getSyntacticDiagnostics(),
    ...builder.getSemanticDiagnostics(),
  ];
  parentPort?.postMessage(ts.formatDiagnostics(diagnostics, format));
});

/**
 * Caches source files by their text, not by their modification time, which may be the same after a file is restored. Assumes
 * that packages do not change.
 */
function cachingHost(): ts.CompilerHost {
  const incremental = ts.createIncrementalCompilerHost(options);
  const cache = new Map<string, { text: string; file: ts.SourceFile }>();
  return {
    ...incremental,
    getSourceFile(name, ...rest) {
      const cached = cache.get(name);
      if (cached !== undefined && name.includes('/node_modules/')) return cached.file;
      const text = ts.sys.readFile(name);
      if (cached !== undefined && cached.text === text) return cached.file;
      const file = incremental.getSourceFile(name, ...rest);
      if (file !== undefined && text !== undefined) cache.set(name, { text, file });
      return file;
    },
  };
}
