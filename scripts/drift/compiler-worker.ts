// The type check of a folder, kept warm: what has not changed since the last time is neither read nor checked again.
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
const host = rememberingHost();
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

/** By text, not by time: a file that is put back may get the time that it had before. Packages do not change. */
function rememberingHost(): ts.CompilerHost {
  const incremental = ts.createIncrementalCompilerHost(options);
  const known = new Map<string, { text: string; file: ts.SourceFile }>();
  return {
    ...incremental,
    getSourceFile(name, ...rest) {
      const before = known.get(name);
      if (before !== undefined && name.includes('/node_modules/')) return before.file;
      const text = ts.sys.readFile(name);
      if (before !== undefined && before.text === text) return before.file;
      const file = incremental.getSourceFile(name, ...rest);
      if (file !== undefined && text !== undefined) known.set(name, { text, file });
      return file;
    },
  };
}
