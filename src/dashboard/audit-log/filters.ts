import { withoutKey } from '../../domain/keys/api-key.ts';
import { searchText } from '../../domain/name.ts';
import { isId } from '../../domain/text.ts';
import { html } from '../../html/html.ts';
import {
  findAuditedKeys,
  findAuditedUsers,
  MAX_AUDITED_KEYS,
  MAX_AUDITED_USERS,
} from '../../service/audit/audit-log.ts';
import type { AuditFilters } from '../../store/audit/audit.ts';
import { ACTIONS } from '../../store/audit/audit.ts';
import { DAYS, parseSpan, select, text, withNormalForm } from '../forms/fields.ts';
import type { Typed } from '../forms/form.ts';
import { type Problem, problemOfFields } from '../http/problem.ts';
import type { SignedInContext } from '../http/request-context.ts';
import { ACTION_WORDS } from './event-table.ts';

const MAX_CHARACTERS = 300;

/** Cuts the text to MAX_CHARACTERS, and replaces each whole key in it with the key's prefix. */
const cut = (sent: string) => withoutKey(searchText(sent, MAX_CHARACTERS));

const textField = (label: string, placeholder: string) =>
  text({
    label,
    type: 'search',
    attributes: html`placeholder="${placeholder}" autocomplete="off" spellcheck="false" maxlength="300"`,
  });

/**
 * The fields of the filters. An empty value filters nothing. `person` is part of a name or an e-mail; in links, it is a user's
 * id. `key` is part of a key's name or prefix. `from` and `to` are days such as "2026-01-31", both included.
 */
export const FILTERS = {
  action: withNormalForm(
    select({
      label: 'Event',
      options: [
        { value: '', words: 'Everything' },
        ...ACTIONS.map((action) => ({ value: action, words: ACTION_WORDS[action] })),
      ],
    }),
    cut,
  ),
  person: withNormalForm(textField('Person', 'Name or e-mail'), cut),
  key: withNormalForm(textField('API key', 'Name or prefix'), cut),
  from: withNormalForm(text({ label: 'From', type: 'date' }), cut),
  to: withNormalForm(text({ label: 'To', type: 'date' }), cut),
};

export type FilterValues = Typed<typeof FILTERS>;

/**
 * Returns the filters of the query, and a problem with a message for each wrong value; `problem` is `null` if all values are
 * valid.
 */
export async function readFilters(
  { dashboard, actor }: SignedInContext,
  { action, person, key, from, to }: FilterValues,
): Promise<{ filters: AuditFilters; problem: Problem | null }> {
  const { span, errors } = parseSpan({ from, to }, DAYS);
  const knownAction = ACTIONS.find((each) => each === action);
  if (action !== '' && knownAction === undefined) errors['action'] = ['must be one of those in the list.'];
  const users = await findIds(person, (text) => findAuditedUsers(dashboard.db, actor, text));
  if (users === null) errors['person'] = [`must be more specific: more than ${MAX_AUDITED_USERS} people match.`];
  if (users?.length === 0) errors['person'] = ['must be a part of the name or the e-mail of a user. Nobody matches.'];
  const keys = await findIds(key, (text) => findAuditedKeys(dashboard.db, actor, text));
  if (keys === null) errors['key'] = [`must be more specific: more than ${MAX_AUDITED_KEYS} keys match.`];
  if (keys?.length === 0) errors['key'] = ['must be a part of the name or the prefix of an API key. No key matches.'];
  const filters = {
    action: knownAction,
    userIds: users ?? undefined,
    keyIds: keys ?? undefined,
    from: span.from ?? undefined,
    to: span.to ?? undefined,
  };
  return { filters, problem: problemOfFields(errors) };
}

type Ids = readonly string[] | null;

/** Returns the matching ids, `undefined` if the text is empty (no filter), or `null` if too many ids match. */
async function findIds(text: string, find: (text: string) => Promise<Ids>): Promise<Ids | undefined> {
  if (text === '') return undefined;
  return isId(text) ? [text] : find(text);
}
