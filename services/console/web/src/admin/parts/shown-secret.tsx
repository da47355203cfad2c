import { Trans } from '@lingui/react/macro';
import type { ReactNode } from 'react';
import { CopiedText } from '../../parts/blocks/copied-text.tsx';
import { Notice } from '../../parts/blocks/notice.tsx';
import { Button } from '../../parts/button.tsx';
import { ModalDialog } from '../../parts/modal-dialog.tsx';
import styles from '../admin.module.css';

type ShownSecretProps = {
  label: string;
  secret: string;
  /** Lines for the surroundings of the program. */
  snippet: string;
  children?: ReactNode;
  onClose: () => void;
};

/** A secret that the server shows once. Only buttons close the dialog, no press beside it. */
export function ShownSecret({ label, secret, snippet, children, onClose }: ShownSecretProps) {
  return (
    <ModalDialog label={label} onClose={onClose} isKept>
      <div className={styles.stack}>
        <Notice kind="warning">
          <Trans>This is the only time that it is shown. Copy it now, to a place that keeps secrets.</Trans>
        </Notice>
        {children}
        <CopiedText text={secret} name={<Trans>Copy the secret</Trans>} />
        <CopiedText text={snippet} name={<Trans>Copy the lines for .env</Trans>} />
        <Button kind="primary" onPress={onClose}>
          <Trans>I have copied it</Trans>
        </Button>
      </div>
    </ModalDialog>
  );
}
