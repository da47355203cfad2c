// A plain model of a table with its history, in memory: every row keeps all its versions, and a
// deployment converts all of them. The real table must equal it.

export type Value = string | number | null;
export type Kind = 'string' | 'integer';
export type ModelColumn = { lineage: number; name: string; kind: Kind; length?: number; required?: true };
export type Version = {
  /** Unknown until the real table has answered it. */
  from: string | undefined;
  deleted: boolean;
  action: 'created' | 'updated' | 'deleted' | 'restored' | 'reverted';
  channel: 'api' | 'import' | 'restore' | 'revert' | 'deployment';
  values: Map<number, Value>;
};
export type ModelRow = { sk: number | undefined; versions: Version[] };
type Values = Map<number, Value>;

export const codeLineage = 1;
export const nameLineage = 2;
export const refLineage = 3;
export const targets = ['P1', 'P2'];

export class HistoryModel {
  columns: ModelColumn[] = [
    { lineage: codeLineage, name: 'code', kind: 'string', length: 5, required: true },
    { lineage: nameLineage, name: 'name', kind: 'string', length: 20, required: true },
    { lineage: refLineage, name: 'ref', kind: 'string', length: 5 },
  ];
  readonly rows: ModelRow[] = [];

  live(): ModelRow[] {
    return this.rows.filter((row) => !last(row).deleted);
  }

  /** False: refused, without a change. */
  create(values: Values): boolean {
    if (!this.allows(values, [])) return false;
    this.rows.push({ sk: undefined, versions: [version('created', 'api', values)] });
    return true;
  }

  update(row: ModelRow, changes: Values): boolean {
    const values = new Map([...last(row).values, ...changes]);
    if (!this.allows(values, [row])) return false;
    if (this.differs(row, values)) row.versions.push(version('updated', 'api', values));
    return true;
  }

  delete(rows: ModelRow[]): number {
    const live = rows.filter((row) => !last(row).deleted);
    for (const row of live) row.versions.push(version('deleted', 'api', last(row).values, true));
    return live.length;
  }

  restore(rows: ModelRow[]): number | false {
    const deleted = rows.filter((row) => last(row).deleted);
    const codes = deleted.map((row) => last(row).values.get(codeLineage));
    if (new Set(codes).size < codes.length) return false;
    if (!deleted.every((row) => this.allows(last(row).values, [row]))) return false;
    for (const row of deleted) row.versions.push(version('restored', 'restore', last(row).values));
    return deleted.length;
  }

  revert(row: ModelRow, number: number): boolean {
    const found = row.versions[number - 1] as Version;
    if (found.deleted || !this.allows(found.values, [row])) return false;
    if (last(row).deleted || this.differs(row, found.values))
      row.versions.push(version('reverted', 'revert', found.values));
    return true;
  }

  /** `deletions`: codes that the file deletes; `full`: rows that the file lacks are deleted. */
  import(lines: Values[], deletions: string[], full: boolean): { inserted: number; updated: number; deleted: number } {
    const counts = { inserted: 0, updated: 0, deleted: 0 };
    const live = new Map(this.live().map((row) => [last(row).values.get(codeLineage), row]));
    const leave = full
      ? [...live.keys()].filter((code) => !lines.some((line) => line.get(codeLineage) === code))
      : deletions;
    for (const code of leave) {
      const row = live.get(code as string);
      if (!row) continue;
      row.versions.push(version('deleted', 'import', last(row).values, true));
      counts.deleted += 1;
    }
    for (const line of lines) {
      const row = live.get(line.get(codeLineage) as string);
      if (!row) {
        this.rows.push({ sk: undefined, versions: [version('created', 'import', line)] });
        counts.inserted += 1;
      } else if (this.differs(row, line)) {
        row.versions.push(version('updated', 'import', new Map([...last(row).values, ...line])));
        counts.updated += 1;
      }
    }
    return counts;
  }

  addColumn(column: ModelColumn): void {
    this.columns.push(column);
    this.eachVersion((values) => values.set(column.lineage, null));
  }

