// How the tables of a branch differ from those of its parent.
import { Plural, Trans } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Table2 } from 'lucide-react';
import { useState } from 'react';
import { type Definition, definitionsQuery, tablesQuery } from '../../api/queries.ts';
import { type ComparedTable, compareTables } from '../../compare/structure/structure-diff.ts';
import { useStructureWord } from '../../compare/structure/use-structure-word.ts';
import { Button } from '../../parts/button.tsx';
import pageStyles from '../../parts/page.module.css';
import { EmptyState, ErrorState, Skeleton } from '../../parts/states.tsx';
import { type BranchDetails, type DivergedTable, divergenceQuery } from '../branch-query.ts';
import { CopyTablesDialog } from '../dialogs/copy-tables-dialog.tsx';
import { BranchDivergence, TableDivergence } from '../divergence.tsx';

type DifferencesProps = { branch: BranchDetails; parent: NonNullable<BranchDetails['parent']> };

export function Differences({ branch, parent }: DifferencesProps) {
  const onParent = useQuery(tablesQuery(parent.id));
  const onBranch = useQuery(tablesQuery(branch.id));
  const defined = useQuery(definitionsQuery(branch.id));
  const onParentDefined = useQuery(definitionsQuery(parent.id));
  const [isCopying, setIsCopying] = useState(false);
  const failed = [onParent, onBranch, defined].find(({ error }) => error);
  const own = defined.data?.map(({ key }) => key);
  const others = onParentDefined.data?.filter(({ key }) => own && !own.includes(key)) ?? [];
  return (
    <section className={pageStyles.section} aria-labelledby="differences-title">
      <div className={pageStyles.sectionHead}>
        <div>
          <h2 id="differences-title">
            <Trans>Compared with {parent.name}</Trans>
          </h2>
          <p className={pageStyles.quiet}>
            <BranchDivergence branch={branch} parent={parent} />
          </p>
        </div>
        {others.length > 0 && branch.can?.includes('create_table') && (
          <Button onPress={() => setIsCopying(true)}>
            <Trans>Copy tables…</Trans>
          </Button>
        )}
      </div>
      {failed ? (
        <ErrorState error={failed.error} onRetry={() => void failed.refetch()} />
      ) : onParent.data && onBranch.data && defined.data ? (
        <Tables
          branch={branch}
          parent={parent}
          compared={compareTables(onParent.data, onBranch.data)}
          definitions={defined.data}
        />
      ) : (
        <Skeleton lines={4} />
      )}
      {isCopying && (
        <CopyTablesDialog
          branch={branch}
          definitions={others}
          deployed={onParent.data ?? []}
          onClose={() => setIsCopying(false)}
        />
      )}
    </section>
  );
}

type TablesProps = {
  branch: DifferencesProps['branch'];
  parent: DifferencesProps['parent'];
  compared: ComparedTable[];
  definitions: Definition[];
};

function Tables({ branch, parent, compared, definitions }: TablesProps) {
  const here = compared.filter(({ right }) => right);
  const drafts = definitions.filter(({ deployed_version }) => deployed_version === null);
  const { data: divergence } = useQuery(divergenceQuery(branch.id));
  const elsewhere = compared.length - here.length;
  const parentName = parent.name;
  if (here.length === 0 && drafts.length === 0)
    return (
      <EmptyState title={<Trans>The branch has no tables yet</Trans>}>
        <Trans>Copy those that you want to change. Other branches see nothing of it until it is promoted.</Trans>
      </EmptyState>
    );
  return (
    <>
      <ul className={pageStyles.list}>
        {here.map((table) => (
          <li key={table.key}>
            <DeployedLine
              table={table}
              branch={branch}
              parent={parent}
              isWaiting={definitions.some(({ id, needs_deployment }) => id === table.right?.id && needs_deployment)}
              diverged={divergence?.tables.find(({ table_definition_id: id }) => id === table.right?.id)}
            />
          </li>
        ))}
        {drafts.map(({ id, name, key }) => (
          <li key={id}>
            <div className={pageStyles.line}>
              <Table2 size={18} aria-hidden />
              <span className={pageStyles.text}>
                <span className={pageStyles.name}>{name}</span>{' '}
                <span className={pageStyles.pill}>
                  <Trans>not deployed</Trans>
                </span>
                <span className={pageStyles.note}>{key}</span>
              </span>
            </div>
          </li>
        ))}
      </ul>
      {elsewhere > 0 && (
        <p className={pageStyles.quiet} style={{ marginTop: 8 }}>
          <Plural
            value={elsewhere}
            one={`# other table is on ${parentName} alone`}
            other={`# other tables are on ${parentName} alone`}
          />
        </p>
      )}
    </>
  );
}

type DeployedLineProps = {
  table: ComparedTable;
  branch: DifferencesProps['branch'];
  parent: DifferencesProps['parent'];
  /** Its definition has changed since it was deployed. */
  isWaiting: boolean;
  diverged: DivergedTable | undefined;
};

function DeployedLine({ table, branch, parent, isWaiting, diverged }: DeployedLineProps) {
  const wordOf = useStructureWord({ left: parent.name, right: branch.name });
  return (
    <Link
      to="/compare"
      search={({ branch: of }) => ({ branch: of, left: String(parent.id), right: String(branch.id), table: table.key })}
      className={pageStyles.line}
    >
      <Table2 size={18} aria-hidden />
      <span className={pageStyles.text}>
        <span className={pageStyles.name}>{table.name}</span>{' '}
        {isWaiting && (
          <span className={`${pageStyles.pill} ${pageStyles.warn}`}>
            <Trans>changes to deploy</Trans>
          </span>
        )}
        <span className={pageStyles.note}>{wordOf(table.diff)}</span>
      </span>
      <span className={pageStyles.end}>{table.left && diverged && <TableDivergence table={diverged} />}</span>
    </Link>
  );
}
