// The steps of a new table: the file, its columns, the deployment, the rows.
import { Trans, useLingui } from '@lingui/react/macro';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Schemas } from '../../api/client.ts';
import type { Branch } from '../../api/queries.ts';
import { useAct } from '../../api/use-act.ts';
import { readSample, type Sample } from '../../imports/sample/read-sample.ts';
import { DropArea } from '../../imports/wizard/drop-area.tsx';
import { Button } from '../../parts/button.tsx';
import { SelectField } from '../../parts/form/fields.tsx';
import { Refusal } from '../../parts/form/form.tsx';
import pageStyles from '../../parts/page.module.css';
import { EmptyState } from '../../parts/states.tsx';
import { type Domain, draftChanges } from '../definition/queries.ts';
import { ColumnsStep } from './columns-step.tsx';
import { columnsOf, emptyColumn, type NewColumn, nameOfFile } from './draft-columns.ts';
import { inferColumns } from './infer-columns.ts';
import { LiveStep } from './live-step.tsx';
import { type MadeTable, makeTable } from './make-table.ts';
import styles from './new-table.module.css';

type ReadFile = { file: File; sample: Exclude<Sample, { kind: 'hidden' }> };
type Begun = { name: string; columns: NewColumn[]; read: ReadFile | undefined };

type NewTableProps = {
  branch: Branch;
  me: Schemas['Me'];
  domains: Domain[];
  chosenDomain: number | undefined;
};

export function NewTable({ branch, me, domains, chosenDomain }: NewTableProps) {
  const { t } = useLingui();
  const offered = domains.filter(({ can }) => can?.includes('create_table'));
  const [domainId, setDomainId] = useState(
    () => (offered.find(({ id }) => id === chosenDomain) ?? offered[0] ?? domains[0])?.id ?? 0,
  );
  const [begun, setBegun] = useState<Begun>();
  const [made, setMade] = useState<MadeTable>();
  const read = useAct(
    async (file: File): Promise<Begun> => {
      const sample = await readSample(file);
      if (sample.kind === 'hidden')
        throw new Error(t`The columns of ${file.name} can’t be read here. Choose a CSV, TSV, JSON or XLSX file.`);
      const inferred = await inferColumns({ branchId: branch.id, domainId }, sample);
      return { name: nameOfFile(file.name), columns: columnsOf(inferred), read: { file, sample } };
    },
    { changes: [], onDone: setBegun },
  );
  const make = useAct(
    ({ name, columns }: { name: string; columns: NewColumn[] }) =>
      makeTable({ branchId: branch.id, domainId, name, columns }, me.abilities.branching),
    {
      changes: draftChanges,
      onDone: (table, { name, columns }) => {
        setMade(table);
        setBegun((before) => before && { ...before, name, columns });
      },
    },
  );
  const refusal = domains.find(({ id }) => id === domainId)?.can_not?.create_table;
  if (made && begun)
    return <LiveStep made={made} read={begun.read} columns={begun.columns} dateStyle={me.account.date_style} />;
  const choice = (
    <SelectField
      name="domain"
      label={<Trans>Domain</Trans>}
      options={(offered.length > 0 ? offered : domains).map(({ id, name }) => ({ id: String(id), name }))}
      defaultValue={String(domainId)}
      onChange={(id) => setDomainId(Number(id))}
    />
  );
  if (begun)
    return (
      <ColumnsStep
        name={begun.name}
        columns={begun.columns}
        fileName={begun.read?.file.name}
        domain={choice}
        error={make.error}
        isPending={make.isPending}
        onMake={(name, columns) => make.mutate({ name, columns })}
        onBack={() => {
          make.reset();
          setBegun(undefined);
        }}
      />
    );
  if (refusal !== undefined && offered.length === 0)
    return (
      <EmptyState
        title={<Trans>You may not make tables here</Trans>}
        action={
          <Link to="/tables">
            <Trans>All tables</Trans>
          </Link>
        }
      >
        {refusal}
      </EmptyState>
    );
  return (
    <div className={styles.step}>
      <div className={styles.domain}>{choice}</div>
      <Refusal error={read.error} />
      <DropArea file={read.isPending ? read.variables : undefined} onFile={(file) => read.mutate(file)} />
      {read.isPending && (
        <p role="status">
          <Trans>The columns are being guessed…</Trans>
        </p>
      )}
      <div className={pageStyles.tools}>
        <Button
          isDisabled={read.isPending}
          onPress={() => setBegun({ name: '', columns: [emptyColumn()], read: undefined })}
        >
          <Trans>Begin without a file</Trans>
        </Button>
      </div>
    </div>
  );
}
