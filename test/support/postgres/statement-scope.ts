// Finds the tables in an SQL statement whose rows are not limited to one organization.

/** The name of the column with the organization, by table. Contains only tables with rows of organizations. */
export type Owners = ReadonlyMap<string, string>;

/**
 * Returns the tables that a statement reads or writes without naming the organization. A table is limited by a condition that
 * holds for all its rows and compares its organization with a parameter, or with the organization of a limited table. An insert
 * must set the organization. SQL that this parser does not understand limits nothing.
 */
export function unlimitedTables(sql: string, owners: Owners): readonly string[] {
  const nodes = treeOf(tokensOf(sql));
  const statement = isWord(nodes[0], 'declare') ? nodes.slice(indexOfWord(nodes, 'for') + 1) : nodes;
  const unlimited = new Set<string>();
  if (isQuery(statement)) judge(statement, null, { owners, unlimited });
  else for (const { text } of tokensOf(sql)) if (owners.has(text)) unlimited.add(text);
  return [...unlimited];
}

type Token = { readonly kind: 'word' | 'name' | 'parameter' | 'text' | 'sign'; readonly text: string };
type Node = Token | readonly Node[];
type Found = { readonly owners: Owners; readonly unlimited: Set<string> };

const TOKEN =
  /\s+|--.*|\/\*[\s\S]*?\*\/|e?'(?<text>(?:[^']|'')*)'|"(?<name>[^"]*)"|\$(?<parameter>\d+)|(?<word>[a-z_]\w*)|(?<sign>::|[<>=!~+\-*/%|&@#^?]+|[\d.]*\d|[\s\S])/giy;

function tokensOf(sql: string): Token[] {
  return [...sql.matchAll(TOKEN)].flatMap(({ groups = {} }): Token[] => {
    const { text, name, parameter, word, sign } = groups;
    if (name !== undefined) return [{ kind: 'name', text: name }];
    if (word !== undefined) return [{ kind: 'word', text: word.toLowerCase() }];
    if (parameter !== undefined) return [{ kind: 'parameter', text: parameter }];
    if (text !== undefined) return [{ kind: 'text', text }];
    return sign === undefined ? [] : [{ kind: 'sign', text: sign }];
  });
}

/** Turns the tokens into a tree. Each pair of parentheses and each CASE becomes a node. Casts are left out. */
function treeOf(tokens: readonly Token[]): readonly Node[] {
  const open: Node[][] = [[]];
  for (const token of tokens) {
    const isCase = isWord(token, 'case');
    const isEnd = isSign(token, ')') || (isWord(token, 'end') && isWord(open.at(-1)?.[0], 'case'));
    if (isCase || isSign(token, '(')) open.push(isCase ? [token] : []);
    else if (isEnd) open.at(-2)?.push(withoutCasts(open.pop() ?? []));
    else open.at(-1)?.push(token);
  }
  const [nodes] = open;
  if (nodes === undefined || open.length > 1) throw new Error('The parentheses of a statement do not match.');
  return withoutCasts(nodes);
}

function withoutCasts(nodes: readonly Node[]): Node[] {
  const kept: Node[] = [];
  for (let i = 0; i < nodes.length; i += 1) {
    const node = nodes[i];
    if (node === undefined) break;
    if (!isSign(node, '::')) {
      kept.push(node);
      continue;
    }
    // Skips the type of the cast, with its length and the brackets of an array.
    i += 1;
    if (/^(?:varchar|timestamptz)$/.test(textOf(nodes[i])) && isGroup(nodes[i + 1])) i += 1;
    if (isSign(nodes[i + 1], '[')) i += 2;
  }
  return kept;
}

function isGroup(node: Node | undefined): node is readonly Node[] {
  return Array.isArray(node);
}

function isQuery(node: Node | undefined): node is readonly Node[] {
  return isGroup(node) && isWord(node[0], 'with', 'select', 'insert', 'update', 'delete', 'values');
}

function isWord(node: Node | undefined, ...words: readonly string[]): boolean {
  return node !== undefined && 'kind' in node && node.kind === 'word' && words.includes(node.text);
}

function isSign(node: Node | undefined, sign: string): boolean {
  return node !== undefined && 'kind' in node && node.kind === 'sign' && node.text === sign;
}

function isParameter(node: Node | undefined): boolean {
  return node !== undefined && 'kind' in node && node.kind === 'parameter';
}

function isName(node: Node | undefined): boolean {
  return node !== undefined && 'kind' in node && (node.kind === 'name' || node.kind === 'word');
}

