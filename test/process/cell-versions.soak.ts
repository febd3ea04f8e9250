import { versionWarning } from '../../scripts/admin/cell-versions.ts';

const RELEASES = ['1.10.0', '1.9.1', '1.9.0'];

test.each([
  ['no version', []],
  ['one version', ['1.9.0']],
  ['two successive releases', ['1.9.1', '1.10.0']],
])('%s may run in the cells of one address', (_, versions) => {
  expect(versionWarning(new Set(versions), RELEASES)).toBeNull();
});

test.each([
  ['with a release between them', ['1.10.0', '1.9.0'], /differ by more than one release: 1\.9\.0, 1\.10\.0\. Upgrade/],
  ['one of which is not known', ['1.10.0', '1.11.0'], /have the versions 1\.10\.0, 1\.11\.0, not all of which/],
])('two versions %s get a warning', (_, versions, warning) => {
  expect(versionWarning(new Set(versions), RELEASES)).toMatch(warning);
});
