import { CircleAlert, CircleCheck } from 'lucide-react';
import type { ReactNode } from 'react';
import pageStyles from '../page.module.css';

/** A verdict with its sign and colour. */
export function Verdict({ isGood, children }: { isGood: boolean; children: ReactNode }) {
  const Icon = isGood ? CircleCheck : CircleAlert;
  return (
    <strong className={isGood ? pageStyles.ok : pageStyles.bad}>
      <Icon size={16} aria-hidden /> {children}
    </strong>
  );
}
