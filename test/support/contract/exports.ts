import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

export type ExportedFunction = {
  readonly file: string;
  readonly name: string;
  /** The parameter types as written in the source. */
  readonly parameters: readonly string[];
};

/**
 * Every function that the files of a folder export, as a declaration or as a constant, read by the compiler's parser.
 */
export function exportedFunctions(folder: string): ExportedFunction[] {
  const root = join(import.meta.dirname, '../../..', folder);
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => functionsOf(file, readFileSync(join(root, file), 'utf8')));
}

function functionsOf(file: string, text: string): ExportedFunction[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.ESNext, true);
  return source.statements.filter(isExported).flatMap((statement) => {
    if (ts.isFunctionDeclaration(statement)) return [describe(file, statement.name?.text ?? '', statement)];
    if (!ts.isVariableStatement(statement)) return [];
    return statement.declarationList.declarations.flatMap(({ name, initializer }) =>
      initializer !== undefined && (ts.isArrowFunction(initializer) || ts.isFunctionExpression(initializer))
        ? [describe(file, name.getText(), initializer)]
        : [],
    );
  });
}

function isExported(statement: ts.Statement): boolean {
  const modifiers = ts.canHaveModifiers(statement) ? (ts.getModifiers(statement) ?? []) : [];
  return modifiers.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);
}

function describe(file: string, name: string, { parameters }: ts.SignatureDeclaration): ExportedFunction {
  return { file, name, parameters: parameters.map(({ type }) => type?.getText() ?? '') };
}
