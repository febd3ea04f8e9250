/** A line of openapi/guides/guides.yaml. */
export type Listed = { readonly name: string; readonly line: number; readonly group: string };

/** The guides in the text of openapi/guides/guides.yaml, in reading order, each with the group that it is listed under. */
export function guidesIn(list: string): Listed[] {
  let group = '';
  return list.split('\n').flatMap((text, i) => {
    group = /^(\w.*):$/.exec(text)?.[1] ?? group;
    const name = /^- (\S+\.md)$/.exec(text)?.[1];
    return name === undefined ? [] : [{ name, line: i + 1, group }];
  });
}
