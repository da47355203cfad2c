import { Trans, useLingui } from '@lingui/react/macro';
import { FileSpreadsheet, Upload } from 'lucide-react';
import { type ChangeEvent, type DragEvent, useEffect, useEffectEvent, useRef, useState } from 'react';
import { Button } from '../../parts/button.tsx';
import { useNumbers } from '../../parts/files/use-numbers.ts';
import styles from '../wizard.module.css';

type DropAreaProps = { file: File | undefined; onFile: (file: File) => void };

const accepted = '.csv,.tsv,.txt,.json,.ndjson,.jsonl,.xlsx,.parquet,.gz';

/** Takes a file that is dropped or chosen, and rows that are pasted. */
export function DropArea({ file, onFile }: DropAreaProps) {
  const { t } = useLingui();
  const input = useRef<HTMLInputElement>(null);
  const [isOver, setIsOver] = useState(false);
  usePastedFile(onFile, t`pasted-rows.tsv`);
  const take = (files: FileList | null) => {
    const [first] = files ?? [];
    if (first) onFile(first);
  };
  const over = (event: DragEvent) => {
    event.preventDefault();
    setIsOver(true);
  };
  return (
    <section
      className={styles.drop}
      data-over={isOver || undefined}
      aria-label={t`File`}
      onDragEnter={over}
      onDragOver={over}
      onDragLeave={() => setIsOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setIsOver(false);
        take(event.dataTransfer.files);
      }}
    >
      <input
        ref={input}
        type="file"
        accept={accepted}
        hidden
        onChange={({ target }: ChangeEvent<HTMLInputElement>) => {
          take(target.files);
          // The same file can be chosen again after it was corrected.
          target.value = '';
        }}
      />
      {file ? <ChosenFile file={file} /> : <Upload size={24} aria-hidden />}
      <p>
        <Trans>Drop a file here, or paste rows of a spreadsheet.</Trans>
      </p>
      <Button kind={file ? 'plain' : 'primary'} onPress={() => input.current?.click()}>
        {file ? <Trans>Choose another file</Trans> : <Trans>Choose a file</Trans>}
      </Button>
      <p className={styles.note}>
        <Trans>
          Excel (XLSX, its first visible sheet), CSV, TSV, JSON, lines of JSON, or Parquet, also gzipped; up to 5 GB.
          The first line has the names of the columns.
        </Trans>
      </p>
    </section>
  );
}

function ChosenFile({ file }: { file: File }) {
  const { size } = useNumbers();
  return (
    <p className={styles.chosen} role="status">
      <FileSpreadsheet size={20} aria-hidden />
      <span>
        <strong>{file.name}</strong> · {size(file.size)}
      </span>
    </p>
  );
}

// A file on the clipboard, or the cells of a spreadsheet as text.
function usePastedFile(onFile: (file: File) => void, nameOfRows: string): void {
  const onPaste = useEffectEvent((event: ClipboardEvent) => {
    if (event.target instanceof HTMLElement && event.target.matches('input, textarea')) return;
    const [file] = event.clipboardData?.files ?? [];
    const text = event.clipboardData?.getData('text/plain') ?? '';
    if (!file && text.trim() === '') return;
    event.preventDefault();
    onFile(file ?? new File([text], nameOfRows, { type: 'text/tab-separated-values' }));
  });
  useEffect(() => {
    const listen = (event: ClipboardEvent) => onPaste(event);
    document.addEventListener('paste', listen);
    return () => document.removeEventListener('paste', listen);
  }, []);
}
