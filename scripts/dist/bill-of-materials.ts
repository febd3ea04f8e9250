import { v5 as uuidOf } from 'uuid';
import { root, runNpm } from '../tool.ts';
import { packageOf, readManifest } from './traced.ts';

type Dependency = { readonly ref: string; readonly dependsOn: readonly string[] };

/**
 * Returns the packages of these files as CycloneDX JSON. `npm sbom` describes the packages offline, from package-lock.json. The
 * same files give the same text: it contains no time, and its serial number is derived from the other content.
 */
export async function billOfMaterials(files: readonly string[], version: string): Promise<string> {
  const folders = new Set(files.map(packageOf).filter((folder) => folder !== null));
  const packed = new Set([...folders].map((folder) => refOf(`${folder}/package.json`)));
  const { components, dependencies, ...all } = await listInstalled();
  const described = components.filter((component) => packed.delete(component['bom-ref']));
  if (packed.size > 0) throw new Error(`package-lock.json lacks ${[...packed].join(', ')}. Run "npm install".`);
  const [own, application] = [refOf('package.json'), `pkg:npm/charter@${version}`];
  const refs = new Set([own, ...described.map((component) => component['bom-ref'])]);
  const bill = {
    metadata: {
      component: { type: 'application', 'bom-ref': application, name: 'charter', version, purl: application },
    },
    components: described,
    dependencies: dependencies
      .filter(({ ref }) => refs.has(ref))
      .map(({ ref, dependsOn }) => ({
        ref: ref === own ? application : ref,
        dependsOn: dependsOn.filter((each) => refs.has(each)),
      })),
  };
  const serialNumber = `urn:uuid:${uuidOf(JSON.stringify(bill), uuidOf.URL)}`;
  return `${JSON.stringify({ ...all, serialNumber, ...bill }, null, 2)}\n`;
}

/** Returns the name and the version of a package, as npm refers to it. */
function refOf(manifest: string): string {
  const { name, version } = readManifest(manifest);
  return `${name}@${version}`;
}

type Bill = {
  readonly components: readonly { readonly 'bom-ref': string }[];
  readonly dependencies: readonly Dependency[];
};

async function listInstalled(): Promise<Bill> {
  // The option --omit=dev would also leave out packages that are both dependencies and development dependencies (npm 11.19).
  return JSON.parse(await runNpm(['sbom', '--sbom-format=cyclonedx', '--package-lock-only'], root));
}
