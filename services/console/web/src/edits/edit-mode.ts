// How changes of rows reach the table: each at once, together when one says so, or as a proposal.
import { useState } from 'react';
import type { Schemas } from '../api/client.ts';

export type EditMode = 'direct' | 'draft' | 'propose';

const storageKey = 'almanac.edit-mode';

/** The modes that a policy allows, the usual one first. */
export function modesOf({ row_changes }: Schemas['RowPolicy'], isProtected: boolean): EditMode[] {
  if (row_changes === 'request') return ['propose'];
  return isProtected ? ['draft', 'direct', 'propose'] : ['direct', 'draft', 'propose'];
}

/** The mode that the person has chosen, where it is allowed; else the usual one. */
export function useEditMode(modes: readonly EditMode[]): [EditMode, (mode: EditMode) => void] {
  const [chosen, setChosen] = useState(() => localStorage.getItem(storageKey) as EditMode | null);
  const choose = (mode: EditMode) => {
    localStorage.setItem(storageKey, mode);
    setChosen(mode);
  };
  // Until the policy is known nothing is sent.
  return [chosen && modes.includes(chosen) ? chosen : (modes[0] ?? 'draft'), choose];
}
