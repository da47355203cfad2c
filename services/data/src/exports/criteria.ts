// Which rows a full export has, in which order, and in which columns: what POST /table_data/grid
// takes besides its window, with the same meaning.
import { parseJson } from '@almanac/service-kit/api/json-body';
import { ServiceError } from '@almanac/service-kit/errors';
import { z } from 'zod';
import type { RowSelection, Sort } from '../pages/filter.ts';
import { GridReader, namesLabels, type Targets } from '../pages/grid-plan.ts';
import { type Field, fieldsOf } from '../rows/fields.ts';
import { labelOf } from '../rows/labels.ts';
import type { DeployedTable } from '../tables/table.ts';

const criteriaSchema = z.strictObject({
  filterModel: z.unknown().optional(),
  or: z.unknown().optional(),
  q: z.string().optional(),
  sortModel: z.unknown().optional(),
  columns: z.array(z.string()).optional(),
  include_lookups: z.boolean().optional(),
  change_request_id: z.int().optional(),
});
export type Criteria = z.infer<typeof criteriaSchema>;

/** `columns`: those of the file, in their order. */
export type CriteriaPlan = RowSelection & { sorts: Sort[]; columns: Field[] };

/** The criteria of a request; jobs has checked their form. */
export function readCriteria(text: string): Criteria {
  const read = criteriaSchema.safeParse(parseJson(Buffer.from(text), 'criteria'));
  if (read.success) return read.data;
  throw new ServiceError('bad_request', {
    code: 'malformed',
    message: 'criteria are not those of an export.',
    field: 'criteria',
  });
}

/** Whether criteria take the referenced tables. */
export const needTargets = (criteria: Criteria): boolean => criteria.include_lookups === true || namesLabels(criteria);

/**
 * The plan, or 422 with every problem. `system`: the columns of the system that the file has unless
 * the criteria name columns.
 */
export function planCriteria(
  table: Pick<DeployedTable, 'structure'>,
  { columns, include_lookups, ...request }: Criteria,
  targets: Targets,
  system: readonly string[],
): CriteriaPlan {
  const reader = new GridReader(table, targets);
  const selection = reader.readSelection(request);
  const sorts = reader.readSortModel(request.sortModel);
  const names = columns ? reader.readColumns(columns) : [...system, ...table.structure.columns.map(({ name }) => name)];
  if (columns?.length === 0)
    reader.problem('too_few', 'columns must name at least one column.', { field: 'columns', params: { minimum: 1 } });
  reader.refuse('validation_failed');
  const fields = [...names].map((name) => fieldsOf(table).get(name) as Field);
  const shown = include_lookups ? fields.flatMap((field) => withLabel(table, field, targets)) : fields;
  return { ...selection, sorts, columns: shown };
}

const withLabel = (table: Pick<DeployedTable, 'structure'>, field: Field, targets: Targets): Field[] => {
  const label = field.column && labelOf(table, field.column, targets);
  return label ? [field, label] : [field];
};
