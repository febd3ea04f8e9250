/** A POST form as a browser without JavaScript would send it: its fields in order, without unchecked boxes. */
export type PageForm = { readonly action: string; readonly fields: readonly (readonly [string, string])[] };

export function formsOf(markup: string): PageForm[] {
  return [...markup.matchAll(/<form ([^>]*)>([\s\S]*?)<\/form>/g)].flatMap(([, head = '', content = '']) => {
    const attributes = attributesOf(head);
    return attributes.get('method') === 'post'
      ? [{ action: attributes.get('action') ?? '', fields: fieldsOf(content) }]
      : [];
  });
}

function fieldsOf(content: string): [string, string][] {
  const controls = content.matchAll(/<input ([^>]*)>|<select ([^>]*)>([\s\S]*?)<\/select>/g);
  return [...controls].flatMap(([, input, select, options = '']): [string, string][] => {
    const attributes = attributesOf(input ?? select ?? '');
    const name = attributes.get('name');
    if (name === undefined || (attributes.get('type') === 'checkbox' && !attributes.has('checked'))) return [];
    return [[name, select === undefined ? (attributes.get('value') ?? '') : choiceOf(options)]];
  });
}

function choiceOf(options: string): string {
  const all = [...options.matchAll(/<option ([^>]*)>/g)].map(([, head = '']) => attributesOf(head));
  return (all.find((each) => each.has('selected')) ?? all[0])?.get('value') ?? '';
}

function attributesOf(head: string): Map<string, string> {
  const found = head.matchAll(/([\w-]+)(?:="([^"]*)")?/g);
  return new Map([...found].map(([, name = '', value = '']) => [name, textOf(value)]));
}

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };

export function textOf(text: string): string {
  return text.replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => ENTITIES[name] ?? '');
}
