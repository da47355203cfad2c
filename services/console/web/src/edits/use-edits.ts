// The edits of the open table: made, undone, kept in the browser, and saved.
import { useEffect, useEffectEvent, useReducer, useState } from 'react';
import type { Row, Table } from '../api/queries.ts';
import { actOnEdits, type EditState, initialEdits, type MakeEdits } from './edit-history.ts';
import type { EditMode } from './edit-mode.ts';
import { type Edits, lacks, noEdits, rebase } from './edits.ts';
import { keepEdits, readKeptEdits } from './kept-edits.ts';
import { type Problems, type Saved, saveRows, takeBack } from './save-edits.ts';

export type EditedTable = EditState & {
  /** Whether the edits are those of an earlier visit, which the person has not looked at yet. */
  isRestored: boolean;
  isSaving: boolean;
  /** Why the last save failed beside its rows. */
  failure: unknown;
  /** Whether it isn't known what has become of a part of the last save. */
  isUnanswered: boolean;
  /** Rows of refused edits as others have left them. */
  current: ReadonlyMap<number, Row>;
  /** Whether there is something to undo: an edit, or what was saved from this page. */
  canUndo: boolean;
  change: (make: MakeEdits) => void;
  undo: () => void;
  redo: () => void;
  /** Sends all edits, those with problems too. */
  save: () => void;
  discard: () => void;
  /** Puts the edit of a row on the row as it is now. */
  keepMine: (id: number) => void;
  /** They are saved elsewhere: in a change request. */
  settle: () => void;
  /** They can't be saved for these reasons, by row. */
  refuse: (problems: Problems) => void;
  /** The requests that undo takes back once no edit is left, the last one last. */
  saves: readonly string[][];
  /** Something else of this page has written rows: it is undone like a save. */
  addSave: (requestId: string) => void;
  /** It is taken back already. */
  dropSave: (requestId: string) => void;
};

type Options = {
  table: Table;
  userId: number;
  mode: EditMode;
  /** Rows of the table are written, or taken back. */
  onSaved: (saved: Saved | 'undone') => void;
};

/** The edits of a table. In the mode `direct` they are sent as they are made. */
export function useEdits({ table, userId, mode, onSaved }: Options): EditedTable {
  const tableId = table.table_definition_id;
  const [kept] = useState(() => readKeptEdits(userId, tableId));
  const [state, act] = useReducer(actOnEdits, initialEdits(kept.edits));
  const [isSaving, setIsSaving] = useState(false);
  const [failure, setFailure] = useState<unknown>();
  const [current, setCurrent] = useState<Saved['current']>(new Map());
  const [saves, setSaves] = useState<string[][]>([]);
  const [unanswered, setUnanswered] = useState(kept.unanswered);
  // A save that was asked for while another is under way; it follows when that has succeeded.
  const [isNextAsked, setIsNextAsked] = useState(false);
  const { edits, past } = state;

  // What was kept from before is sent when the person says so.
  const [isRestored, setIsRestored] = useState(edits.size > 0);
  if (isRestored && edits.size === 0) setIsRestored(false);

  useEffect(() => {
    keepEdits(userId, tableId, { edits, unanswered });
  }, [userId, tableId, edits, unanswered]);

  const send = async (sent: Edits) => {
    setIsSaving(true);
    setIsRestored(false);
    setFailure(undefined);
    const saved = await saveRows(tableId, sent, unanswered);
    setUnanswered(saved.unanswered);
    act({ type: 'answer', sent, ...saved });
    setCurrent((before) => new Map([...before, ...saved.current]));
    setFailure(saved.failure);
    if (saved.done.size > 0) {
      setSaves((before) => [...before, saved.requestIds]);
      onSaved(saved);
    }
    setIsSaving(false);
  };

  const isFree = mode === 'direct' && !isRestored && !isSaving && failure === undefined;
  const ready = isFree ? readyEdits(state, table) : noEdits;
  const sendReady = useEffectEvent(() => void send(ready));
  useEffect(() => {
    if (ready.size > 0) sendReady();
  }, [ready]);

  const saveNext = useEffectEvent(() => {
    setIsNextAsked(false);
    if (failure === undefined && edits.size > 0) void send(edits);
  });
  useEffect(() => {
    if (isNextAsked && !isSaving) saveNext();
  }, [isNextAsked, isSaving]);

  const undoSaved = async () => {
    setIsSaving(true);
    setFailure(undefined);
    try {
      for (const requestId of saves.at(-1)?.toReversed() ?? []) await takeBack(tableId, requestId);
      setSaves((before) => before.slice(0, -1));
      onSaved('undone');
    } catch (error) {
      setFailure(error);
    }
    setIsSaving(false);
  };

  return {
    ...state,
    isRestored,
    isSaving,
    failure,
    isUnanswered: unanswered !== undefined,
    current,
    canUndo: past.length > 0 || saves.length > 0,
    change: (make) => {
      setFailure(undefined);
      act({ type: 'change', make });
    },
    undo: () => (past.length > 0 ? act({ type: 'undo' }) : saves.length > 0 && !isSaving && void undoSaved()),
    redo: () => act({ type: 'redo' }),
    save: () => (isSaving ? setIsNextAsked(true) : edits.size > 0 && void send(edits)),
    discard: () => act({ type: 'change', make: () => noEdits }),
    keepMine: (id) => {
      const row = current.get(id);
      if (row) act({ type: 'change', make: (all) => rebase(all, row) });
    },
    settle: () => act({ type: 'answer', sent: edits, done: edits, records: new Map(), problems: new Map() }),
    refuse: (problems) => act({ type: 'answer', sent: edits, done: noEdits, records: new Map(), problems }),
    saves,
    addSave: (requestId) => setSaves((before) => [...before, [requestId]]),
    dropSave: (requestId) => setSaves((before) => before.filter((ids) => !ids.includes(requestId))),
  };
}

/** What can be sent as it is: without problems, and new rows once they have all that they must. */
function readyEdits({ edits, problems }: EditState, table: Table): Edits {
  const ready = [...edits].filter(([id, { kind, values }]) => {
    if (problems.has(id)) return false;
    return kind !== 'create' || !table.column_definitions.some((column) => lacks(values, column));
  });
  return ready.length === 0 ? noEdits : new Map(ready);
}
