import { Trans, useLingui } from '@lingui/react/macro';
import { ShownSecret } from '../parts/shown-secret.tsx';
import type { Application } from '../queries.ts';
import { environmentLines } from './environment-lines.ts';

type NewSecretProps = { application: Pick<Application, 'name' | 'client_id'>; secret: string; onClose: () => void };

/** The secret of an application, shown once. */
export function NewSecret({ application: { name, client_id }, secret, onClose }: NewSecretProps) {
  const { t } = useLingui();
  const lines = environmentLines({ baseUrl: window.location.origin, clientId: client_id, clientSecret: secret });
  return (
    <ShownSecret label={t`The secret of ${name}`} secret={secret} snippet={lines} onClose={onClose}>
      <p>
        <Trans>The program gets its tokens with it. Anyone who has it can do all that the application may.</Trans>
      </p>
    </ShownSecret>
  );
}
