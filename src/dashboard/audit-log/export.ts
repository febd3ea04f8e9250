import { exportAudit } from '../../service/audit/audit-log.ts';
import type { AuditRecord } from '../../store/audit/audit.ts';
import { typedOf } from '../forms/form.ts';
import type { SignedInContext } from '../http/request-context.ts';
import type { View } from '../http/view.ts';
import { FILTERS, readFilters } from './filters.ts';
import { refusedFilters } from './page.ts';

export async function downloadAuditLog(context: SignedInContext): Promise<View> {
  const { actor, now, dashboard, query } = context;
  const values = typedOf(FILTERS, query);
  const { filters, problem } = await readFilters(context, values);
  if (problem !== null) return refusedFilters(context, { values, problem, isExport: true });
  const fileName = `charter-audit-log-${now.toISOString().slice(0, 10)}.csv`;
  return { kind: 'download', fileName, lines: csvLines(inTurns(exportAudit(dashboard.db, actor, filters), context)) };
}

const COLUMNS = {
  time: ({ at }) => at.toISOString(),
  action: ({ action }) => action,
  by_name: ({ actorName }) => actorName,
  by_email: ({ actorEmail }) => actorEmail,
  user_name: ({ targetName }) => targetName,
  user_email: ({ targetEmail }) => targetEmail,
  key_id: ({ keyId }) => keyId,
  key_name: ({ keyName }) => keyName,
  key_prefix: ({ keyPrefix }) => keyPrefix,
  detail: ({ detail }) =>
    Object.entries(detail)
      .map(([name, text]) => `${name}: ${text}`)
      .join('; '),
  ip: ({ ip }) => ip,
  user_agent: ({ userAgent }) => userAgent,
  request_id: ({ requestId }) => requestId,
  id: ({ id }) => id,
} satisfies Record<string, (event: AuditRecord) => string | null>;

/** Reads each page in a separate turn, so that a client that reads slowly does not keep others waiting. */
async function* inTurns<T>(pages: AsyncIterable<T>, { inTurn }: SignedInContext): AsyncGenerator<T> {
  const rest = pages[Symbol.asyncIterator]();
  const next = () => inTurn(() => rest.next());
  for (let page = await next(); page.done !== true; page = await next()) yield page.value;
}

async function* csvLines(pages: AsyncIterable<readonly AuditRecord[]>): AsyncGenerator<string> {
  yield BYTE_ORDER_MARK + csvLine(Object.keys(COLUMNS));
  for await (const events of pages) {
    yield events.map((event) => csvLine(Object.values(COLUMNS).map((cell) => cell(event) ?? ''))).join('');
  }
}

/**
 * Returns one line of CSV (RFC 4180, section 2). Puts an apostrophe in front of text that a spreadsheet would evaluate as a
 * formula. The attack: a user is named "=HYPERLINK(...)", and the formula runs for the person who opens the file.
 */
export function csvLine(cells: readonly string[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

/** Some spreadsheets read UTF-8 as windows-1252 unless the file begins with a byte order mark. */
const BYTE_ORDER_MARK = '\uFEFF';

/**
 * The start of a formula. In regions where the comma is the decimal separator, spreadsheets also begin a cell after a semicolon.
 */
const FORMULA = /(^|[;\t\r\n])(?=[\s\p{C}]*[=+\-@＝＋－＠])/gu;

/** Some programs treat a control character, such as Ctrl+Z, as the end of the file. */
const CONTROL_CHARACTER = /(?![\t\r\n])\p{Cc}/gu;

function csvCell(text: string): string {
  const harmless = text.replaceAll(FORMULA, "$1'").replaceAll(CONTROL_CHARACTER, '\uFFFD');
  return /[",;\t\r\n']/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
