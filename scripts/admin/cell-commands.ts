import type { Command } from 'commander';
import type { Cell } from '../../src/domain/cells.ts';
import { DomainError } from '../../src/domain/errors.ts';
import { readReleases } from '../../src/domain/release.ts';
import { type CellState, READY, stateOf } from './cell-state.ts';
import { versionWarning } from './cell-versions.ts';
import type { Context } from './context.ts';

export function addCellCommands(program: Command, { config, print, warn }: Context): void {
  program
    .command('cells')
    .description(
      'list the cells of CHARTER_CELLS with their health, version and rows; exit with 1 unless all are ready',
    )
    .action(async (_options: object, command: Command) => {
      const { cells } = config;
      if (cells.length === 0) return command.error('error: CHARTER_CELLS is not set: there are no cells');
      const states = await Promise.all(cells.map(stateOf));
      print({ cells: cells.map((cell, i) => rowOf(cell, states[i])) });
      const versions = new Set(states.flatMap(({ version }) => version ?? []));
      const warning = versionWarning(versions, readReleases());
      if (warning !== null) warn(warning);
      const ill = cells.filter((_, i) => states[i]?.health !== READY).map(({ name }) => name);
      if (ill.length > 0) throw new DomainError('unavailable', `Not all cells are ready: ${ill.join(', ')}.`);
    });
}

function rowOf({ name }: Cell, state: CellState | undefined) {
  const { organizations = null, parent_programs: programs = null, events = null } = state?.rows ?? {};
  return { cell: name, health: state?.health, version: state?.version ?? null, organizations, programs, events };
}
