/** Replaces all occurrences of each key by its value. Throws if the text of a configuration does not contain one of them. */
export function replaceEach(text: string, replacements: Readonly<Record<string, string>>): string {
  return Object.entries(replacements).reduce((edited, [from, to]) => {
    if (!edited.includes(from)) throw new Error(`The configuration does not contain "${from}".`);
    return edited.replaceAll(from, to);
  }, text);
}
