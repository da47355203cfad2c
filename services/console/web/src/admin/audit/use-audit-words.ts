// The acts of the audit log in words. Acts of later releases are shown by their names.
import { useLingui } from '@lingui/react/macro';

type AuditWords = {
  /** What acts are done to, by how their names begin. */
  subjects: Record<string, string>;
  /** `User · updated`. */
  nameOf: (action: string) => string;
};

export function useAuditWords(): AuditWords {
  const { t } = useLingui();
  const subjects: Record<string, string> = {
    login: t`Log-in`,
    logout: t`Log-out`,
    session: t`Session`,
    session_confirmation: t`Confirmation by password`,
    password: t`Password`,
    password_change: t`Change of password`,
    password_reset: t`Link for a password`,
    token: t`Token`,
    consent: t`Consent to an application`,
    access: t`Access`,
    account: t`Account`,
    user: t`User`,
    user_group: t`Group`,
    user_group_assignment: t`Membership`,
    oauth_application: t`Application`,
    domain: t`Domain`,
    branch: t`Branch`,
    table_definition: t`Table`,
    change_request: t`Change request`,
    deployment: t`Deployment`,
    promotion: t`Promotion`,
    import: t`Import of rows`,
    export: t`Export of rows`,
  };
  const acts: Record<string, string> = {
    abandoned: t`abandoned`,
    applied: t`applied`,
    approved: t`approved`,
    approval_given: t`approved by one`,
    begun: t`begun`,
    cancelled: t`cancelled`,
    changed: t`changed`,
    changes_requested: t`changes requested`,
    code_replayed: t`a code was used twice`,
    confirmed: t`confirmed with the password`,
    created: t`created`,
    deleted: t`deleted`,
    deployed: t`deployed`,
    ended: t`ended`,
    failed: t`failed`,
    granted: t`granted`,
    invited: t`invited again`,
    promoted: t`promoted`,
    refresh_reused: t`a refresh token was used twice`,
    refresh_token_issued: t`refresh token issued`,
    refresh_token_revoked: t`refresh token revoked`,
    refused: t`refused`,
    rejected: t`rejected`,
    removed: t`removed`,
    requested: t`requested`,
    restored: t`restored`,
    revoked: t`revoked`,
    secret_added: t`secret added`,
    secret_deleted: t`secret deleted`,
    secret_regenerated: t`secrets replaced`,
    submitted: t`submitted`,
    succeeded: t`succeeded`,
    throttled: t`slowed down after many attempts`,
    updated: t`changed`,
    withdrawn: t`withdrawn`,
  };
  return {
    subjects,
    nameOf: (action) => {
      const [subject = '', act = ''] = action.split('.');
      return [subjects[subject] ?? subject, acts[act] ?? act].filter((word) => word !== '').join(' · ');
    },
  };
}
