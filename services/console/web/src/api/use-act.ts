import { type QueryKey, useMutation, useQueryClient } from '@tanstack/react-query';

/**
 * An act on the server, with its state: `act.mutate(input)`, `act.error`, `act.isPending`. When it
 * has succeeded, the answers to queries whose keys begin with one of `changes` are read again.
 */
export function useAct<Input, Output>(
  call: (input: Input) => Promise<Output>,
  { changes, onDone }: { changes: QueryKey[]; onDone?: (output: Output, input: Input) => void },
) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: call,
    onSuccess: async (output, input) => {
      onDone?.(output, input);
      await Promise.all(changes.map((queryKey) => queries.invalidateQueries({ queryKey })));
    },
  });
}
