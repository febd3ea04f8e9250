import { mayGovern } from '../../domain/people/role.ts';
import { type Html, type HtmlValue, html } from '../../html/html.ts';
import { type AuditListPage, listAudit } from '../../service/audit/audit-log.ts';
import { checkAddresses } from '../../service/keys/key-rules.ts';
import { getKeyWithRotations, type KeyDetails, type KeyWithRotations } from '../../service/keys/list-keys.ts';
import { MAX_STEPS } from '../../store/keys/key-lists.ts';
import { eventTable } from '../audit-log/event-table.ts';
import { type KeyUrls, keysUrlOf, keyUrl, requestsUrl, urlOf } from '../http/addresses.ts';
import { redirect, type View } from '../http/view.ts';
import { page } from '../markup/layout.ts';
import { facts, head, pager } from '../markup/parts.ts';
import { table } from '../markup/table.ts';
import { instant, permissionChip } from '../markup/words.ts';
import { actionLabel, actionsOn } from './actions.ts';
import {
  addressesFact,
  beyondRoleWords,
  createdCell,
  endWords,
  expiryFact,
  holderFact,
  keyCell,
  lastClient,
  lastUse,
  limitFact,
  stateCell,
  stateWords,
} from './cells.ts';
import { type KeyContext, keyIdOf, requireHolderKind, upToList } from './context.ts';
import { usageSection } from './usage.ts';

/** Shows a key's own page. Only administrators see the events, because the events are part of the audit log. */
export async function showKey(context: KeyContext): Promise<View> {
  const { dashboard, actor, holderId, isOwn, now, query } = context;
  const [after, before] = [query.get('after'), query.get('before')];
  const found = await getKeyWithRotations(dashboard.db, actor, { userId: holderId, keyId: keyIdOf(context), now });
  // A mail, a bookmark or a ticket may contain the key's URL from before the key was moved.
  if (found.kind === 'moved')
    return redirect(keyUrl({ id: keyIdOf(context) }, { ...context, listUrl: keysUrlOf(found.holder) }));
  const { key, holder } = found;
  requireHolderKind(context, holder);
  const asked = { keyIds: [key.id], after, before };
  const events = mayGovern(actor.role) ? await listAudit(dashboard.db, actor, asked) : null;
  const main = html`${head({
    title: key.name,
    up: upToList(context, isOwn ? undefined : `API keys of ${holder.name}`),
    lead: html`API key <code>${key.prefix}…</code>`,
    action: actions(found, context),
  })}
${key.state !== 'active' && html`<div class="notice"><p><strong>This key ${endWords(key)}.</strong> Requests that use it are refused with 401.</p></div>`}
<section class="card" aria-labelledby="about"><h2 id="about">About</h2>${about(found, context)}</section>
${usageSection({ ...found, listUrl: (filter) => urlOf(requestsUrl(context.listUrl, key.id), { ...filter, back: context.back }), delaySeconds: dashboard.keyUses.delaySeconds() })}
${rotations(found, context)}
${events !== null && eventSection(found, { events, context, isFirst: after === null && before === null })}`;
  return page(context, { title: `${key.name}, API key`, main });
}

function actions({ key, ...access }: KeyWithRotations, urls: KeyUrls): Html | false {
  const links = actionsOn(key, access).map(
    (action) =>
      html`<a class="button${action === 'revoke' && ' danger-plain'}" href="${keyUrl(key, urls, action)}">${actionLabel(action)}</a>`,
  );
  return links.length > 0 && html`<div class="actions">${links}</div>`;
}

/**
 * Returns the prefix of the key, as a link to the key's page unless the key belongs to another holder. A key that was replaced
 * before a move still belongs to its former holder.
 */
function prefixLink(key: KeyDetails, context: KeyContext): Html {
  const prefix = html`<code>${key.prefix}…</code>`;
  return key.holder.id === context.holderId ? html`<a href="${keyUrl(key, context)}">${prefix}</a>` : prefix;
}

