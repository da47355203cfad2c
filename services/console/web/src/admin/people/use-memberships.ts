import { useQueryClient } from '@tanstack/react-query';
import { client } from '../../api/client.ts';
import { all } from '../../api/queries.ts';

type Membership = { userId: number; groupId: number };

/**
 * Puts users into groups and takes them out, one call after another. Also when one is refused, what
 * was done before it is read again: the same act then does the rest.
 */
export function useMemberships(): (joins: Membership[], leaves: Membership[]) => Promise<void> {
  const queries = useQueryClient();
  return async (joins, leaves) => {
    try {
      for (const { userId, groupId } of joins)
        await client.post('/user_group_assignments', { body: { user_id: userId, user_group_id: groupId } });
      for (const leave of leaves) {
        const id = await findMembership(leave);
        if (id !== undefined) await client.delete('/user_group_assignments/{id}', { params: { path: { id } } });
      }
    } finally {
      await Promise.all(
        [['user_groups'], ['users'], ['explanations'], ['me']].map((queryKey) =>
          queries.invalidateQueries({ queryKey }),
        ),
      );
    }
  };
}

async function findMembership({ userId, groupId }: Membership): Promise<number | undefined> {
  const query = { user_group_id: groupId, q: [`user_id:eq:${userId}`] };
  const [found] = await all(client.list('/user_group_assignments', { params: { query } }));
  return found?.id;
}