function textOf(node: Node | undefined): string {
  return node !== undefined && 'kind' in node ? node.text : '';
}

const isComma = (node: Node | undefined) => isSign(node, ',');

function indexOfWord(nodes: readonly Node[], word: string): number {
  return nodes.findIndex((node) => isWord(node, word));
}

/** Splits the nodes at separators. `part` has the nodes since the last separator. */
function split(nodes: readonly Node[], isSeparator: (node: Node, part: readonly Node[]) => boolean): Node[][] {
  const parts: Node[][] = [];
  let part: Node[] = [];
  for (const node of nodes) {
    if (!isSeparator(node, part)) {
      part.push(node);
      continue;
    }
    parts.push(part);
    part = [];
  }
  return [...parts, part];
}

/** What a name in FROM stands for: a table, or the rows of a query or a function. */
type Relation = {
  readonly alias: string;
  /** The column with the organization; `null` if this is not a table with rows of organizations. */
  readonly owner: string | null;
  readonly table: string;
  /** The checked query, if this is a query in FROM or WITH, otherwise `null`. */
  readonly query: Query | null;
};
/** The relations of a query. `outer` has those of the query around it. */
type Block = {
  readonly relations: Relation[];
  /** The queries in WITH, by name. */
  readonly named: Map<string, Query>;
  readonly outer: Block | null;
  readonly found: Found;
};
/** A checked query. `columns` are the expressions of its result. */
type Query = { readonly block: Block; readonly columns: readonly (readonly Node[])[] };

const RELATIONS = ['update', 'from', 'using'];
const EXPRESSIONS = ['select', 'where', 'group', 'having', 'order', 'limit', 'offset', 'returning', 'set', 'values'];
const CLAUSES = ['from', 'using', 'into', 'conflict', 'window', 'fetch', 'for', ...EXPRESSIONS];
const JOINS = ['left', 'right', 'full', 'inner', 'outer', 'cross', 'natural', 'join'];
const SETS = ['union', 'except', 'intersect'];

/** Checks a query and all queries in it. */
function judge(nodes: readonly Node[], outer: Block | null, found: Found): Query {
  const block: Block = { relations: [], named: new Map(), outer, found };
  const main = isWord(nodes[0], 'with') ? judgeNamed(nodes, block) : nodes;
  const parts = split(main, (node) => isWord(node, ...SETS));
  if (parts.length === 1) return judgePart(main, block);
  // No table counts as limited by a column of a UNION.
  for (const part of parts)
    judgePart(part.slice(isWord(part[0], 'all') ? 1 : 0), { ...block, relations: [], named: new Map(), outer: block });
  return { block, columns: [] };
}

/** Checks the queries in WITH, and returns the rest of the statement. */
function judgeNamed(nodes: readonly Node[], block: Block): readonly Node[] {
  for (let i = isWord(nodes[1], 'recursive') ? 2 : 1; ; i += 1) {
    const body = nodes.findIndex((node, at) => at > i && isQuery(node));
    const query = nodes[body];
    if (!isGroup(query)) throw new Error('A WITH has no query.');
    block.named.set(textOf(nodes[i]), judge(query, block, block.found));
    i = body + 1;
    if (!isComma(nodes[i])) return nodes.slice(i);
  }
}

function judgePart(nodes: readonly Node[], block: Block): Query {
  const [first] = nodes;
  if (nodes.length === 1 && isGroup(first)) return judge(first, block, block.found);
  const clauses = clausesOf(nodes);
  const bodiesOf = (...names: string[]) => clauses.filter(({ name }) => names.includes(name)).map(({ body }) => body);
  const conditions: Condition[] = [];
  if (isWord(first, 'insert')) judgeInsert(bodiesOf('into')[0] ?? [], block);
  for (const body of bodiesOf(...RELATIONS)) addRelations(body, block, conditions);
  conditions.push(...bodiesOf('where').map((body) => ({ nodes: body, limits: null })));
  for (const body of bodiesOf(...EXPRESSIONS)) judgeInside(body, block);
  const limited = limitedTablesOf(block, conditions);
  for (const relation of block.relations)
    if (relation.owner !== null && !limited.has(relation)) block.found.unlimited.add(relation.table);
  return { block, columns: bodiesOf('select', 'returning').flatMap((body) => split(body, isComma)) };
}

function judgeInsert(into: readonly Node[], { found }: Block): void {
  const columns = into.find(isGroup) ?? [];
  const table = textOf(into.find((node) => isName(node) && found.owners.has(textOf(node))));
  const owner = found.owners.get(table);
  if (owner !== undefined && !columns.some((node) => textOf(node) === owner)) found.unlimited.add(table);
}

