// The filters of the audit log. Each change is in the address at once.
import { Trans, useLingui } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { X } from 'lucide-react';
import { peopleQuery } from '../../api/queries.ts';
import { SelectField } from '../../parts/form/fields.tsx';
import styles from '../admin.module.css';
import { DayField } from '../parts/day-field.tsx';
import { applicationsQuery } from '../queries.ts';
import auditStyles from './audit.module.css';
import { type AuditView, isFiltered } from './audit-view.ts';
import { useAuditWords } from './use-audit-words.ts';

export function AuditFilters() {
  const { t } = useLingui();
  const view = useSearch({ from: '/admin/audit' });
  const navigate = useNavigate({ from: '/admin/audit' });
  const { subjects, nameOf } = useAuditWords();
  const { data: people = [] } = useQuery(peopleQuery);
  const { data: applications = [] } = useQuery(applicationsQuery);
  const show = (changes: AuditView) =>
    void navigate({ search: { ...view, page: undefined, event: undefined, ...changes }, replace: true });
  const any = { id: '', name: t`all` };
  const actions = Object.entries(subjects)
    .map(([subject, name]) => ({ id: subject === 'logout' ? subject : `${subject}.`, name }))
    .toSorted((one, other) => one.name.localeCompare(other.name));
  const results = { succeeded: t`succeeded`, failed: t`failed`, refused: t`refused` };
  const select = (
    name: string,
    label: string,
    chosen: string,
    options: { id: string; name: string }[],
    onChange: (id: string) => void,
  ) => {
    const isOffered = chosen === '' || options.some(({ id }) => id === chosen);
    const rest = isOffered ? [] : [{ id: chosen, name: name === 'action' ? nameOf(chosen) : chosen }];
    return (
      <SelectField
        key={`${name}:${chosen}:${options.length}`}
        name={name}
        label={label}
        options={[any, ...rest, ...options]}
        defaultValue={chosen}
        onChange={onChange}
      />
    );
  };
  const named = (things: { id: number; name: string }[]) =>
    things.map(({ id, name }) => ({ id: String(id), name: name || `#${id}` }));
  return (
    <search className={auditStyles.filters}>
      {select('user', t`Person`, String(view.user ?? ''), named(people), (id) =>
        show({ user: Number(id) || undefined }),
      )}
      {select('application', t`Application`, String(view.application ?? ''), named(applications), (id) =>
        show({ application: Number(id) || undefined }),
      )}
      {select('action', t`Act`, view.action ?? '', actions, (action) => show({ action: action || undefined }))}
      {select(
        'result',
        t`Result`,
        view.result ?? '',
        Object.entries(results).map(([id, name]) => ({ id, name })),
        (result) => show({ result: (result || undefined) as AuditView['result'] }),
      )}
      <DayField label={t`From`} day={view.from} onChange={(from) => show({ from })} />
      <DayField label={t`To`} day={view.to} onChange={(to) => show({ to })} />
      {isFiltered(view) && (
        <p className={auditStyles.also}>
          {view.resource && (
            <Without search={{ ...view, resource: undefined }}>
              <Trans>about {view.resource}</Trans>
            </Without>
          )}
          {view.request && (
            <Without search={{ ...view, request: undefined }}>
              <Trans>request {view.request}</Trans>
            </Without>
          )}
          <Link to="/admin/audit" search={{}}>
            <Trans>Clear the filters</Trans>
          </Link>
        </p>
      )}
    </search>
  );
}

/** A filter that has no field, and the way to be rid of it. */
function Without({ search, children }: { search: AuditView; children: React.ReactNode }) {
  const { t } = useLingui();
  return (
    <span className={styles.choices}>
      <Link to="/admin/audit" search={search}>
        {children}
        <X size={14} role="img" aria-label={t`take away`} />
      </Link>
    </span>
  );
}
