// What the address of the exports says: in which state they are listed.

export const exportStates = ['running', 'completed', 'failed', 'cancelled'] as const;
export type ExportState = (typeof exportStates)[number];
export type ExportsAddress = { state?: ExportState | undefined };

export function readExportsAddress({ state }: Record<string, unknown>): ExportsAddress {
  return { state: exportStates.find((one) => one === state) };
}
