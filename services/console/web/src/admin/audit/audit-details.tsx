import { Trans, useLingui } from '@lingui/react/macro';
import { Link, useSearch } from '@tanstack/react-router';
import diffStyles from '../../diff/diff.module.css';
import { localeOf } from '../../language/locale.ts';
import { Fact, Facts } from '../../parts/blocks/facts.tsx';
import { ScrolledTable } from '../../parts/blocks/scrolled-table.tsx';
import styles from '../admin.module.css';
import { Actor } from './actor.tsx';
import { attributeChanges } from './attribute-changes.ts';
import auditStyles from './audit.module.css';
import type { AuditEvent, AuditView } from './audit-view.ts';

/** All that an entry has kept, and filters for what has the same. */
export function AuditDetails({ event }: { event: AuditEvent }) {
  const { i18n } = useLingui();
  const { action, actor, resource_type, resource_id, address, request_id, user_id, application_id } = event;
  const instant = new Date(event.occurred_at);
  const time = new Intl.DateTimeFormat(localeOf(i18n.locale), { dateStyle: 'full', timeStyle: 'long' }).format(instant);
  const resource = resource_id === null ? resource_type : `${resource_type}:${resource_id}`;
  return (
    <div className={auditStyles.details}>
      <Changes event={event} />
      <Facts>
        <Fact name={<Trans>Act</Trans>}>
          <code>{action}</code> <Only search={{ action }} />
        </Fact>
        <Fact name={<Trans>Who</Trans>}>
          <Actor event={event} /> {actor.type === 'user' && user_id !== null && <Only search={{ user: user_id }} />}
        </Fact>
        {application_id !== null && (
          <Fact name={<Trans>Through the application</Trans>}>
            {application_id} <Only search={{ application: application_id }} />
          </Fact>
        )}
        {resource && (
          <Fact name={<Trans>On</Trans>}>
            <code>{resource}</code> <Only search={{ resource }} />
          </Fact>
        )}
        <Fact name={<Trans>When</Trans>}>
          {time} <span className={styles.help}>{instant.toISOString()}</span>
        </Fact>
        {address && (
          <Fact name={<Trans>From the address</Trans>}>
            <code>{address}</code>
          </Fact>
        )}
        {request_id && (
          <Fact name={<Trans>Request</Trans>}>
            <code>{request_id}</code> <Only search={{ request: request_id }} />
          </Fact>
        )}
        <Fact name={<Trans>Number</Trans>}>{event.id}</Fact>
      </Facts>
    </div>
  );
}

function Only({ search }: { search: AuditView }) {
  const view = useSearch({ from: '/admin/audit' });
  return (
    <Link to="/admin/audit" search={{ ...view, page: undefined, ...search }}>
      <Trans>only these</Trans>
    </Link>
  );
}

/** What the act changed: old and new values beside each other. */
function Changes({ event: { before, after } }: { event: AuditEvent }) {
  const { t } = useLingui();
  const changes = attributeChanges(before, after);
  if (changes.length === 0) return null;
  return (
    <ScrolledTable label={t`What changed`}>
      <thead>
        <tr>
          <th scope="col">
            <Trans>Attribute</Trans>
          </th>
          <th scope="col">
            <Trans>Before</Trans>
          </th>
          <th scope="col">
            <Trans>After</Trans>
          </th>
        </tr>
      </thead>
      <tbody>
        {changes.map(({ name, before, after }) => (
          <tr key={name}>
            <th scope="row" className={styles.code}>
              {name}
            </th>
            <td>{before !== undefined && <del className={diffStyles.before}>{before}</del>}</td>
            <td>{after !== undefined && <ins className={diffStyles.after}>{after}</ins>}</td>
          </tr>
        ))}
      </tbody>
    </ScrolledTable>
  );
}
