import { useLingui } from '@lingui/react/macro';
import { Copy } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { Button } from '../button.tsx';
import pageStyles from '../page.module.css';
import styles from './copied-text.module.css';

/** A text for a program, and a button that copies it. */
export function CopiedText({ text, name }: { text: string; name: ReactNode }) {
  const { t } = useLingui();
  const [isCopied, setIsCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setIsCopied(true);
  };
  return (
    <div className={styles.copied}>
      <pre className={styles.text}>{text}</pre>
      <div className={pageStyles.tools}>
        <Button onPress={() => void copy()}>
          <Copy size={15} aria-hidden /> {name}
        </Button>
        <span role="status">{isCopied && t`Copied`}</span>
      </div>
    </div>
  );
}
