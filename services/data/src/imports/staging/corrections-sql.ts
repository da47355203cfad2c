// Rows of a staged file that people have corrected: their cells replace those of the file before
// anything is checked. Pure.
import { stagedColumn } from '../../sql/identifiers.ts';
import { type Statement, Values } from '../../sql/statement.ts';
import type { LoadOptions } from '../plan/load-options.ts';

/**
 * Replaces the corrected cells. The problems that came with them, or with their row as a whole, are
 * removed; those of other cells stay.
 */
export function correctRowsSql(
  name: string,
  { corrections, fileColumns, numbered }: Pick<LoadOptions, 'corrections' | 'fileColumns' | 'numbered'>,
): Statement {
  const { list, bind } = new Values();
  const rows = corrections.map(({ row, cells }) => ({
    row,
    cells: Object.fromEntries(cells.map(({ position, value }) => [position, value])),
    columns: ['', ...cells.map(({ column }) => column)],
  }));
  const sets = fileColumns.flatMap((_, position) =>
    corrections.some(({ cells }) => cells.some((cell) => cell.position === position)) ? [correctedSql(position)] : [],
  );
  const left =
    `(select jsonb_agg(p.value order by p.n)::text from jsonb_array_elements(s.svc_problems::jsonb) with ordinality p(value, n)` +
    ` where not c.columns ? (p.value->>'column'))`;
  if (numbered) sets.push(`svc_problems = ${left}`);
  const given = `jsonb_to_recordset(${bind(JSON.stringify(rows), 'jsonb')}) c(row bigint, cells jsonb, columns jsonb)`;
  return {
    text: `update ${name} s set ${sets.join(', ')} from ${given} where s.svc_row = c.row`,
    values: list,
  };
}

const correctedSql = (position: number) => {
  const column = stagedColumn(position);
  return `${column} = case when c.cells ? '${position}' then c.cells->>'${position}' else s.${column} end`;
};
