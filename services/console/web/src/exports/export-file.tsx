// The file of an export: to download, or its link to hand on. The link works for an hour.
import { Trans, useLingui } from '@lingui/react/macro';
import { Check, Copy, Download } from 'lucide-react';
import { useState } from 'react';
import { useAct } from '../api/use-act.ts';
import { Button } from '../parts/button.tsx';
import { startDownload } from '../parts/files/start-download.ts';
import { Refusal } from '../parts/form/form.tsx';
import styles from './exports.module.css';
import { freshLink } from './fresh-link.ts';
import { linkMinutes } from './link-minutes.ts';
import type { Export } from './queries.ts';
import { useNow } from './use-now.ts';

type ExportFileProps = {
  given: Export;
  /** When the link was made, in milliseconds. */
  readAt: number;
};

export function ExportFile({ given: { id, download_url, file_expires_at }, readAt }: ExportFileProps) {
  const { t } = useLingui();
  const now = useNow();
  const [isCopied, setIsCopied] = useState(false);
  const minutes = linkMinutes(readAt, now);
  const link = async () => (minutes > 0 && download_url !== null ? download_url : freshLink(id));
  const download = useAct(async () => startDownload(await link()), { changes: [] });
  const copy = useAct(async () => navigator.clipboard.writeText(await link()), {
    changes: [],
    onDone: () => setIsCopied(true),
  });
  if (file_expires_at !== null && Date.parse(file_expires_at) <= now)
    return (
      <span className={styles.note}>
        <Trans>The file is no longer kept.</Trans>
      </span>
    );
  if (download_url === null)
    return (
      <span className={styles.note}>
        <Trans>Only the person who made it has the file.</Trans>
      </span>
    );
  return (
    <>
      <Refusal error={download.error ?? copy.error} />
      <div className={styles.actions}>
        <Button isDisabled={download.isPending} onPress={() => download.mutate(undefined)}>
          <Download size={16} aria-hidden />
          <Trans>Download</Trans>
        </Button>
        <Button
          kind="quiet"
          aria-label={isCopied ? t`The link is copied` : t`Copy the link`}
          isDisabled={copy.isPending}
          onPress={() => copy.mutate(undefined)}
        >
          {isCopied ? <Check size={16} aria-hidden /> : <Copy size={16} aria-hidden />}
        </Button>
      </div>
      <span className={styles.note}>
        {minutes > 0 ? <Trans>link works for {minutes} min</Trans> : <Trans>makes a new link</Trans>}
      </span>
    </>
  );
}
