// The modules of AG Grid Community that the console uses. Picking them keeps the rest out of the
// build; what belongs to AG Grid Enterprise is never imported.
import {
  BigIntFilterModule,
  CellApiModule,
  CellStyleModule,
  ColumnApiModule,
  CustomEditorModule,
  CustomFilterModule,
  DateFilterModule,
  EventApiModule,
  InfiniteRowModelModule,
  LocaleModule,
  ModuleRegistry,
  NumberFilterModule,
  PinnedRowModule,
  RenderApiModule,
  RowApiModule,
  RowSelectionModule,
  RowStyleModule,
  ScrollApiModule,
  TextFilterModule,
  TooltipModule,
} from 'ag-grid-community';

/** Registers the modules; the registry ignores those that it has. */
export function registerGridModules(): void {
  ModuleRegistry.registerModules([
    BigIntFilterModule,
    CellApiModule,
    CellStyleModule,
    ColumnApiModule,
    CustomEditorModule,
    CustomFilterModule,
    DateFilterModule,
    EventApiModule,
    InfiniteRowModelModule,
    LocaleModule,
    NumberFilterModule,
    PinnedRowModule,
    RenderApiModule,
    RowApiModule,
    RowSelectionModule,
    RowStyleModule,
    ScrollApiModule,
    TextFilterModule,
    TooltipModule,
  ]);
}
