import { Trans } from '@lingui/react/macro';
import { useQuery } from '@tanstack/react-query';
import { changeKinds, operationOf } from '../../diff/change-kinds.ts';
import { useChangeWords } from '../../diff/change-words.ts';
import { changeSigns } from '../../parts/change-sign.tsx';
import { useNumbers } from '../../parts/files/use-numbers.ts';
import { type Compared, differenceCountsQuery } from './comparison-queries.ts';

type DifferenceCountsProps = { compared: Compared /** Whether they are asked for now. */; isEnabled?: boolean };

/** `+12 ~340 −2`: how many rows differ. */
export function DifferenceCounts({ compared, isEnabled = true }: DifferenceCountsProps) {
  const words = useChangeWords();
  const { count } = useNumbers();
  const { data, error } = useQuery({ ...differenceCountsQuery(compared), enabled: isEnabled });
  if (error) return <Trans>rows not compared</Trans>;
  if (!data) return isEnabled ? '…' : null;
  const found = changeKinds.filter((kind) => data[kind] > 0);
  if (found.length === 0) return <Trans>same rows</Trans>;
  return found.map((kind) => (
    <span key={kind} title={words[kind]}>
      {changeSigns[operationOf[kind]]}
      {count(data[kind])}{' '}
    </span>
  ));
}
