import { useQuery } from '@tanstack/react-query';
import { meQuery } from '../api/queries.ts';

/** Whether the person administers the account; undefined until that is known. */
export function useIsAdministrator(): boolean | undefined {
  return useQuery(meQuery).data?.rights.admin.everywhere;
}