function about({ key, holder, policy, limits, usage, earlier, later }: KeyWithRotations, context: KeyContext): Html {
  const { isOwn, listUrl, now } = context;
  const lacksList = key.state === 'active' && checkAddresses(key, policy) !== null;
  const [predecessor, successor] = [earlier.at(-1), later.at(0)];
  return facts([
    {
      name: 'Status',
      value: html`${stateWords(key, context)}${successor !== undefined && html`<span class="under">Replaced by ${prefixLink(successor, context)}</span>`}`,
    },
    { name: 'Last used', value: html`${lastUse(key, now)}${lastClient(key)}` },
    holderFact({ isOwn }, holder, html`<a href="${listUrl}">${holder.name}</a>`),
    {
      name: 'Permissions',
      value: html`<span class="chips">${key.permissions.map((each) => permissionChip(each))}</span>${beyondRoleWords(key)}`,
    },
    {
      name: 'Created',
      value: html`${instant(key.createdAt)}<span class="under">by ${key.createdBy ?? 'an operator'}${predecessor !== undefined && html`, who rotated ${prefixLink(predecessor, context)}`}</span>`,
    },
    ...(key.movedAt === null
      ? []
      : [{ name: 'Moved', value: html`${instant(key.movedAt)}<span class="under">from ${key.movedFrom}</span>` }]),
    expiryFact(key),
    addressesFact(key, { lacksList }),
    limitFact(context, { key, limits, usage }),
  ]);
}

function rotations({ key, holder, earlier, later }: KeyWithRotations, context: KeyContext): Html | false {
  const { now } = context;
  if (earlier.length === 0 && later.length === 0) return false;
  const isCut = earlier.length === MAX_STEPS || later.length === MAX_STEPS;
  return html`<section aria-labelledby="rotations"><h2 id="rotations">Rotations</h2>
<p class="quiet">Each key replaced the one above it.${isCut && ` At most ${MAX_STEPS} keys before and after this one are shown; the pages of the first and the last one lead on.`}</p>
<div class="card flush">${table({
    name: 'rotations',
    label: `Rotations of ${key.name} of ${holder.name}`,
    columns: ['Key', 'Status', 'Created', 'Last used'],
    rows: [...earlier, key, ...later].map((each) => ({
      cells: [
        each.id === key.id
          ? html`<span class="key-name">${each.name}</span><code class="prefix">${each.prefix}…</code> <span class="small">this key</span>`
          : each.holder.id === holder.id
            ? keyCell(each, context)
            : html`<span class="key-name">${each.name}</span><code class="prefix">${each.prefix}…</code><span class="under">of ${each.holder.name}</span>`,
        stateCell(each, now, { listUrl: keysUrlOf(each.holder), back: null }),
        createdCell(each),
        lastUse(each, now),
      ],
      isEnded: each.state !== 'active',
    })),
  })}</div></section>`;
}

type EventProps = { readonly events: AuditListPage; readonly context: KeyContext; readonly isFirst: boolean };

function eventSection(
  { key, earlier }: KeyWithRotations,
  { events: { events, previous, next }, context, isFirst }: EventProps,
): Html {
  const { listUrl, back } = context;
  const urlAt = (position: Readonly<Record<string, string>>) =>
    `${urlOf(`${listUrl}/${key.id}`, { back, ...position })}#events`;
  return html`<section aria-labelledby="events"><h2 id="events">Events</h2>
${events.length === 0 ? html`<p class="quiet">${isFirst ? noEvents(earlier.at(-1), context) : 'There are no more events.'}</p>` : eventTable(events)}
${pager({ isFirst, previous, next, urlAt })}</section>`;
}

/**
 * Returns the text for a key without events. A rotation is recorded as an event of the replaced key. Keys of the demonstration
 * data have no events.
 */
function noEvents(predecessor: KeyDetails | undefined, context: KeyContext): HtmlValue {
  if (predecessor === undefined) return 'No events are recorded for this key.';
  return html`Nothing was changed since this key replaced ${prefixLink(predecessor, context)}. The rotation is among the events of that key.`;
}
