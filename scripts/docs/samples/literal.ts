const NAME = /^[A-Za-z_$][\w$]*$/;
const WIDEST = 60;

/** A JavaScript literal, on one line if it is short. */
export function literal(value: unknown, indent = ''): string {
  if (typeof value === 'string')
    return `'${JSON.stringify(value).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const within = `${indent}  `;
  const members = Array.isArray(value)
    ? value.map((item) => literal(item, within))
    : Object.entries(value).map(
        ([name, member]) => `${NAME.test(name) ? name : literal(name)}: ${literal(member, within)}`,
      );
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{ ', ' }'];
  const short = `${open}${members.join(', ')}${close}`;
  if (members.length === 0) return short.replaceAll(' ', '');
  if (short.length + indent.length <= WIDEST && !short.includes('\n')) return short;
  return `${open.trim()}\n${members.map((member) => `${within}${member},\n`).join('')}${indent}${close.trim()}`;
}

export function isEmpty(value: object): boolean {
  return Object.keys(value).length === 0;
}

/** Joins the lines; null stands for no line. */
export function lines(...parts: readonly (string | readonly string[] | null)[]): string {
  return parts
    .flat()
    .filter((line) => line !== null)
    .join('\n');
}
