// What one has chosen in the wizard so far. It stays while one goes back and forth.
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import type { Draft } from '../columns/draft.ts';
import type { WizardAddress } from '../import-address.ts';
import { dropHandedFile, handedFile } from './handed-file.ts';

const empty: Draft = {
  ...{ file: undefined, pattern: 'incremental', rejectsRows: true },
  ...{ hasHeader: true, source: undefined, mapping: undefined },
};

export function useDraft() {
  const address = useSearch({ from: '/import' });
  const navigate = useNavigate({ from: '/import' });
  const [draft, setDraft] = useState<Draft>(() => ({ ...empty, file: handedFile() }));
  useEffect(dropHandedFile, []);
  const go = (part: WizardAddress, how: 'kept' | 'replaced' = 'kept') =>
    void navigate({ search: (search) => ({ ...search, ...part }), replace: how === 'replaced' });
  // A dry run is of what was chosen then: another choice takes another one.
  const dropDryRun = () => go({ import: undefined, kind: undefined }, 'replaced');
  return {
    draft,
    address,
    go,
    change: (part: Partial<Draft>) => {
      setDraft((before) => ({ ...before, ...part }));
      if (address.import !== undefined) dropDryRun();
    },
    /** Another table or file has other columns. */
    chooseTable: (table: string | undefined) => {
      setDraft((before) => ({ ...before, source: undefined, mapping: undefined }));
      go({ table, import: undefined, kind: undefined }, 'replaced');
    },
    chooseFile: (file: File) => {
      setDraft((before) => ({ ...before, file, hasHeader: true, source: undefined, mapping: undefined }));
      if (address.import !== undefined) dropDryRun();
    },
    startOver: () => {
      setDraft((before) => ({ ...empty, pattern: before.pattern, rejectsRows: before.rejectsRows }));
      go({ step: undefined, import: undefined, kind: undefined });
    },
  };
}
