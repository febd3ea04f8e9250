// The numbers that the source sets, read from its syntax tree, so that a test can hold decisions and texts against all of them,
// also against those that no module exports.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';

const ROOT = join(import.meta.dirname, '../../..');

export type Constant = {
  /** Such as "src/service/mail.ts". */
  readonly file: string;
  /** Such as "SMTP_TIMEOUT_MS", "LIMITS.password.pair.attempts" or, of a number that has no constant, "connectionTimeoutMillis". */
  readonly name: string;
  /** Its value as the source says it, on one line, such as "10_000" or "2 * TIMEOUT_SECONDS + 5". */
  readonly text: string;
  readonly node: ts.Expression;
};

/**
 * The constants of a folder whose values are or contain numbers, those of objects by their members, and the numbers that a
 * function gives to a member, a parameter or a variable by name. Not 0 and 1, and no HTTP statuses.
 */
export function constantsIn(folder: string): readonly Constant[] {
  return sourcesIn(folder).flatMap(constantsOf);
}

/** The value of a constant, such as 1200 for "src/traffic/database-queues.ts" and "API_WAIT_MS". Throws if there is none. */
export function constantOf(file: string, name: string): number {
  const constant = constantsOf(file).find((each) => each.name === name);
  if (constant === undefined) throw new Error(`${file} has no constant ${name} with a number.`);
  return evaluate(file, constant.node);
}

/** The value of an expression of numbers and constants, also of imported ones. */
export function evaluate(file: string, node: ts.Expression): number {
  if (ts.isNumericLiteral(node)) return Number(node.text);
  if (ts.isParenthesizedExpression(node)) return evaluate(file, node.expression);
  if (ts.isIdentifier(node)) return constantOf(...originOf(file, node.text));
  if (ts.isBinaryExpression(node)) {
    const [left, right] = [evaluate(file, node.left), evaluate(file, node.right)];
    if (node.operatorToken.kind === ts.SyntaxKind.AsteriskToken) return left * right;
    if (node.operatorToken.kind === ts.SyntaxKind.SlashToken) return left / right;
    if (node.operatorToken.kind === ts.SyntaxKind.PlusToken) return left + right;
    if (node.operatorToken.kind === ts.SyntaxKind.MinusToken) return left - right;
  }
  throw new Error(`${file}: the value of ${node.getText()} is not known without running the program.`);
}

/** The file and the name of a constant, which a file sets or imports. */
function originOf(file: string, name: string): [file: string, name: string] {
  for (const statement of sourceOf(file).statements) {
    if (!ts.isImportDeclaration(statement) || !ts.isStringLiteral(statement.moduleSpecifier)) continue;
    const bindings = statement.importClause?.namedBindings;
    if (bindings === undefined || !ts.isNamedImports(bindings)) continue;
    const imported = bindings.elements.find((each) => each.name.text === name);
    const original = (imported?.propertyName ?? imported?.name)?.text;
    if (original !== undefined) return [join(dirname(file), statement.moduleSpecifier.text), original];
  }
  return [file, name];
}

/** The syntax tree of a file of the tree, such as "src/service/mail.ts". */
export function sourceOf(file: string): ts.SourceFile {
  return ts.createSourceFile(file, readFileSync(join(ROOT, file), 'utf8'), ts.ScriptTarget.Latest, true);
}

/** The TypeScript files of a folder and the folders in it. */
export function sourcesIn(folder: string): readonly string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.d.ts'))
    .map((file) => join(folder, file));
}

const cache = new Map<string, readonly Constant[]>();

function constantsOf(file: string): readonly Constant[] {
  const found = cache.get(file) ?? read(file);
  cache.set(file, found);
  return found;
}

