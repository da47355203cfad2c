// What the pages of promotions and deployments read. Keys begin with the resource, so that a step
// can have all answers about it read again.
import { queryOptions } from '@tanstack/react-query';
import { client, type Schemas } from '../api/client.ts';

export type Promotion = Schemas['PromotionDetails'];
export type Deployment = Schemas['DeploymentDetails'];
export type Change = Promotion | Deployment;
export type ListedPromotion = Schemas['Promotion'];
export type ListedDeployment = Schemas['Deployment'];
export type ChangeStatus = Change['status'];

const halfMinute = 30_000;
const soon = 2_000;
const listed = 20;

const ended: readonly ChangeStatus[] = ['promoted', 'deployed', 'rejected', 'cancelled', 'abandoned'];
const underWay: readonly ChangeStatus[] = ['promoting', 'deploying'];

/** Whether nothing happens to a change any more. */
export const isEnded = (status: ChangeStatus): boolean => ended.includes(status);

/** Whether it is being applied at this moment. */
export const isUnderWay = (status: ChangeStatus): boolean => underWay.includes(status);

// Read again while people may take a step, and soon while the service does.
function everyMs(change: { status: ChangeStatus } | undefined): number | false {
  if (!change || isEnded(change.status)) return false;
  return isUnderWay(change.status) ? soon : halfMinute;
}

export const promotionQuery = (id: number) =>
  queryOptions({
    queryKey: ['promotions', 'one', id],
    queryFn: ({ signal }) =>
      client.get('/promotions/{id}', { params: { path: { id }, query: { include: 'can' } }, signal }),
    refetchInterval: ({ state }) => everyMs(state.data),
  });

export const deploymentQuery = (id: number) =>
  queryOptions({
    queryKey: ['deployments', 'one', id],
    queryFn: ({ signal }) =>
      client.get('/deployments/{id}', { params: { path: { id }, query: { include: 'can' } }, signal }),
    refetchInterval: ({ state }) => everyMs(state.data),
  });

/** The latest promotions from a branch and to it, the newest first. */
export const promotionsQuery = (branchId: number) =>
  queryOptions({
    queryKey: ['promotions', 'list', branchId],
    queryFn: async ({ signal }) => {
      const page = { sort: '-id', per_page: listed };
      const [from, to] = await Promise.all([
        client.get('/promotions', { params: { query: { ...page, from_branch_id: branchId } }, signal }),
        client.get('/promotions', { params: { query: { ...page, to_branch_id: branchId } }, signal }),
      ]);
      return [...from.data, ...to.data].toSorted((a, b) => b.id - a.id).slice(0, listed);
    },
  });

/** The latest deployments of a branch, the newest first. */
export const deploymentsQuery = (branchId: number) =>
  queryOptions({
    queryKey: ['deployments', 'list', branchId],
    queryFn: async ({ signal }) => {
      const query = { branch_id: branchId, sort: '-id', per_page: listed };
      return (await client.get('/deployments', { params: { query }, signal })).data;
    },
  });
