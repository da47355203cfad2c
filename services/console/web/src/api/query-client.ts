// The answers that the console keeps, and what becomes of them when the server is away.
import { type Query, QueryCache, QueryClient } from '@tanstack/react-query';
import { isSignedOut, signIn } from './client.ts';
import { explainError, isUnanswered } from './explain-error.ts';

/**
 * The one query client of the console. An answer that can't be read again, because the server is
 * away, stays: its page shows it on, and nothing that was begun on the page is lost. Without a
 * session the console leads to the log-in. Where something was shown already, the page says that
 * the session has ended, and what was being done stays on it.
 */
export function createQueryClient(): QueryClient {
  const client: QueryClient = new QueryClient({
    queryCache: new QueryCache({
      onError: (error, query) => {
        if (isAway(error) && query.state.data !== undefined) query.setState({ status: 'success', error: null });
        const hasShown = client
          .getQueryCache()
          .getAll()
          .some(({ state }) => state.data !== undefined);
        if (isSignedOut(error) && !hasShown) signIn();
      },
    }),
    defaultOptions: { queries: { retry: false, refetchOnWindowFocus: 'always' } },
  });
  return client;
}

/** Whether a page shows the answer of a query although its last reading had none. */
export function isOutOfDate(query: Query): boolean {
  const { status, dataUpdatedAt, errorUpdatedAt } = query.state;
  return status === 'success' && errorUpdatedAt > dataUpdatedAt && query.isActive();
}

// No answer now, rather than one that says what is so.
const isAway = (error: unknown): boolean => isUnanswered(error) || explainError(error).status === 429;