function read(file: string): Constant[] {
  const found: Constant[] = [];
  const add = (name: string, node: ts.Expression) => {
    found.push({ file, name, text: node.getText().replace(/\s+/g, ' '), node });
  };
  for (const statement of sourceOf(file).statements) {
    const constants = ts.isVariableStatement(statement) ? statement.declarationList.declarations : [];
    for (const { name, initializer } of constants) {
      if (initializer !== undefined && /^[A-Z[]/.test(name.getText())) addMembers(name.getText(), initializer, add);
      else if (initializer !== undefined) addNamed(initializer, add);
    }
    if (constants.length === 0) addNamed(statement, add);
  }
  return found;
}

type Add = (name: string, node: ts.Expression) => void;

function addMembers(name: string, initializer: ts.Expression, add: Add): void {
  const node = withoutTypes(initializer);
  if (ts.isObjectLiteralExpression(node)) {
    for (const member of node.properties)
      if (ts.isPropertyAssignment(member) && member.name.getText() !== 'status')
        addMembers(`${name}.${member.name.getText()}`, member.initializer, add);
  } else if (ts.isArrayLiteralExpression(node) && node.elements.some(ts.isObjectLiteralExpression)) {
    for (const [i, element] of node.elements.entries()) addMembers(`${name}.${i}`, element, add);
  } else if (ts.isFunctionLike(node)) addNamed(node, add);
  else if (hasNumber(node)) add(name, node);
}

/** Numbers within functions and classes that have a name. */
function addNamed(node: ts.Node, add: Add): void {
  const { name, value } = namedValue(node) ?? {};
  if (
    name !== undefined &&
    value !== undefined &&
    name !== 'status' &&
    isNumber(value) &&
    !/^[01]$/.test(value.getText())
  )
    add(name, value);
  node.forEachChild((child) => addNamed(child, add));
}

function namedValue(node: ts.Node): { readonly name: string; readonly value: ts.Expression | undefined } | undefined {
  if (
    ts.isPropertyAssignment(node) ||
    ts.isPropertyDeclaration(node) ||
    ts.isBindingElement(node) ||
    ts.isParameter(node)
  )
    return { name: node.name.getText(), value: node.initializer };
  if (ts.isVariableDeclaration(node)) return { name: node.name.getText(), value: node.initializer };
  // `options.timeoutMs ?? 30_000`
  if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.QuestionQuestionToken)
    return { name: node.left.getText(), value: node.right };
  return undefined;
}

/** A number, or a product or a sum of numbers. */
function isNumber(node: ts.Expression): boolean {
  if (ts.isParenthesizedExpression(node)) return isNumber(node.expression);
  if (ts.isBinaryExpression(node)) return isNumber(node.left) && isNumber(node.right);
  return ts.isNumericLiteral(node);
}

/** A number with a unit, as the settings and the intervals of PostgreSQL have it. A whole statement is none. */
const QUANTITY = /^\d+(\.\d+)? ?(ms|s|min|h|d|kB|MB|GB)?$|^interval '\d+ \w+'$/;

function hasNumber(node: ts.Node): boolean {
  if (ts.isNumericLiteral(node)) return true;
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) return QUANTITY.test(node.text);
  // A statement of SQL, or markup.
  if (ts.isFunctionLike(node) || ts.isTemplateExpression(node)) return false;
  return ts.forEachChild(node, (child) => (hasNumber(child) ? true : undefined)) ?? false;
}

function withoutTypes(node: ts.Expression): ts.Expression {
  return ts.isAsExpression(node) || ts.isSatisfiesExpression(node) ? withoutTypes(node.expression) : node;
}

/** What the strings and templates of a file say, with "·" between them and in place of computed parts. */
export function wordsIn(file: string): string {
  const words: string[] = [];
  const visit = (node: ts.Node) => {
    const isTemplatePart = ts.isTemplateHead(node) || ts.isTemplateMiddle(node) || ts.isTemplateTail(node);
    if (ts.isStringLiteralLike(node) || isTemplatePart) words.push(node.text);
    node.forEachChild(visit);
  };
  visit(sourceOf(file));
  return words.join('·');
}
