import { Trans } from '@lingui/react/macro';
import { Button } from '../parts/button.tsx';
import reviewStyles from '../parts/review/review.module.css';

/** Says that what is shown is not what the person opened. */
export function Outdated({ onLook }: { onLook: () => void }) {
  return (
    <div className={`${reviewStyles.notice} ${reviewStyles.outdated}`} role="alert">
      <p>
        <Trans>Something of it has changed since you opened it. This is how it is now.</Trans>
      </p>
      <Button onPress={onLook}>
        <Trans>I have looked at it</Trans>
      </Button>
    </div>
  );
}
