import { Trans } from '@lingui/react/macro';
import type { ReactNode } from 'react';
import { TextField } from './fields.tsx';

type CommentFieldProps = { isRequired: boolean; help?: ReactNode; autoFocus?: boolean };

/** What the person says at a step of an approval; its value is `comment`. */
export function CommentField(props: CommentFieldProps) {
  return <TextField {...props} name="comment" label={<Trans>Comment</Trans>} maxLength={10_000} isLong />;
}
