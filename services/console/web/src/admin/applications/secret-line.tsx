import { Trans, useLingui } from '@lingui/react/macro';
import type { QueryKey } from '@tanstack/react-query';
import { KeyRound, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { client, type Schemas } from '../../api/client.ts';
import { useAct } from '../../api/use-act.ts';
import { Button } from '../../parts/button.tsx';
import { ConfirmDialog } from '../../parts/form/confirm-dialog.tsx';
import pageStyles from '../../parts/page.module.css';
import { Time } from '../../parts/time.tsx';
import { judgeSecret } from './secret-age.ts';

export type Secret = Schemas['OauthApplicationSecret'];

type SecretLineProps = { applicationId: number; secret: Secret; isOnly: boolean; changes: QueryKey[] };

export function SecretLine({ applicationId, secret, isOnly, changes }: SecretLineProps) {
  const { t } = useLingui();
  const [isDeleting, setIsDeleting] = useState(false);
  const { id, hint, created_at, last_used_at } = secret;
  const name = hint ? `…${hint}` : `#${id}`;
  const path = { id: applicationId, secret_id: id };
  const remove = useAct(() => client.delete('/oauth_applications/{id}/secrets/{secret_id}', { params: { path } }), {
    changes,
    onDone: () => setIsDeleting(false),
  });
  return (
    <div className={pageStyles.line}>
      <KeyRound size={18} aria-hidden />
      <span className={pageStyles.text}>
        <code className={pageStyles.name}>{name}</code> <Warning secret={secret} />
        <span className={pageStyles.note}>
          <Trans>
            made <Time instant={created_at} />
          </Trans>{' '}
          ·{' '}
          {last_used_at ? (
            <Trans>
              used last <Time instant={last_used_at} />
            </Trans>
          ) : (
            <Trans>never used</Trans>
          )}
        </span>
      </span>
      {isOnly ? (
        <span className={pageStyles.end}>
          <Trans>the only one</Trans>
        </span>
      ) : (
        <Button kind="quiet" aria-label={t`Delete the secret ${name}`} onPress={() => setIsDeleting(true)}>
          <Trash2 size={16} aria-hidden />
        </Button>
      )}
      {isDeleting && (
        <ConfirmDialog
          label={t`Delete the secret ${name}?`}
          submit={<Trans>Delete the secret</Trans>}
          act={remove}
          onClose={() => setIsDeleting(false)}
        >
          <p>
            <Trans>It stops working at once, and programs that still have it fail.</Trans>
          </p>
          {last_used_at && (
            <p>
              <strong>
                <Trans>
                  It was used last <Time instant={last_used_at} />.
                </Trans>
              </strong>
            </p>
          )}
        </ConfirmDialog>
      )}
    </div>
  );
}

function Warning({ secret }: { secret: Secret }) {
  const judged = judgeSecret(secret, Date.now());
  if (!judged) return null;
  return (
    <span className={`${pageStyles.pill} ${pageStyles.warn}`}>
      {judged === 'old' ? <Trans>older than a year: replace it</Trans> : <Trans>not used for long</Trans>}
    </span>
  );
}