/** Checks the queries in an expression, such as those in EXISTS. */
function judgeInside(nodes: readonly Node[], block: Block): void {
  for (const node of nodes) {
    if (isQuery(node)) judge(node, block, block.found);
    else if (isGroup(node)) judgeInside(node, block);
  }
}

type Clause = { readonly name: string; readonly body: Node[] };

function clausesOf(nodes: readonly Node[]): Clause[] {
  const clauses: Clause[] = [];
  nodes.forEach((node, i) => {
    const isStart = isWord(node, ...CLAUSES) && !(isWord(node, 'from') && isWord(nodes[i - 1], 'distinct'));
    // UPDATE starts a clause only at the beginning of a statement, not in FOR UPDATE and DO UPDATE.
    if (isStart || (isWord(node, 'update') && i === 0)) clauses.push({ name: textOf(node), body: [] });
    else clauses.at(-1)?.body.push(node);
  });
  return clauses;
}

/** A condition in WHERE or ON. `limits` are the relations that the condition limits, or `null` for all. */
type Condition = { readonly nodes: readonly Node[]; readonly limits: readonly Relation[] | null };

/** Adds the relations of FROM, USING or UPDATE to the block, and the conditions of their joins to `conditions`. */
function addRelations(nodes: readonly Node[], block: Block, conditions: Condition[]): void {
  let join: string[] = [];
  let part: Node[] = [];
  const end = () => {
    const on = indexOfWord(part, 'on');
    const { length } = block.relations;
    if (part.length > 0) addRelation(on === -1 ? part : part.slice(0, on), block, conditions);
    if (on !== -1) {
      const condition = part.slice(on + 1);
      judgeInside(condition, block);
      // In a left join, the condition need not hold for the rows of the left side; in a right or full join, it need not hold for
      // the rows of either side.
      const limits = join.includes('left') ? block.relations.slice(length) : null;
      if (!join.includes('right') && !join.includes('full')) conditions.push({ nodes: condition, limits });
    }
    [join, part] = [[], []];
  };
  for (const node of nodes) {
    if (isComma(node) || (isWord(node, ...JOINS) && part.length > 0)) end();
    if (isWord(node, ...JOINS)) join.push(textOf(node));
    else if (!isComma(node)) part.push(node);
  }
  end();
}

function addRelation(part: readonly Node[], block: Block, conditions: Condition[]): void {
  const [first, ...others] = part.filter((node) => !isWord(node, 'only', 'lateral', 'as'));
  if (isQuery(first)) {
    const query = judge(first, block, block.found);
    block.relations.push({ alias: textOf(others[0]), owner: null, table: '', query });
    return;
  }
  if (isGroup(first)) {
    addRelations(first, block, conditions);
    return;
  }
  const hasSchema = isSign(others[0], '.');
  const table = textOf(hasSchema ? others[1] : first);
  const rest = hasSchema ? others.slice(2) : others;
  const isFunction = isGroup(rest[0]);
  judgeInside(rest, block);
  const query = hasSchema || isFunction ? null : namedQuery(table, block);
  const owner = isFunction || query !== null ? null : (block.found.owners.get(table) ?? null);
  block.relations.push({ alias: textOf(rest.find(isName)) || table, owner, table, query });
}

function namedQuery(name: string, block: Block | null): Query | null {
  return block === null ? null : (block.named.get(name) ?? namedQuery(name, block.outer));
}

/** What an expression is: a parameter, the column with the organization of a relation, or (`null`) anything else. */
type Operand = 'parameter' | Relation | null;
/** Two operands that are equal in every row. */
type Equality = readonly [Operand, Operand];

/** Returns the tables of the block that the conditions limit. */
function limitedTablesOf({ relations, ...block }: Block, conditions: readonly Condition[]): ReadonlySet<Relation> {
  const limited = new Set<Relation>();
  // The table of an outer query counts as limited here, because it is checked with that query.
  const isLimited = (operand: Operand) =>
    operand === 'parameter' || (operand !== null && (limited.has(operand) || !relations.includes(operand)));
  const rules = conditions.flatMap(({ nodes, limits }) =>
    equalitiesIn(nodes, { relations, ...block }).flatMap(([one, other]) => [
      { operand: one, by: other, limits },
      { operand: other, by: one, limits },
    ]),
  );
  // Applies all rules repeatedly, because a table can be limited by a table that only a later rule limits.
  for (const _ of rules)
    for (const { operand, by, limits } of rules)
      if (operand !== 'parameter' && operand !== null && isLimited(by) && limits?.includes(operand) !== false)
        limited.add(operand);
  return limited;
}

