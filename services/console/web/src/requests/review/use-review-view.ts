import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback } from 'react';
import type { ReviewView } from './review-view.ts';

/** The view in the address, and how to change parts of it; `change` is the same at every render. */
export function useReviewView(): { view: ReviewView; change: (part: ReviewView, isReplaced?: boolean) => void } {
  const view = useSearch({ from: '/requests/$id' });
  const navigate = useNavigate({ from: '/requests/$id' });
  const change = useCallback(
    (part: ReviewView, isReplaced = false) =>
      void navigate({ to: '.', search: (search) => ({ ...search, ...part }), replace: isReplaced, resetScroll: false }),
    [navigate],
  );
  return { view, change };
}
