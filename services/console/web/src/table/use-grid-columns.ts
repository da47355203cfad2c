import { useLingui } from '@lingui/react/macro';
import type { ColDef } from 'ag-grid-community';
import { useEffect, useMemo, useRef } from 'react';
import type { Filters } from '../address/view.ts';
import type { Row, Table } from '../api/queries.ts';
import { cellFormats } from '../cells/cell-text.ts';
import { habitsOf } from '../cells/typed-values.ts';
import { gridColumns } from '../grid/columns.ts';
import type { EditLook } from '../grid/editing.ts';
import { offerChoices } from '../grid/offered-choices.ts';
import { offerValues } from '../grid/offered-values.ts';
import type { RowQuery } from '../grid/rows/row-source.ts';
import { localeOf } from '../language/locale.ts';

/**
 * The columns of the grid. They stay the same while the view changes: new columns would close an
 * open filter. What a filter offers is asked with the view of that moment.
 */
export function useGridColumns(
  table: Table,
  tables: readonly Table[],
  look: EditLook,
  query: RowQuery,
  filters: Filters,
): ColDef<Row>[] {
  const { t, i18n } = useLingui();
  const shown = useRef({ query, filters, tables });
  useEffect(() => {
    shown.current = { query, filters, tables };
  }, [query, filters, tables]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the texts are those of the language.
  return useMemo(() => {
    const locale = localeOf(i18n.locale);
    const booleans = { yes: t`Yes`, no: t`No` };
    const formats = cellFormats(locale);
    const valueTexts = { blank: t`(no value)`, ...booleans };
    return gridColumns(table.column_definitions, {
      formats,
      booleans,
      changedName: t`changed`,
      requiredName: t`required`,
      setFilterTexts: {
        search: t`Search values`,
        loading: t`Loading…`,
        none: t`No values`,
        failed: t`The values did not load.`,
        more: t`There are more: search for them.`,
        reset: t`Reset`,
      },
      offer: (column, search) =>
        offerValues(shown.current.query, shown.current.filters, column, search, locale, valueTexts),
      editors: {
        look,
        habits: habitsOf(locale),
        offer: (column, search, signal) => offerChoices(column, shown.current.tables, search, booleans, signal),
        texts: { none: t`Nothing found`, failed: t`The values did not load.` },
      },
    });
  }, [table, look, i18n.locale]);
}