/** Returns the equalities that hold in all alternatives of OR. */
function equalitiesIn(nodes: readonly Node[], block: Block): readonly Equality[] {
  const [first = [], ...others] = split(nodes, (node) => isWord(node, 'or')).map((each) => conjunctionIn(each, block));
  return first.filter(([a, b]) => others.every((each) => each.some(([c, d]) => a === c && b === d)));
}

function conjunctionIn(nodes: readonly Node[], block: Block): readonly Equality[] {
  // The first AND after BETWEEN belongs to BETWEEN.
  const isAnd = (node: Node, part: readonly Node[]) =>
    isWord(node, 'and') && (indexOfWord(part, 'between') === -1 || indexOfWord(part, 'and') !== -1);
  return split(nodes, isAnd).flatMap((part) => {
    const [only] = part;
    if (part.length === 1)
      return isGroup(only) && !isQuery(only) && !isWord(only[0], 'case') ? equalitiesIn(only, block) : [];
    const at = part.findIndex((node) => isSign(node, '=') || isWord(node, 'in'));
    if (at === -1) return [];
    const [left, right] = [part.slice(0, at), part.slice(at + 1)];
    return isWord(part[at], 'in') ? membershipIn(left, right, block) : equalitiesOf(left, right, block);
  });
}

/** Returns the equalities in `a = b` or `(a, b) = (c, d)`. */
function equalitiesOf(left: readonly Node[], right: readonly Node[], block: Block): readonly Equality[] {
  const [lefts, rights] = [rowOf(left), rowOf(right)];
  if (lefts.length !== rights.length) return [];
  return lefts.map((each, i): Equality => [operandOf(each, block), operandOf(rights[i] ?? [], block)]);
}

/** Returns the equalities in `a in ($1)`, `(a, b) in (($1, $2))` or `(a, b) in (select c, d …)`. */
function membershipIn(left: readonly Node[], [list, ...others]: readonly Node[], block: Block): readonly Equality[] {
  if (!isGroup(list) || others.length > 0) return [];
  if (!isQuery(list)) {
    const [row = [], ...rows] = split(list, isComma);
    return rows.length === 0 ? equalitiesOf(left, row, block) : [];
  }
  const query = judge(list, block, block.found);
  return rowOf(left).map(
    (each, i): Equality => [operandOf(each, block), operandOf(query.columns[i] ?? [], query.block)],
  );
}

function rowOf(nodes: readonly Node[]): readonly (readonly Node[])[] {
  const [only] = nodes;
  return nodes.length === 1 && isGroup(only) ? split(only, isComma) : [nodes];
}

function operandOf(nodes: readonly Node[], block: Block): Operand {
  const [first] = nodes;
  if (nodes.length === 1 && isGroup(first)) return isQuery(first) ? null : operandOf(first, block);
  // A comparison with NULL is never true, so NULL limits the rows like a parameter.
  if (nodes.length === 1 && (isParameter(first) || isWord(first, 'null'))) return 'parameter';
  const names = split(nodes, (node) => isSign(node, '.'));
  if (names.some((name) => name.length !== 1 || !isName(name[0]))) return null;
  const [column = '', alias] = names.map(([name]) => textOf(name)).reverse();
  return columnOf(block, alias, column);
}

/** Returns the operand for a column. Without an alias, the column must be a column of the query itself. */
function columnOf(block: Block, alias: string | undefined, column: string): Operand {
  const named = block.relations.filter((each) => alias === undefined || each.alias === alias);
  if (named.length === 0 && alias !== undefined && block.outer !== null) return columnOf(block.outer, alias, column);
  const [operand = null, ...others] = named.map((each) => organizationIn(each, column)).filter((each) => each !== null);
  return others.length === 0 ? operand : null;
}

function organizationIn(relation: Relation, column: string): Operand {
  if (relation.owner !== null || relation.query === null) return relation.owner === column ? relation : null;
  const { block, columns } = relation.query;
  const found = columns.find((each) => textOf(each.at(-1)) === column);
  if (found !== undefined) return operandOf(isWord(found.at(-2), 'as') ? found.slice(0, -2) : found, block);
  return columns.some((each) => isSign(each.at(-1), '*')) ? columnOf(block, undefined, column) : null;
}
