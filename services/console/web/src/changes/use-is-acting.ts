import { useIsMutating } from '@tanstack/react-query';

/**
 * Whether an act of the page is under way. A change that is carried out has another revision before
 * it says that it has ended: until then nothing is asked about its rows.
 */
export const useIsActing = (): boolean => useIsMutating() > 0;
