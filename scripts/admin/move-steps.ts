// What to do after a command of a move, in words.
import { commandLine } from '../../src/domain/release.ts';

const ADMIN = commandLine('admin');

export function afterExport({ id, file }: { id: string; file: string }): string {
  return (
    `Requests of the organization get 503 now. In the other installation, run ${ADMIN} import-organization --file ${file}. ` +
    `To undo the move before that, run ${ADMIN} cancel-move --id ${id} --imported-nowhere here.`
  );
}

export function afterImport({ id }: { id: string }): string {
  return (
    `This installation does not serve the organization yet. In the old one, run ${ADMIN} complete-move --id ${id} --file FILE. ` +
    `Then run ${ADMIN} activate-organization --file FILE here.`
  );
}

export function afterCompletion(file: string): string {
  return `In the new installation, run ${ADMIN} activate-organization --file ${file}. It then serves the organization.`;
}

export function afterActivation({ id, name, isCell }: { id: string; name: string; isCell: boolean }): string {
  const send = isCell
    ? `Run ${ADMIN} moved-keys --file moved-keys.map here, and reload HAProxy with that file.`
    : 'Send the requests of the organization to this installation.';
  return `${send} Then, in the old installation, run ${ADMIN} delete-organization --id ${id} --name ${JSON.stringify(name)}.`;
}
