// How the open table is edited: whether one may, in which way, and how its rows look with edits.
import { useQuery } from '@tanstack/react-query';
import { useLayoutEffect, useMemo, useRef } from 'react';
import { type Row, type Table, tableAccessQuery } from '../api/queries.ts';
import type { EditLook } from '../grid/editing.ts';
import { type EditMode, modesOf, useEditMode } from './edit-mode.ts';
import { isChanged, newRows, shownRow } from './edits.ts';
import type { Saved } from './save-edits.ts';
import { type EditedTable, useEdits } from './use-edits.ts';

export type Editing = {
  canEdit: boolean;
  /** Whether one may edit the rows of now, also while those of the past are shown. */
  mayEdit: boolean;
  /** Why one may not, in the server's words. */
  refusal: string | undefined;
  mode: EditMode;
  modes: readonly EditMode[];
  setMode: (mode: EditMode) => void;
  edited: EditedTable;
  /** The new rows, without their values; the same array until there are others. */
  added: Row[];
  /** Stays the same object, and always looks at the edits of now. */
  look: EditLook;
};

type Options = { table: Table; userId: number; isPast: boolean; onSaved: (saved: Saved | 'undone') => void };

export function useEditing({ table, userId, isPast, onSaved }: Options): Editing {
  const { data: access } = useQuery(tableAccessQuery(table.table_definition_id));
  const modes = useMemo(() => (access ? modesOf(access.row_policy, access.branch.is_protected) : []), [access]);
  const [mode, setMode] = useEditMode(modes);
  const edited = useEdits({ table, userId, mode, onSaved });
  const { edits, problems } = edited;
  // Until it is known one may begin: what is typed is kept, and the server judges.
  const mayEdit = access ? access.can?.includes('edit_rows') : table.load_type === 'manual';
  const canEdit = !isPast && mayEdit === true;
  const now = useRef({ edits, problems, canEdit });
  // Before the grid, whose effects come after all layout effects, draws its cells.
  useLayoutEffect(() => {
    now.current = { edits, problems, canEdit };
  }, [edits, problems, canEdit]);
  const look = useMemo<EditLook>(() => {
    const editOf = (row: Row) => now.current.edits.get(row.svc_sk);
    return {
      shown: (row) => shownRow(row, editOf(row)),
      canEdit: (row) => now.current.canEdit && editOf(row)?.kind !== 'delete',
      isChanged: (row, column) => row.svc_sk > 0 && isChanged(editOf(row), column),
      isDeleted: (row) => editOf(row)?.kind === 'delete',
      problem: (row, column) =>
        now.current.problems.get(row.svc_sk)?.find((problem) => (problem.column ?? column) === column)?.message,
    };
  }, []);
  const ids = newRows(edits)
    .map(({ svc_sk }) => svc_sk)
    .join();
  // Other rows would end the editing of a cell in them.
  const added = useMemo(() => ids.split(',').flatMap((id) => (id === '' ? [] : [newRow(Number(id))])), [ids]);
  return {
    canEdit,
    mayEdit: mayEdit === true,
    refusal: access?.can_not?.edit_rows,
    mode,
    modes,
    setMode,
    edited,
    added,
    look,
  };
}

const newRow = (svc_sk: number) => ({ svc_sk }) as Row;