  dropColumn(column: ModelColumn): void {
    this.columns = this.columns.filter((each) => each !== column);
    this.deploy((values) => (values.get(column.lineage) ?? null) !== null);
    this.eachVersion((values) => values.delete(column.lineage));
  }

  /**
   * False: a live row has a value that can't be cast. Values of earlier versions that can't are
   * lost.
   */
  retype(column: ModelColumn, wanted: Pick<ModelColumn, 'kind' | 'length'>): boolean {
    const cast = (value: Value): Value | undefined => {
      if (value === null || value === undefined) return null;
      if (wanted.kind === 'integer') return /^-?[0-9]{1,9}$/.test(String(value)) ? Number(value) : undefined;
      return String(value).slice(0, wanted.length ?? Number.POSITIVE_INFINITY);
    };
    const present = (row: ModelRow) => last(row).values.get(column.lineage) as Value;
    if (this.live().some((row) => cast(present(row)) === undefined)) return false;
    this.deploy((values) => cast(values.get(column.lineage) as Value) !== (values.get(column.lineage) ?? null));
    // A number that the new length can't hold has no counterpart; a text is shortened.
    this.eachVersion((values) => values.set(column.lineage, cast(values.get(column.lineage) as Value) ?? null));
    Object.assign(column, { length: undefined }, wanted);
    return true;
  }

  // Rows whose values a deployment changes get a version like any other change.
  private deploy(changes: (values: Values) => boolean): void {
    for (const row of this.live())
      if (changes(last(row).values)) row.versions.push(version('updated', 'deployment', last(row).values));
  }

  /** The rows at an instant as the API shows them, deleted ones too. */
  asOf(instant: string): Record<string, unknown>[] {
    return this.rows.flatMap((row) => {
      const number = row.versions.findLastIndex(({ from }) => (from as string) <= instant) + 1;
      return number === 0 ? [] : [this.show(row, number)];
    });
  }

  /** One version as the API shows it. */
  show(row: ModelRow, number: number): Record<string, unknown> {
    const { from, deleted, values } = row.versions[number - 1] as Version;
    return {
      svc_sk: row.sk,
      svc_created_at: row.versions[0]?.from,
      svc_updated_at: from,
      svc_is_deleted: deleted,
      svc_version: number,
      svc_updated_by: 'application:9',
      ...Object.fromEntries(this.columns.map(({ name, lineage }) => [name, values.get(lineage)])),
    };
  }

  /** Names of the columns in which a version differs from the one before. */
  changed(row: ModelRow, number: number): string[] {
    const now = row.versions[number - 1]?.values;
    const before = row.versions[number - 2]?.values;
    return this.columns
      .filter(({ lineage }) => (now?.get(lineage) ?? null) !== (before?.get(lineage) ?? null))
      .map(({ name }) => name);
  }

  /** Every instant at which something changed. */
  instants(): string[] {
    return [...new Set(this.rows.flatMap((row) => row.versions.map(({ from }) => from as string)))].sort();
  }

  private differs(row: ModelRow, values: Values): boolean {
    const now = last(row).values;
    return this.columns.some(({ lineage }) => (values.get(lineage) ?? null) !== (now.get(lineage) ?? null));
  }

  private allows(values: Values, except: ModelRow[]): boolean {
    const code = values.get(codeLineage);
    const ref = values.get(refLineage) ?? null;
    const taken = this.live().some((row) => !except.includes(row) && last(row).values.get(codeLineage) === code);
    const missing = this.columns.some(({ required, lineage }) => required && (values.get(lineage) ?? null) === null);
    return !taken && !missing && (ref === null || targets.includes(ref as string));
  }

  private eachVersion(change: (values: Values) => void): void {
    for (const row of this.rows) for (const each of row.versions) change(each.values);
  }
}

export const last = (row: ModelRow): Version => row.versions.at(-1) as Version;

// Each version has values of its own, which deployments change.
const version = (action: Version['action'], channel: Version['channel'], values: Values, deleted = false): Version => ({
  from: undefined,
  deleted,
  action,
  channel,
  values: new Map(values),
});
