import { Trans, useLingui } from '@lingui/react/macro';
import { Copy } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { Notice } from '../../parts/blocks/notice.tsx';
import { Button } from '../../parts/button.tsx';
import { ModalDialog } from '../../parts/modal-dialog.tsx';
import pageStyles from '../../parts/page.module.css';
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
        <Copied text={secret} name={<Trans>Copy the secret</Trans>} />
        <Copied text={snippet} name={<Trans>Copy the lines for .env</Trans>} />
        <Button kind="primary" onPress={onClose}>
          <Trans>I have copied it</Trans>
        </Button>
      </div>
    </ModalDialog>
  );
}

function Copied({ text, name }: { text: string; name: ReactNode }) {
  const { t } = useLingui();
  const [isCopied, setIsCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setIsCopied(true);
  };
  return (
    <div className={styles.stack} style={{ gap: 8 }}>
      <pre className={styles.secret}>{text}</pre>
      <div className={pageStyles.tools}>
        <Button onPress={() => void copy()}>
          <Copy size={15} aria-hidden /> {name}
        </Button>
        <span role="status">{isCopied && t`Copied`}</span>
      </div>
    </div>
  );
}
