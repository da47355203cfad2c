// What the operations of a table are shown from.
import type { Schemas } from '../../api/client.ts';
import type { CellFormats } from '../../cells/cell-text.ts';
import type { DiffColumns } from '../../diff/diff-columns.ts';
import type { Decisions } from '../decisions/use-decisions.ts';
import type { May } from '../operation/row-acts.ts';
import type { ChangeRequest, Comment, Operation } from '../queries.ts';
import type { OperationPages } from '../review/next-start.ts';
import type { OperationFilter, ReviewView } from '../review/review-view.ts';

export type OperationsProps = {
  request: ChangeRequest;
  table: Schemas['ChangeRequestTable'];
  view: ReviewView;
  /** The same function at every render. */
  change: (part: ReviewView, isReplaced?: boolean) => void;
  may: May;
  decisions: Decisions;
  /** Reads again what the page shows, after an act of the creator. */
  changed: () => Promise<void>;
};

export type Windows = {
  hasNextPage: boolean;
  isFetchingNextPage: boolean;
  fetchNextPage: () => Promise<{ data: OperationPages | undefined }>;
};

export type OperationListProps = OperationsProps & {
  filter: OperationFilter;
  operations: Operation[];
  /** How many the filter has found at first. */
  rowCount: number;
  windows: Windows;
  /** Undefined of a table that may not be viewed. */
  tableKey: string | undefined;
  columns: DiffColumns;
  formats: CellFormats;
  comments: Comment[];
  isNarrow: boolean;
};
